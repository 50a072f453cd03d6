// Tasks of 2025-11-25: what they are, and what clients get of them.
/* oxlint-disable jest/no-standalone-expect -- inSessions registers a test */
import { describe, expect, it } from '@jest/globals';
import { type Context, type JsonObject, McpError, ToolError } from '@decorum/core';
import { memoryTasks } from '@decorum/tasks';

import { HttpClient } from '../support/http-client.js';
import { endpointOf, overHttp } from '../support/http-transports.js';
import { overStdio, RawClient } from '../support/raw-client.js';
import { itShows } from '../support/requirements.js';
import { deferred, serverWith } from './servers.js';
import {
  getTask,
  IN_SESSIONS,
  inSession,
  inSessions,
  NO_TASK,
  RANDOM_ID,
  RELATED,
  said,
  startTask,
  statusOf,
  TASKS,
  type TaskFields,
  taskServer,
} from './task-clients.js';

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const ADA = { subject: 'ada' };
const BOB = { subject: 'bob' };

const PROBLEMS = {
  add: () => '3',
  fail: () => {
    throw new ToolError('Not today.');
  },
  break: () => {
    throw new McpError('invalid-params', 'No.', { why: 'so' });
  },
};

describe('tasks in sessions', () => {
  inSessions(
    ['TASKL-01', 'TASKL-25', 'TASKX-23'],
    'tasks are declared, with their list only for known callers',
    async (transport) => {
      const server = taskServer(PROBLEMS);
      for (const principal of [undefined, ADA]) {
        const capabilities = { extensions: { [TASKS]: {} } };
        const options = {
          revision: IN_SESSIONS,
          capabilities,
          begins: false,
          ...(principal && { principal }),
        } as const;
        const client = await RawClient.connect(server, options, transport);
        const hello = await client.begin();
        expect(hello['capabilities']).toEqual({
          tools: expect.anything(),
          logging: {},
          tasks: { ...(principal && { list: {} }), cancel: {}, requests: { tools: { call: {} } } },
        });
        // the extension is one of a later revision
        expect(await client.call('add')).toEqual(said('3'));
        const task = await startTask(client, 'add');
        expect(task.taskId).toMatch(RANDOM_ID);
        if (principal === undefined) expect(await client.error('tasks/list')).toMatchObject({ code: -32601 });
        else expect(await client.result('tasks/list')).toMatchObject({ tasks: [{ taskId: task.taskId }] });
        expect(await client.error('tasks/update', { taskId: task.taskId })).toMatchObject({ code: -32601 });
      }
    },
  );

  inSessions(['TASKL-02'], 'a server without tasks ignores the parameter `task`', async (transport) => {
    const client = await inSession(serverWith(PROBLEMS), transport);
    expect(await client.result('tools/call', { name: 'add', task: { ttl: 1000 } })).toEqual(said('3'));
    expect(await client.error('tasks/get', { taskId: 'x' })).toMatchObject({ code: -32601 });
  });

  it.each(['2024-11-05', '2025-03-26', '2025-06-18'] as const)(
    '%s has no tasks, nor tools that run only as tasks',
    async (revision) => {
      const server = taskServer({ ...PROBLEMS, must: () => '' });
      for (const transport of [overStdio, overHttp]) {
        const client = await RawClient.connect(server, { revision, begins: false }, transport);
        expect((await client.begin())['capabilities']).not.toHaveProperty('tasks');
        const { tools } = (await client.result('tools/list')) as { tools: { name: string }[] };
        expect(tools.map(({ name }) => name)).toEqual(['add', 'fail', 'break']);
        expect(await client.result('tools/call', { name: 'add', task: 5 })).toEqual(said('3'));
        const hidden = await client.request('tools/call', { name: 'must', task: {} });
        const unknown = await client.request('tools/call', { name: 'none', task: {} });
        expect(JSON.stringify({ ...hidden, id: 0 })).toBe(
          JSON.stringify({ ...unknown, id: 0 }).replace('none', 'must'),
        );
        expect(await client.error('tasks/get', { taskId: 'x' })).toMatchObject({ code: -32601 });
        if (revision !== '2025-03-26') continue;
        const batch = [client.buildMessage('b', 'tools/call', { name: 'add', task: {} })];
        await client.send(JSON.stringify(batch));
        expect((await client.response('b')).result).toEqual(said('3'));
      }
    },
  );

  inSessions(
    ['TASKL-03', 'TASKL-04', 'TASKL-05'],
    'tools say whether they run as tasks, and keep to it',
    async (transport) => {
      const client = await inSession(taskServer({ plain: () => '1', may: () => '2', must: () => '3' }), transport);
      const { tools } = (await client.result('tools/list')) as { tools: JsonObject[] };
      expect(tools.map(({ name, execution }) => [name, execution])).toEqual([
        ['plain', undefined],
        ['may', { taskSupport: 'optional' }],
        ['must', { taskSupport: 'required' }],
      ]);
      expect(await client.error('tools/call', { name: 'plain', task: {} })).toMatchObject({ code: -32601 });
      expect(await client.error('tools/call', { name: 'must' })).toMatchObject({ code: -32601 });
      expect(await client.call('plain')).toEqual(said('1'));
      expect(await client.call('may')).toEqual(said('2'));
      for (const task of [5, null, [], 'x', { ttl: -1 }, { ttl: 'x' }, { ttl: 0.5 }, { ttl: {} }])
        expect([task, await client.error('tools/call', { name: 'may', task })]).toMatchObject([task, { code: -32602 }]);
    },
  );

  inSessions(
    ['TASKL-06', 'TASKL-08', 'TASKL-09', 'TASKL-10', 'TASKL-11', 'TASKL-14', 'TASKL-17'],
    'a task begins at once, is kept as long as was asked for, and ends once',
    async (transport) => {
      const go = deferred();
      const work = async () => {
        await go.promise;
        return 'done';
      };
      const client = await inSession(taskServer({ work }, { maxTtlMs: 100_000, ttlMs: 7000 }), transport);
      const cases: readonly [JsonObject, number][] = [
        [{}, 7000],
        [{ ttl: 60_000 }, 60_000],
        [{ ttl: 1e300 }, 100_000],
        [{ ttl: null }, 100_000],
        [{ ttl: 200_000, more: 1 }, 100_000],
      ];
      const ids: string[] = [];
      for (const [task, ttl] of cases) {
        const { task: created, _meta } = (await client.result('tools/call', { name: 'work', task })) as {
          task: { taskId: string };
          _meta: JsonObject;
        };
        const times = { createdAt: expect.stringMatching(ISO), lastUpdatedAt: expect.stringMatching(ISO) };
        expect(created).toEqual({ taskId: expect.any(String), status: 'working', ...times, ttl, pollInterval: 1000 });
        expect(_meta).toEqual({ [RELATED]: { taskId: created.taskId } });
        const related = { [RELATED]: { taskId: ids[0] ?? 'other' } };
        expect(await client.result('tasks/get', { taskId: created.taskId, _meta: related })).toEqual(created);
        ids.push(created.taskId);
      }
      go.resolve();
      for (const taskId of ids) {
        expect(await client.result('tasks/result', { taskId })).toMatchObject(said('done'));
        expect(await client.error('tasks/cancel', { taskId })).toMatchObject({ code: -32602 });
        const { status, createdAt, lastUpdatedAt } = await getTask(client, taskId);
        expect([status, createdAt <= lastUpdatedAt]).toEqual(['completed', true]);
      }
    },
  );

  inSessions(['TASKL-11', 'TASKL-26'], 'an expired task is gone, and its handler is aborted', async (transport) => {
    const aborted = deferred();
    const work = async ({ signal }: Context) => {
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      aborted.resolve();
    };
    const client = await inSession(taskServer({ work, add: () => '3' }), transport);
    const { taskId } = await startTask(client, 'work', { task: { ttl: 30 } });
    await aborted.promise;
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel'])
      expect(await client.error(method, { taskId })).toMatchObject(NO_TASK);
  });

  itShows([['TASKL-07', IN_SESSIONS]], 'a thousand tasks have a thousand ids', async () => {
    const client = await inSession(taskServer(PROBLEMS), overStdio);
    const ids: string[] = [];
    while (ids.length < 1000) {
      const started = await Promise.all(Array.from({ length: 100 }, () => startTask(client, 'add')));
      ids.push(...started.map(({ taskId }) => taskId));
    }
    for (const id of ids) expect(id).toMatch(RANDOM_ID);
    expect(new Set(ids).size).toBe(1000);
  });

  inSessions(
    ['TASKL-15', 'TASKL-23', 'TASKL-14'],
    'the result is what the call would have returned, also if it fails',
    async (transport) => {
      const client = await inSession(taskServer(PROBLEMS), transport);
      for (const [name, status, statusMessage] of [
        ['add', 'completed', undefined],
        ['fail', 'failed', 'Not today.'],
        ['break', 'failed', 'No.'],
      ] as const) {
        const plain = await client.request('tools/call', { name });
        const { taskId } = await startTask(client, name);
        for (const method of ['tasks/result', 'tasks/result']) {
          const { result, error } = await client.request(method, { taskId });
          expect(error).toEqual(plain.error);
          expect(result).toEqual(plain.result && { ...plain.result, _meta: { [RELATED]: { taskId } } });
        }
        const task = await getTask(client, taskId);
        expect([task.status, task.statusMessage]).toEqual([status, statusMessage]);
      }
    },
  );

  inSessions(
    ['TASKL-21', 'TASKL-08', 'CANC-09'],
    'only `tasks/cancel` cancels a task, and it stays cancelled',
    async (transport) => {
      const [begun, go] = [deferred<Context>(), deferred()];
      const work = async (context: Context) => {
        begun.resolve(context);
        await go.promise;
        return 'done';
      };
      const client = await inSession(taskServer({ work }), transport);
      const { result } = await client.request('tools/call', { name: 'work', task: {} }, 'the call');
      const { taskId } = (result as { task: TaskFields }).task;
      const { signal } = await begun.promise;
      await client.notify('notifications/cancelled', { requestId: 'the call', reason: 'Enough.' });
      expect([await getTask(client, taskId), signal.aborted]).toMatchObject([{ status: 'working' }, false]);
      const waiting = client.request('tasks/result', { taskId });
      expect(await client.result('tasks/cancel', { taskId })).toMatchObject({ taskId, status: 'cancelled' });
      expect(signal.aborted).toBe(true);
      go.resolve();
      expect((await waiting).error).toMatchObject({ message: expect.stringContaining('cancelled') });
      expect(await getTask(client, taskId)).toMatchObject({ status: 'cancelled' });
      expect(await client.error('tasks/cancel', { taskId })).toMatchObject({ code: -32602 });
    },
  );

  inSessions(['TASKL-22'], 'wrong ids and cursors are invalid params', async (transport) => {
    const server = taskServer(PROBLEMS);
    const client = await inSession(server, transport, { principal: ADA });
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel'])
      for (const params of [
        undefined,
        {},
        { taskId: 'none' },
        { taskId: '__proto__' },
        { taskId: {} },
        { taskId: [1] },
      ])
        expect([method, params, await client.error(method, params)]).toMatchObject([method, params, NO_TASK]);
    for (const cursor of ['x', '', 5, {}, Buffer.from('1 x y').toString('base64url')])
      expect([cursor, await client.error('tasks/list', { cursor })]).toMatchObject([cursor, { code: -32602 }]);
    const get = () => {
      throw new Error('a secret of the store');
    };
    const store = Object.assign(memoryTasks(), { get });
    const broken = await inSession(taskServer(PROBLEMS, { store }), transport);
    const error = await broken.error('tasks/get', { taskId: 'x' });
    expect(error).toMatchObject({ code: -32603 });
    expect(JSON.stringify(error)).not.toContain('secret');
  });

  inSessions(
    ['TASKL-19', 'TASKL-20', 'TASKL-24'],
    'a caller lists all own tasks by pages, and has none of others',
    async (transport) => {
      const server = taskServer(PROBLEMS);
      const [ada, again, bob, nobody] = [
        await inSession(server, transport, { principal: ADA }),
        await inSession(server, transport, { principal: ADA }),
        await inSession(server, transport, { principal: BOB }),
        await inSession(server, transport),
      ];
      const ids = new Set<string>();
      for (let count = 0; count < 150; count += 1) ids.add((await startTask(ada, 'add')).taskId);
      const { taskId: own } = await startTask(bob, 'add');
      const listed: string[] = [];
      let cursor: unknown;
      do {
        const page = (await again.result('tasks/list', cursor === undefined ? {} : { cursor })) as {
          tasks: { taskId: string }[];
          nextCursor?: string;
        };
        expect(page.tasks.length).toBeLessThanOrEqual(100);
        listed.push(...page.tasks.map(({ taskId }) => taskId));
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      // tasks of the same millisecond come in any order
      expect([...listed].sort()).toEqual([...ids].sort());
      expect(await bob.result('tasks/list')).toMatchObject({ tasks: [{ taskId: own }] });
      const [taskId = ''] = ids;
      expect(await again.result('tasks/result', { taskId })).toMatchObject(said('3'));
      for (const stranger of [bob, nobody])
        for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel'])
          expect(await stranger.error(method, { taskId })).toMatchObject(NO_TASK);
    },
  );

  itShows([['TASKL-24', IN_SESSIONS]], 'a session that signs in leaves its anonymous tasks behind', async () => {
    const { url } = await endpointOf(taskServer(PROBLEMS));
    const client = await HttpClient.open(url, IN_SESSIONS);
    const answer = async (method: string, params: JsonObject, headers = {}) =>
      (await (await client.post(client.buildMessage(1, method, params), headers)).json()) as {
        result?: { task: { taskId: string } };
        error?: object;
      };
    const { result } = await answer('tools/call', { name: 'add', task: {} });
    const { taskId } = (result as { task: TaskFields }).task;
    expect(await answer('tasks/get', { taskId })).toMatchObject({ result: { taskId } });
    const signedIn = { 'x-user': 'ada' };
    expect(await answer('tasks/get', { taskId }, signedIn)).toMatchObject({ error: NO_TASK });
    expect(await answer('tasks/list', {}, signedIn)).toMatchObject({ result: { tasks: [] } });
  });

  inSessions(
    ['TASKL-26'],
    'there are caps on all tasks, on those of a caller, and on those in parallel',
    async (transport) => {
      const waits = async ({ signal }: Context) => {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      };
      const full = { message: expect.stringContaining('too many') };
      const all = await inSession(taskServer(PROBLEMS, { maxTasks: 2 }), transport);
      for (let count = 0; count < 2; count += 1) await statusOf(all, (await startTask(all, 'add')).taskId, 'completed');
      expect(await all.error('tools/call', { name: 'add', task: {} })).toMatchObject(full);
      // it runs still, as a plain call
      expect(await all.call('add')).toEqual(said('3'));
      const perCaller = taskServer(PROBLEMS, { maxTasksPerPrincipal: 1 });
      const [ada, bob] = [
        await inSession(perCaller, transport, { principal: ADA }),
        await inSession(perCaller, transport, { principal: BOB }),
      ];
      await startTask(ada, 'add');
      expect(await ada.error('tools/call', { name: 'add', task: {} })).toMatchObject(full);
      await startTask(bob, 'add');
      const parallel = await inSession(taskServer({ waits }, { maxRunning: 1 }), transport);
      const { taskId } = await startTask(parallel, 'waits');
      expect(await parallel.error('tools/call', { name: 'waits', task: {} })).toMatchObject(full);
      await parallel.result('tasks/cancel', { taskId });
      // a handler counts until it has ended
      await parallel.settled();
      await startTask(parallel, 'waits');
    },
  );

  itShows([['TASKL-27', IN_SESSIONS]], '`tasks/get` is answered without a stream', async () => {
    const { url } = await endpointOf(taskServer({ waits: () => new Promise(() => {}) }));
    const client = await HttpClient.open(url, IN_SESSIONS);
    const created = await client.post(client.buildMessage(1, 'tools/call', { name: 'waits', task: {} }));
    const { result } = (await created.json()) as { result: { task: { taskId: string } } };
    const { taskId } = result.task;
    const response = await client.post(client.buildMessage(2, 'tasks/get', { taskId }));
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(await response.json()).toMatchObject({ result: { taskId, status: 'working' } });
  });

  inSessions(
    ['TASKL-18', 'PROG-09'],
    'the session that started a task is told of its changes and its progress, and no other',
    async (transport) => {
      const go = deferred();
      const work = async (context: Context) => {
        context.progress(1, 3, 'One');
        await go.promise;
        return 'done';
      };
      const server = taskServer({ work });
      const [client, other] = [await inSession(server, transport), await inSession(server, overHttp)];
      const { taskId } = await startTask(client, 'work', { _meta: { progressToken: 'tick' } });
      const { params } = await client.find(({ method }) => method === 'notifications/progress');
      const told = { progressToken: 'tick', progress: 1, total: 3, message: 'One' };
      expect(params).toEqual({ ...told, _meta: { [RELATED]: { taskId } } });
      await client.find(({ params: each }) => each?.['statusMessage'] === 'One');
      go.resolve();
      const last = await client.find(({ method, params: { status } = {} }) => {
        return method === 'notifications/tasks/status' && status === 'completed';
      });
      expect(last.params).toEqual(await getTask(client, taskId));
      await client.settled();
      expect(client.received.at(-1)?.method).not.toBe('notifications/progress');
      await other.settled();
      expect(other.received.filter(({ method }) => method?.startsWith('notifications/'))).toEqual([]);
    },
  );
});

// Tasks of the extension, in 2026-07-28, and tasks that one revision makes and the other one uses.
/* oxlint-disable jest/no-standalone-expect -- inExtension registers a test */
import { describe, expect } from '@jest/globals';
import { type Context, type JsonObject, McpError, ToolError } from '@decorum/core';
import { memoryTasks, type StoredTask } from '@decorum/tasks';

import { overMemory, RawClient } from '../support/raw-client.js';
import { itShows } from '../support/requirements.js';
import { answerTo, asked, declares } from '../support/stateless-post.js';
import { bare, listen, plain } from './neutral.js';
import { ADA as ANSWER, ANSWERS, greet, NAME } from './rounds.js';
import { deferred } from './servers.js';
import {
  DECLARED,
  getTask,
  IN_SESSIONS,
  inExtension,
  inSession,
  later,
  NO_TASK,
  RANDOM_ID,
  said,
  startTask,
  STATELESS,
  statusOf,
  TASKS,
  type TaskFields,
  taskServer,
  UNDECLARED,
  withExtension,
} from './task-clients.js';

const MISSING = { code: -32021, data: { requiredCapabilities: { extensions: { [TASKS]: {} } } } };
const METHODS = ['tasks/get', 'tasks/update', 'tasks/cancel'];

const add = () => '3';

/** Asks once it is a task. */
const greetLater = async (context: Context) => {
  await later();
  return await greet(context, {});
};

const requestsOf = async (client: RawClient, taskId: string) =>
  (await statusOf(client, taskId, 'input_required'))['inputRequests'] as Record<string, { method: string }>;

const update = async (client: RawClient, taskId: string, inputResponses: JsonObject) =>
  bare(await client.result('tasks/update', { taskId, inputResponses }));

describe('tasks of the extension', () => {
  inExtension(
    ['TASKX-01', 'TASKX-02', 'TASKX-03', 'TASKX-16'],
    'exist only for clients that declare it with the request',
    async (transport) => {
      const server = taskServer({ add, must: add });
      const client = await withExtension(server, transport);
      const { capabilities } = await client.result('server/discover');
      expect(capabilities).toMatchObject({ extensions: { [TASKS]: {} } });
      expect(capabilities).not.toHaveProperty('tasks');
      const { taskId } = await startTask(client, 'add');
      for (const extensions of [undefined, {}, { [TASKS]: 5 }, { 'com.example/tasks': {} }]) {
        const other = await withExtension(server, transport, { capabilities: { ...UNDECLARED, extensions } });
        expect(bare(await other.call('add'))).toEqual(said('3'));
        expect(await other.error('tools/call', { name: 'must' })).toMatchObject(MISSING);
        for (const method of METHODS)
          expect(await other.error(method, { taskId, inputResponses: {} })).toMatchObject(MISSING);
        const listening = { notifications: { taskIds: [taskId] } };
        expect(await other.error('subscriptions/listen', listening)).toMatchObject(MISSING);
      }
    },
  );

  inExtension(
    ['TASKX-04', 'TASKX-05', 'TASKX-07', 'TASKX-25'],
    'can be read as soon as the client has their id, however slow the store is',
    async (transport) => {
      const store = memoryTasks();
      const set = store.set.bind(store);
      const slow = Object.assign(store, {
        set: async (task: StoredTask) => {
          await later();
          return await set(task);
        },
      });
      const client = await withExtension(
        taskServer({ add, waits: () => new Promise(() => {}) }, { store: slow }),
        transport,
      );
      for (const name of ['add', 'waits']) {
        const { _meta, ...created } = await client.result('tools/call', { name });
        const { resultType, taskId, ...fields } = created as TaskFields;
        expect([resultType, taskId]).toEqual(['task', expect.stringMatching(RANDOM_ID)]);
        expect(fields).toEqual({
          status: 'working',
          createdAt: fields.createdAt,
          lastUpdatedAt: fields.createdAt,
          ttlMs: 86_400_000,
          pollIntervalMs: 1000,
        });
        expect(await getTask(client, taskId)).toMatchObject({ resultType: 'complete', taskId });
      }
    },
  );

  inExtension(['TASKX-06'], 'begin after the questions that come first', async (transport) => {
    const keys: string[] = [];
    const ask = async (context: Context) => {
      await context.once('first', (key) => void keys.push(key));
      const { action } = await context.elicit(NAME, { message: 'Who?' });
      if (!(await context.confirm('Sure?'))) return 'no';
      await later();
      await context.once('last', (key) => void keys.push(key));
      return `${action} ${(await context.sample({ messages: 'Hi', maxTokens: 5 })).text}`;
    };
    const client = await withExtension(taskServer({ ask }), transport, { answers: ANSWERS });
    const { taskId } = await startTask(client, 'ask');
    expect(client.questions.map(({ params }) => params['message'])).toEqual(['Who?', 'Sure?']);
    const [key = ''] = Object.keys(await requestsOf(client, taskId));
    await update(client, taskId, { [key]: ANSWERS['sampling/createMessage']().result });
    expect(await statusOf(client, taskId, 'completed')).toMatchObject({ result: said('accept Ho') });
    expect(new Set(keys).size).toBe(2);
    expect(keys).toHaveLength(2);
  });

  inExtension(
    ['TASKX-08', 'TASKX-09', 'TASKX-10', 'TASKX-11', 'TASKX-12'],
    'list what they ask under keys of its own, until each is answered',
    async (transport) => {
      const many = async (context: Context) => {
        await later();
        const both = await Promise.all([context.confirm('Left?', { key: 'constructor' }), context.confirm('Fast?')]);
        const { action } = await context.elicit(NAME, { message: 'Who?', key: 'who' });
        return [...both, action].join();
      };
      const client = await withExtension(taskServer({ many }), transport);
      const { taskId } = await startTask(client, 'many');
      const both = await requestsOf(client, taskId);
      expect(Object.values(both)).toMatchObject([
        { method: 'elicitation/create', params: { mode: 'form', message: 'Left?' } },
        { method: 'elicitation/create', params: { message: 'Fast?' } },
      ]);
      const [left = '', fast = ''] = Object.keys(both);
      const no = { action: 'decline' };
      const wrong: JsonObject[] = [{}, { none: ANSWER }, { [fast]: 5 }, { [fast]: [ANSWER] }, { [fast]: null }];
      for (const given of wrong) {
        expect(await update(client, taskId, given)).toEqual({});
        expect(Object.keys(await requestsOf(client, taskId))).toEqual([left, fast]);
      }
      const inherited = client.buildMessage('p', 'tasks/update', { taskId, inputResponses: { own: {} } });
      await client.send(JSON.stringify(inherited).replace('"own"', '"__proto__"'));
      expect(await client.response('p')).toMatchObject({ error: { code: -32600 } });
      for (const inputResponses of [undefined, 5, [], null])
        expect(await client.error('tasks/update', { taskId, inputResponses })).toMatchObject({ code: -32602 });
      expect(await update(client, taskId, { [fast]: ANSWER })).toEqual({});
      expect(Object.keys(await requestsOf(client, taskId))).toEqual([left]);
      // a stale key changes nothing
      await update(client, taskId, { [fast]: no, [left]: no });
      const seen = new Set([left, fast]);
      for (const content of [{ name: 5 }, {}, undefined]) {
        const [key = ''] = Object.keys(await until(client, taskId, seen));
        seen.add(key);
        await update(client, taskId, { [key]: { action: 'accept', ...(content && { content }) } });
      }
      const [last = ''] = Object.keys(await until(client, taskId, seen));
      await update(client, taskId, { [last]: ANSWER });
      expect(await statusOf(client, taskId, 'completed')).toMatchObject({ result: said('false,true,accept') });
      expect(seen.size).toBe(5);
      expect(seen).not.toContain(last);
      expect(await update(client, taskId, { [last]: no })).toEqual({});
      expect(await getTask(client, taskId)).toMatchObject({ status: 'completed' });
    },
  );

  inExtension(['TASKX-08', 'TASKX-17', 'TASKX-18'], 'fail only with errors of the protocol', async (transport) => {
    const tools = {
      add,
      fail: () => {
        throw new ToolError('Not today.');
      },
      break: () => {
        throw new McpError('internal-error', 'It broke.', { why: 'so' });
      },
    };
    const client = await withExtension(taskServer(tools), transport);
    const other = await withExtension(taskServer(tools), transport, { capabilities: UNDECLARED });
    for (const name of ['add', 'fail', 'break']) {
      const { result, error } = await other.request('tools/call', { name });
      const { taskId } = await startTask(client, name);
      const task = await statusOf(client, taskId, error ? 'failed' : 'completed');
      expect(task['error']).toEqual(error);
      expect(task['result'] && bare({ resultType: 'complete', _meta: {}, ...(task['result'] as JsonObject) })).toEqual(
        result && bare(result),
      );
      expect(task.statusMessage).toBe(error?.message);
    }
  });

  inExtension(['TASKX-13', 'TASKX-14'], 'are cancelled only by `tasks/cancel`', async (transport) => {
    let begun = deferred<Context>();
    const go = deferred();
    const work = async (context: Context) => {
      begun.resolve(context);
      await go.promise;
      return 'done';
    };
    const client = await withExtension(taskServer({ work }), transport);
    const ids = [];
    for (const id of ['one', 'two']) {
      begun = deferred();
      const { result } = await client.request('tools/call', { name: 'work' }, id);
      const { taskId } = result as TaskFields;
      const { signal } = await begun.promise;
      await client.notify('notifications/cancelled', { requestId: id });
      await client.cancel(id);
      expect([await getTask(client, taskId), signal.aborted]).toMatchObject([{ status: 'working' }, false]);
      ids.push(taskId);
    }
    const [cancelled = '', left = ''] = ids;
    const acknowledged = bare(await client.result('tasks/cancel', { taskId: cancelled }));
    expect(acknowledged).toEqual({});
    go.resolve();
    expect(await statusOf(client, left, 'completed')).toMatchObject({ result: said('done') });
    expect(await getTask(client, cancelled)).toMatchObject({ status: 'cancelled' });
    for (const taskId of ids) expect(bare(await client.result('tasks/cancel', { taskId }))).toEqual({});
    expect(await getTask(client, left)).toMatchObject({ status: 'completed' });
  });

  inExtension(['TASKX-15', 'TASKX-25'], 'are unknown to everybody else', async (transport) => {
    const server = taskServer({ add });
    const principals = [{ subject: 'ada' }, { subject: 'bob' }, { subject: 'ada', issuer: 'https://id.example' }];
    const own = await withExtension(server, transport, { principal: principals[0] as { subject: string } });
    const { taskId } = await startTask(own, 'add');
    expect(await getTask(own, taskId)).toMatchObject({ taskId });
    for (const principal of [undefined, ...principals.slice(1)]) {
      // headers tell only the subject
      if (principal?.issuer !== undefined && transport !== overMemory) continue;
      const client = await withExtension(server, transport, principal && { principal });
      for (const method of METHODS)
        for (const id of [taskId, 'none', 'constructor'])
          expect(await client.error(method, { taskId: id, inputResponses: {} })).toMatchObject(NO_TASK);
      expect(await listen(client, { taskIds: [taskId] })).toEqual({ taskIds: [] });
    }
  });

  inExtension(
    ['TASKX-19', 'TASKX-20'],
    'tell those who follow them of each change as `tasks/get` does, and of nothing else',
    async (transport) => {
      const go = deferred();
      const work = async (context: Context) => {
        context.log.info('Begun');
        context.progress(1, 2, 'One');
        await go.promise;
        return await greet(context, {});
      };
      const server = taskServer({ work, add });
      const client = await withExtension(server, transport, { logLevel: 'debug' });
      const meta = { _meta: { progressToken: 'tick' } };
      const { taskId } = await startTask(client, 'work', meta);
      const { taskId: other } = await startTask(client, 'work', meta);
      const ack = await listen(client, { taskIds: [taskId, 'none', taskId] });
      expect(ack).toEqual({ taskIds: [taskId] });
      for (const taskIds of [5, {}, [5], [{}], Array.from({ length: 1001 }, String)])
        expect(await client.error('subscriptions/listen', { notifications: { taskIds } })).toMatchObject(NO_TASK);
      go.resolve();
      const told = async (status: string) => {
        const { params } = await client.find(
          (each) => each.method === 'notifications/tasks' && each.params?.['status'] === status,
        );
        const { resultType: _type, _meta, ...task } = await getTask(client, taskId);
        expect(plain(params)).toEqual(task);
      };
      await told('input_required');
      const [key = ''] = Object.keys(await requestsOf(client, taskId));
      await update(client, taskId, { [key]: ANSWER });
      await told('completed');
      await client.settled();
      const others = client.received.filter(
        ({ method, params }) => method !== undefined && params?.['taskId'] !== taskId,
      );
      expect(others.map(({ method }) => method)).toEqual(['notifications/subscriptions/acknowledged']);
      await client.result('tasks/cancel', { taskId: other });
    },
  );

  itShows([['TASKX-21', STATELESS]], 'are named by a header over HTTP', async () => {
    const server = taskServer({ add });
    const declared = declares(DECLARED);
    const [, { result }] = await answerTo(server, asked(1, 'tools/call', { name: 'add' }, declared));
    const { taskId } = result as TaskFields;
    for (const method of METHODS) {
      const message = asked(2, method, { taskId, inputResponses: {} }, declared);
      for (const name of ['', 'other', taskId.toUpperCase()])
        expect(await answerTo(server, message, { 'mcp-name': name })).toMatchObject([400, { error: { code: -32020 } }]);
      expect(await answerTo(server, message)).toMatchObject([200, { result: { resultType: 'complete' } }]);
    }
  });

  inExtension(['TASKX-22'], 'have nothing of those in sessions', async (transport) => {
    const server = taskServer({ add, plain: add });
    const client = await withExtension(server, transport);
    const { taskId } = await startTask(client, 'add');
    for (const method of ['tasks/result', 'tasks/list'])
      expect(await client.error(method, { taskId })).toMatchObject({ code: -32601 });
    for (const task of [5, {}, { ttl: 1 }]) {
      expect(bare(await client.result('tools/call', { name: 'plain', task }))).toEqual(said('3'));
      expect(await startTask(client, 'add', { task })).toMatchObject({ ttlMs: 86_400_000 });
      const other = await withExtension(server, transport, { capabilities: UNDECLARED });
      expect(bare(await other.result('tools/call', { name: 'add', task }))).toEqual(said('3'));
    }
  });
});

/** The questions of a task, once it asks something new. */
async function until(client: RawClient, taskId: string, seen: ReadonlySet<string>) {
  for (;;) {
    const requests = await requestsOf(client, taskId);
    if (Object.keys(requests).every((key) => !seen.has(key))) return requests;
  }
}

describe('a task of one revision', () => {
  inExtension(['TASKX-24'], 'can be read, answered and cancelled in the other', async (transport) => {
    const fail = () => {
      throw new ToolError('Not today.');
    };
    const server = taskServer({ greetLater, fail });
    const principal = { subject: 'ada' };
    const old = await inSession(server, transport, { principal, answers: ANSWERS });
    const recent = await withExtension(server, transport, { principal });

    const begun = await startTask(old, 'greetLater');
    const [key = ''] = Object.keys(await requestsOf(recent, begun.taskId));
    await update(recent, begun.taskId, { [key]: ANSWER });
    expect(await statusOf(recent, begun.taskId, 'completed')).toMatchObject({ result: said('Hello, Ada') });
    expect(await old.result('tasks/result', { taskId: begun.taskId })).toMatchObject(said('Hello, Ada'));

    const other = await startTask(recent, 'greetLater');
    await statusOf(old, other.taskId, 'input_required');
    expect(await old.result('tasks/result', { taskId: other.taskId })).toMatchObject(said('Hello, Ada'));
    expect(await getTask(recent, other.taskId)).toMatchObject({ status: 'completed', result: said('Hello, Ada') });
    expect(await old.result('tasks/list')).toMatchObject({
      tasks: [{ taskId: begun.taskId }, { taskId: other.taskId }],
    });

    for (const [starter, canceller] of [
      [old, recent],
      [recent, old],
    ] as const) {
      const { taskId } = await startTask(starter, 'greetLater');
      await canceller.result('tasks/cancel', { taskId });
      expect(await statusOf(starter, taskId, 'cancelled')).toMatchObject({ taskId });
    }

    // a result with an error counts as failed in one and as completed in the other
    const { taskId } = await startTask(old, 'fail');
    expect(await statusOf(recent, taskId, 'completed')).toMatchObject({ result: { isError: true } });
    expect(await getTask(old, taskId)).toMatchObject({ status: 'failed', statusMessage: 'Not today.' });
    expect(old.revision).toBe(IN_SESSIONS);
  });

  inExtension(['TASKX-24'], 'takes its question back from one when the other answers', async (transport) => {
    const go = deferred();
    const work = async (context: Context) => {
      const greeting = await greetLater(context);
      await go.promise;
      return greeting;
    };
    const server = taskServer({ work });
    const old = await inSession(server, transport);
    const recent = await withExtension(server, transport);
    const { taskId } = await startTask(old, 'work');
    void old.send(old.buildMessage('waits', 'tasks/result', { taskId }));
    const { id } = await old.find(({ method }) => method === 'elicitation/create');
    const [key = ''] = Object.keys(await requestsOf(recent, taskId));
    await update(recent, taskId, { [key]: ANSWER });
    await old.find(({ method, params }) => method === 'notifications/cancelled' && params?.['requestId'] === id);
    go.resolve();
    expect((await old.response('waits')).result).toMatchObject(said('Hello, Ada'));
  });
});

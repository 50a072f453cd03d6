// What callers may do to a server with tasks, and to each other.
import { EventEmitter, once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';

import { afterEach, describe, expect, it } from '@jest/globals';
import { type Context, type JsonObject, McpServer, type McpServerOptions } from '@decorum/core';
import { type Auth, type AuthEndpoint, listen } from '@decorum/http';
import { fileTasks, memoryTasks, type StoredTask, tasks } from '@decorum/tasks';
import { connect } from '@decorum/testing';

import { MemoryCluster } from '../../../test/support/memory-cluster.js';

type Handler = (ctx: Context) => unknown;

/** The parts of messages that these tests read. */
interface Answer {
  readonly taskId: string;
  readonly status: string;
  readonly statusMessage: string;
  readonly inputRequests: JsonObject;
  readonly result: { readonly content: readonly { readonly text: string }[] };
  readonly error: { readonly message: string };
}

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {
    elicitation: { form: {} },
    extensions: { 'io.modelcontextprotocol/tasks': {} },
  },
};

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** Credentials are a name, a token and scopes, such as `ann 1 reports`. */
async function served(
  handler: Handler,
  options: Partial<McpServerOptions> & { readonly public?: boolean; readonly scopes?: readonly string[] } = {},
) {
  const endpoints: AuthEndpoint[] = [];
  const auth: Auth = {
    authenticate({ authorizations: [given] }) {
      const [subject, token, ...scopes] = given?.split(' ') ?? [];
      return subject === undefined ? undefined : { subject, scopes, claims: { token } };
    },
    opened: (_warn, _path, endpoint) => void (endpoint && endpoints.push(endpoint)),
  };
  const { public: isPublic = false, scopes = [], ...own } = options;
  const server = new McpServer({ name: 'test', version: '1.0.0', plugins: [tasks()], ...own });
  // later than the first turn, in which questions belong to the request
  server.addTool(
    { name: 'job', input: { type: 'object' }, task: 'required', public: isPublic, scopes },
    async (_input, ctx) => {
      await turn();
      await turn();
      return await handler(ctx);
    },
  );
  const { url, close } = await listen(server, { port: 0, auth });
  closing.push(close);
  const send = async (method: string, params: JsonObject, caller?: string) => {
    const { taskId = params['name'], more, ...others } = params;
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': method,
        'mcp-name': taskId as string,
        ...(caller !== undefined && { authorization: caller }),
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method,
        params: { ...others, ...(params['taskId'] !== undefined && { taskId }), _meta: { ...META, more } },
      }),
    });
    const { result, error } = (await response.json()) as { result?: Answer; error?: Answer['error'] };
    return { status: response.status, result, error };
  };
  const start = async (caller?: string) => (await send('tools/call', { name: 'job' }, caller)).result?.taskId as string;
  const get = async (taskId: string, caller?: string) => (await send('tasks/get', { taskId }, caller)).result as Answer;
  /** Resolves once a task is as it should be. */
  const until = async (taskId: string, isSo: (task: Answer) => boolean, caller?: string): Promise<Answer> => {
    for (;;) {
      const task = await get(taskId, caller);
      if (isSo(task)) return task;
    }
  };
  const revoke = (token: string) =>
    endpoints.forEach((each) => each.revoke(({ claims }) => claims?.['token'] === token));
  return { send, start, get, until, revoke };
}

describe('the tasks of a caller', () => {
  it('end when the credentials are revoked, and those of others do not', async () => {
    const reasons: string[] = [];
    const { start, get, until, revoke } = await served(async ({ signal, principal }) => {
      await once(signal, 'abort');
      reasons.push(`${principal?.subject}: ${(signal.reason as Error).message}`);
    });
    const [ann, bob] = [await start('ann 1'), await start('bob 2')];
    revoke('1');
    // she has signed in again
    const { status, error } = await until(ann, (task) => task.status !== 'working', 'ann 3');
    expect([status, error.message]).toEqual(['failed', 'The credentials have been revoked.']);
    expect(reasons).toEqual(['ann: The credentials of the caller have been revoked.']);
    expect((await get(bob, 'bob 2')).status).toBe('working');
    revoke('2');
  });

  it('can be read only with the scopes of their tool', async () => {
    const { start, until, send } = await served(() => 'done', { scopes: ['reports'] });
    const taskId = await start('ann 1 reports');
    await until(taskId, ({ status }) => status === 'completed', 'ann 1 reports');
    for (const method of ['tasks/get', 'tasks/cancel']) {
      const { error } = await send(method, { taskId }, 'ann 2 other');
      expect(error?.message).toBe('There is no such task, or it has expired.');
    }
  });

  it('can be read in a session only while it shows their tool', async () => {
    const server = new McpServer({ name: 'test', version: '1.0.0', plugins: [tasks()] });
    server.addTool({ name: 'job', task: 'required', tags: ['jobs'] }, () => 'done');
    server.addTool({ name: 'hide' }, (_input, { visibility }) => visibility.hide('jobs'));
    const client = await connect(server, { revision: '2025-11-25', principal: { subject: 'ann' } });
    const { task } = await client.request<{ task: { taskId: string } }>('tools/call', { name: 'job', task: {} });
    const { taskId } = task;
    expect(await client.request('tasks/get', { taskId })).toMatchObject({ taskId });
    await client.callTool('hide');
    const missing = 'There is no such task, or it has expired.';
    await expect(client.request('tasks/get', { taskId })).rejects.toThrow(missing);
    await server.close();
  });

  it('can be read without credentials if they were started without', async () => {
    const { start, until, send } = await served(() => 'done', { public: true });
    const taskId = await start();
    expect((await until(taskId, ({ status }) => status === 'completed')).result.content[0]?.text).toBe('done');
    const { error } = await send('tasks/get', { taskId }, 'ann 1');
    expect(error?.message).toBe('There is no such task, or it has expired.');
  });
});

describe('what a task keeps', () => {
  const answered = (key: string, text: string) => ({ [key]: { action: 'accept', content: { text } } });

  it('of what its handler says is short', async () => {
    const { start, until } = await served(async (ctx) => {
      ctx.progress(1, 2, '😀'.repeat(1_000_000));
      await ctx.confirm('Go on?');
    });
    const { statusMessage } = await until(await start('ann 1'), (task) => task.statusMessage !== undefined, 'ann 1');
    expect(statusMessage).toBe(`${'😀'.repeat(499)}…`);
  });

  it('of answers is limited', async () => {
    const { start, until, send } = await served(async (ctx) => {
      await Promise.all([ctx.confirm('Go on?'), ctx.confirm('Sure?')]);
      return 'done';
    });
    const taskId = await start('ann 1');
    await until(taskId, ({ inputRequests = {} }) => Object.keys(inputRequests).length === 2, 'ann 1');
    const answer = async (inputResponses: JsonObject) =>
      (await send('tasks/update', { taskId, inputResponses }, 'ann 1')).error?.message;
    expect(await answer(answered('question-1', 'x'.repeat(600_000)))).toBe(undefined);
    expect(await answer(answered('question-2', 'x'.repeat(600_000)))).toBe(
      'The answers of a task can have at most 1048576 characters.',
    );
    await answer(answered('question-2', 'short'));
    const { result } = await until(taskId, ({ status }) => status === 'completed', 'ann 1');
    expect(result.content[0]?.text).toBe('done');
  });

  it('of questions is limited, because a handler may ask in a loop', async () => {
    const errors: string[] = [];
    const { start, until } = await served(
      async (ctx) => await Promise.all(Array.from({ length: 501 }, (_, each) => ctx.confirm(`Really? ${each}`))),
      { onError: (error) => void errors.push((error as Error).message), logger: { warn() {}, error() {} } },
    );
    const { result } = await until(await start('ann 1'), ({ status }) => status === 'completed', 'ann 1');
    expect(result.content[0]?.text).toMatch(/^Internal error/);
    expect(errors).toEqual(['A task asked 500 questions. Check its handler for an endless loop.']);
  });

  it('of arguments is limited while it runs, and nothing once it has ended', async () => {
    const made: StoredTask[] = [];
    const store = memoryTasks();
    const set = store.set.bind(store);
    store.set = (task) => {
      made.push(task);
      return set(task);
    };
    const ends = new EventEmitter().setMaxListeners(0);
    const { send, until } = await served(async () => await once(ends, 'end'), { plugins: [tasks({ store })] });
    const start = async () =>
      await send('tools/call', { name: 'job', arguments: { text: 'x'.repeat(900_000) } }, 'ann 1');
    const first = (await start()).result?.taskId as string;
    let refused: Awaited<ReturnType<typeof start>>['error'];
    while (made.length < 80 && refused === undefined) refused = (await start()).error;
    expect([refused?.message, made.length]).toEqual(['There are too many tasks. Try again later.', 74]);
    ends.emit('end');
    await until(first, ({ status }) => status === 'completed', 'ann 1');
    expect(made.find(({ id, isOpen }) => id === first && !isOpen)?.text.length).toBeLessThan(2000);
    // the handlers of the others have ended as well
    expect((await start()).error).toBe(undefined);
    ends.emit('end');
  });

  it('of `_meta` is limited', async () => {
    const { send } = await served(() => 'done');
    const { error } = await send('tools/call', { name: 'job', more: 'x'.repeat(8192) }, 'ann 1');
    expect(error?.message).toBe('The "_meta" of a task can have at most 8192 characters.');
  });
});

it.each([
  ['memory', () => memoryTasks()],
  ['files', () => fileTasks('tasks-that-are-never-opened')],
])('does not start with tasks in %s if other processes serve the same clients', async (_place, store) => {
  const cluster = new MemoryCluster().node();
  const server = new McpServer({
    name: 'test',
    version: '1.0.0',
    secret: 'x'.repeat(32),
    cluster,
    plugins: [tasks({ store: store() })],
  });
  await expect(connect(server)).rejects.toThrow(
    /tasks: `store` keeps tasks for this process only.*Pass the `tasks` of redis/,
  );
});

// Requesters of tasks that are not ours: the official SDK 1.x over 2025-11-25, and ext-tasks with the SDK 2.x over both.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { afterEach, describe, expect, it } from '@jest/globals';
import { type Context, McpError, ToolError } from '@decorum/core';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

import { greet } from '../revisions/rounds.js';
import { later, RELATED, said, taskServer } from '../revisions/task-clients.js';
import { endpointOf } from '../support/http-transports.js';

/** A program that uses ext-tasks. */
const REQUESTER = fileURLToPath(new URL('task-requester.js', import.meta.url));
const INFO = { name: 'interop', version: '1.0.0' };
const USER = { 'x-user': 'ada' };
const ADA = { action: 'accept', content: { name: 'Ada' } } as const;

/** Serves tasks that ask, fail in both ways, and never end. */
async function serveTasks(): Promise<URL> {
  const tools = {
    add: () => '3',
    greet: async (context: Context) => {
      await later();
      return await greet(context, {});
    },
    fail: () => {
      throw new ToolError('Not today.');
    },
    break: () => {
      throw new McpError('internal-error', 'It broke.');
    },
    waits: () => new Promise(() => {}),
  };
  return new URL((await endpointOf(taskServer(tools, { pollIntervalMs: 10 }))).url);
}

const open: ClientV1[] = [];

afterEach(async () => {
  for (const client of open.splice(0)) await client.close();
});

describe('the official SDK 1.x', () => {
  async function connect() {
    const client = new ClientV1(INFO, { capabilities: { elicitation: {} } });
    const asked: unknown[] = [];
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      const meta: Readonly<Record<string, unknown>> = params['_meta'] ?? {};
      asked.push(meta[RELATED]);
      return ADA;
    });
    const errors: Error[] = [];
    Object.assign(client, { onerror: (error: Error) => errors.push(error) });
    await client.connect(new HttpV1(await serveTasks(), { requestInit: { headers: USER } }) as never);
    open.push(client);
    const { tasks } = client.experimental;
    const run = async (name: string, ttl = 60_000) => {
      const stream = tasks.callToolStream({ name, arguments: {} }, CallToolResultSchema, { task: { ttl } });
      const seen = [];
      for await (const message of stream) seen.push(message);
      return seen;
    };
    const start = async (name: string, ttl: number) => {
      const stream = tasks.callToolStream({ name, arguments: {} }, CallToolResultSchema, { task: { ttl } });
      const { value } = await stream.next();
      if (value?.type !== 'taskCreated') throw new Error('There is no task.');
      return value.task.taskId;
    };
    return { client, tasks, run, start, asked, errors };
  }

  it('answers the question of a task, and gets its result', async () => {
    const { tasks, run, asked, errors } = await connect();
    const seen = await run('greet');
    expect(seen[0]).toMatchObject({ type: 'taskCreated', task: { status: 'working', ttl: 60_000 } });
    expect(seen.at(-1)).toMatchObject({ type: 'result', result: said('Hello, Ada') });
    const [{ taskId } = { taskId: '' }, ...others] = (await tasks.listTasks()).tasks;
    expect([others, asked]).toEqual([[], [{ taskId }]]);
    expect(await tasks.getTask(taskId)).toMatchObject({ taskId, status: 'completed' });
    expect(await tasks.getTaskResult(taskId, CallToolResultSchema)).toMatchObject(said('Hello, Ada'));
    expect(errors).toEqual([]);
  });

  it('learns of failures, cancels, and finds expired tasks gone', async () => {
    const { tasks, run, start, errors } = await connect();
    for (const name of ['fail', 'break']) expect((await run(name)).at(-1)).toMatchObject({ type: 'error' });
    const waiting = await start('waits', 60_000);
    expect(await tasks.cancelTask(waiting)).toMatchObject({ taskId: waiting, status: 'cancelled' });
    await expect(tasks.getTaskResult(waiting, CallToolResultSchema)).rejects.toMatchObject({ code: -32600 });
    const expiring = await start('waits', 30);
    await expect(tasks.getTaskResult(expiring, CallToolResultSchema)).rejects.toMatchObject({ code: -32602 });
    await expect(tasks.getTask(expiring)).rejects.toMatchObject({ code: -32602 });
    expect(errors).toEqual([]);
  });
});

describe('ext-tasks', () => {
  it.each([
    ['legacy', { status: 'failed' }],
    // a result with an error counts as failed only in sessions
    ['modern', { status: 'completed', result: { isError: true } }],
  ])('runs tasks in a %s session to each of their ends', async (mode, failed) => {
    const { href } = await serveTasks();
    const { stdout } = await promisify(execFile)(process.execPath, [REQUESTER, href, mode, USER['x-user']]);
    const { greet: greeted, ...others } = JSON.parse(stdout) as Record<string, { states: string[] }>;
    const kind = { kind: 'task', taskId: expect.any(String) };
    expect(others).toMatchObject({
      add: { ...kind, status: 'completed', result: said('3') },
      fail: { ...kind, ...failed },
      break: { ...kind, status: 'failed', error: expect.stringContaining('It broke.') },
      waits: { ...kind, status: 'cancelled' },
    });
    // it never asks for the result of a task of 2025-11-25 that waits for input, and so is never asked
    if (mode === 'legacy') return;
    expect(greeted).toMatchObject({ ...kind, status: 'completed', result: said('Hello, Ada') });
    expect(greeted?.states).toContain('input_required');
  });
});

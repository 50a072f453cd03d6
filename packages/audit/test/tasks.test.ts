// The lines of calls that become tasks.
import { once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';

import { audit } from '@decorum/audit';
import { type Context, McpError, McpServer, ToolError } from '@decorum/core';
import { fileTasks, tasks, type TaskStore } from '@decorum/tasks';
import { connect } from '@decorum/testing';
import { expect, it } from '@jest/globals';

import { Folder, KEY, Lines } from './shop.js';

const DIGEST = expect.stringMatching(/^[\w-]{22}$/);

interface Seen {
  readonly taskId: string;
  readonly status: string;
}

/** A server with the task `job`, its audit log, and a client. */
async function serving(run: (ctx: Context) => unknown, store?: TaskStore) {
  const lines = new Lines();
  const server = new McpServer({
    name: 'jobs',
    version: '1.0.0',
    secret: KEY,
    logger: { error() {}, warn() {} },
    plugins: [tasks(store && { store }), audit({ key: KEY, ...lines.options })],
  });
  server.addTool({ name: 'job', input: { type: 'object' }, task: 'required' }, async (args, ctx) => {
    // later than the first turn, in which a call may still end without a task
    await turn();
    await turn();
    Object.assign(args, { changed: true });
    return await run(ctx);
  });
  const client = await connect(server, {
    revision: '2026-07-28',
    principal: { subject: 'ann' },
    capabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } },
  });
  const begin = async () => (await client.request<Seen>('tools/call', { name: 'job', arguments: { order: 7 } })).taskId;
  const ended = async (taskId: string) => {
    while ((await client.request<Seen>('tasks/get', { taskId })).status === 'working') await turn();
  };
  return { lines, server, client, begin, ended };
}

it.each([
  ['completes', () => 'done', ['ok', null]],
  ['refuses', () => Promise.reject(new ToolError('No.')), ['tool-error', 'expected']],
  ['has a bug', () => Promise.reject(new Error('a bug')), ['tool-error', 'bug']],
  [
    'finds its input wrong',
    () => Promise.reject(new McpError('invalid-params', 'No.')),
    ['error', 'invalid-arguments'],
  ],
])('a task that %s has a line when it is created, and one when it has ended', async (_how, run, end) => {
  const { lines, client, begin, ended } = await serving(run);
  const id = await begin();
  await ended(id);
  await client.close();
  const [created, over] = lines.parsed;
  expect(lines.parsed).toHaveLength(2);
  expect(created).toMatchObject({ outcome: 'ok', cause: null, member: { name: 'job' } });
  expect(created).not.toHaveProperty('task');
  const { caller, member, args } = created!;
  expect(over).toMatchObject({ caller, member, args, task: DIGEST, outcome: end[0], cause: end[1] });
  expect(over?.ref !== null).toBe(end[1] === 'bug');
  expect(lines.all.join('')).not.toContain(id);
});

it('a task that is cancelled has its line at once, although its handler goes on', async () => {
  let finish!: () => void;
  const handler = new Promise<void>((resolve) => (finish = resolve));
  const { lines, client, begin } = await serving(() => handler);
  await client.request('tasks/cancel', { taskId: await begin() });
  expect(lines.parsed.map(({ outcome, cause }) => [outcome, cause])).toEqual([
    ['ok', null],
    ['cancelled', 'cancelled'],
  ]);
  finish();
  await client.close();
  expect(lines.all).toHaveLength(2);
});

it('a task that goes on in the next process has a line of each', async () => {
  const folder = new Folder();
  const first = await serving(({ signal }) => once(signal, 'abort'), fileTasks(folder.path));
  const id = await first.begin();
  await first.server.close();
  const next = await serving(() => 'done', fileTasks(folder.path));
  await next.ended(id);
  await next.client.close();
  const [created, stopped] = first.lines.parsed;
  const [over] = next.lines.parsed;
  expect([created, stopped, over].map((line) => [line?.outcome, line?.cause])).toEqual([
    ['ok', null],
    ['cancelled', 'closing'],
    ['ok', null],
  ]);
  const { caller, args } = created!;
  const { task } = stopped as unknown as { task: string };
  expect([stopped, over]).toMatchObject([
    { caller, args, task },
    { caller, args, task },
  ]);
  folder.remove();
});

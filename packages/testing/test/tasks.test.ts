import { execFile } from 'node:child_process';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { Context, McpError, McpServer, NoInput, Tool } from '@decorum/core';
import { tasks } from '@decorum/tasks';
import { connect, elicits, revisions } from '@decorum/testing';
import { describe, expect, it } from '@jest/globals';
import { IsString } from 'class-validator';

import { beginTask } from './begin-task.js';

class Seat {
  @IsString() seat!: string;
}

class Airline {
  @Tool({ description: 'Books a seat', task: 'optional' })
  async book(_input: NoInput, ctx: Context) {
    const hold = await ctx.once('hold', async () => {
      await beginTask();
      return 'hold';
    });
    const seat = await ctx.elicit(Seat, { message: 'Which seat?' });
    const paid = await ctx.confirm('Pay 20 €?');
    return `${String(hold)} ${seat.action === 'accept' ? seat.content.seat : ''} ${paid}`;
  }

  @Tool({ description: 'Waits until it is cancelled', task: 'optional' })
  async wait(_input: NoInput, ctx: Context) {
    ctx.log.info('waiting');
    await new Promise((done) => ctx.signal.addEventListener('abort', done));
  }

  @Tool({ description: 'Fails', task: 'required' })
  async fail() {
    await beginTask();
    throw new McpError('invalid-params', 'No such flight.');
  }
}

const serverOf = () =>
  new McpServer({
    name: 'airline',
    version: '1.0.0',
    providers: [Airline],
    plugins: [tasks({ pollIntervalMs: 60_000 })],
  });

const SESSIONS = '2025-11-25';
const STATELESS = '2026-07-28';
const WAYS = [SESSIONS, STATELESS].flatMap((revision) =>
  (['memory', 'stdio', 'http'] as const).map((via) => [revision, via] as const),
);
const ada = { subject: 'ada' };

describe.each(WAYS)('a test client of %s over %s', (revision, via) => {
  const open = async (onElicit = elicits()) => await connect(serverOf(), { revision, via, principal: ada, onElicit });

  it('answers the questions of a task, and resolves with its result', async () => {
    const client = await open(elicits({ seat: '3A' }, 'accept'));
    const result = await client.callTool('book', {}, { task: true });
    expect(result.content).toEqual([{ type: 'text', text: 'hold 3A true' }]);
    const sent = client.frames.map(
      ({ direction, message }) => direction === 'sent' && 'method' in message && message.method,
    );
    expect(sent).toContain(revision === SESSIONS ? 'tasks/result' : 'tasks/update');
    expect(client.questions.map(({ params }) => params['message'])).toEqual(['Which seat?', 'Pay 20 €?']);
    await client.close();
  });

  it('calls the same tool without a task, unless it asks for one', async () => {
    const client = await open(elicits({ seat: '3A' }, 'decline'));
    const result = await client.callTool('book');
    expect(result.content).toEqual([{ type: 'text', text: 'hold 3A false' }]);
    expect(JSON.stringify(client.frames)).not.toMatch(/tasks\/(?:get|result)/);
    await client.close();
  });

  it('starts, reads and cancels a task', async () => {
    const client = await open();
    const { taskId, status } = await client.tasks.start('wait');
    expect(status).toBe('working');
    const result = client.tasks.result(taskId);
    await client.tasks.cancel(taskId);
    await expect(result).rejects.toThrow(/cancelled/);
    expect(await client.tasks.get(taskId)).toMatchObject({ taskId, status: 'cancelled' });
    await client.close();
  });

  it('rejects with the error of a task, and of an unknown one', async () => {
    const client = await open();
    await expect(client.callTool('fail', {}, { task: true })).rejects.toMatchObject({ message: 'No such flight.' });
    await expect(client.tasks.result('unknown')).rejects.toMatchObject({ code: -32602 });
    await client.close();
  });

  it('cancels a task whose call is aborted', async () => {
    const client = await open();
    const stop = new AbortController();
    const call = client.callTool('wait', {}, { task: true, signal: stop.signal });
    let id: string | undefined;
    while (id === undefined) {
      await new Promise((done) => setImmediate(done));
      [, id] = /"taskId":"([^"]+)"/.exec(JSON.stringify(client.frames)) ?? [];
    }
    stop.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
    expect(await client.tasks.get(id)).toMatchObject({ status: 'cancelled' });
    await client.close();
  });
});

describe('the tasks of a test client', () => {
  it('are listed in 2025-11-25, and kept as long as it asks for', async () => {
    const client = await connect(serverOf(), { revision: SESSIONS, principal: ada });
    const { taskId, ttl } = await client.tasks.start('wait', {}, { ttlMs: 5000 });
    expect(ttl).toBe(5000);
    expect((await client.tasks.list()).map((task) => task.taskId)).toEqual([taskId]);
    await client.tasks.cancel(taskId);
    await client.close();
  });

  it.each(revisions.filter((each) => each < SESSIONS))('do not exist in %s', async (revision) => {
    const client = await connect(serverOf(), { revision });
    await expect(client.callTool('book', {}, { task: true })).rejects.toThrow(
      `There are no tasks in ${revision}. Connect with the revision ${SESSIONS} or ${STATELESS}.`,
    );
    await client.close();
  });

  it('are missing if the server answers without one', async () => {
    const plain = new McpServer({ name: 'airline', version: '1.0.0' });
    plain.addTool({ name: 'ok', description: 'Answers' }, () => 'ok');
    const client = await connect(plain, { revision: STATELESS });
    await expect(client.tasks.start('ok')).rejects.toThrow('The server returned the result of "ok" without a task.');
    await client.close();
  });
});

/** As with `node:test`, nothing but the call keeps the process alive. */
const PROGRAM = `
  import { McpServer } from '@decorum/core';
  import { tasks } from '@decorum/tasks';
  import { connect } from '@decorum/testing';
  const server = new McpServer({ name: 'test', version: '1.0.0', plugins: [tasks()] });
  server.addTool({ name: 'nap', task: 'optional' }, async (_args, ctx) => {
    await ctx.sleep('nap', 20);
    return 'slept';
  });
  const client = await connect(server, { revision: process.argv[1] });
  console.log((await client.callTool('nap', {}, { task: true })).content[0].text);
  await client.close();
  await server.close();
`;

it.each(['2025-11-25', '2026-07-28'])('keeps a process alive until a task has slept, in %s', async (revision) => {
  const cwd = dirname(fileURLToPath(import.meta.url));
  const args = ['--input-type=module', '--eval', PROGRAM, revision];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd });
  expect(stdout).toBe('slept\n');
});

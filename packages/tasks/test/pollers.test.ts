// Many clients poll while a task goes on. `POLLERS=500` is the full number.
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';

import { afterEach, expect, it } from '@jest/globals';
import { McpServer, NoInput } from '@decorum/core';
import { tasks } from '@decorum/tasks';
import { connect } from '@decorum/testing';

import { CLIENT, closeAll, Disk, Process, type Seen } from './processes.js';

const POLLERS = Number(process.env['POLLERS'] ?? 50);

/** Neither of two processes takes the other one for dead, although both stand still at times. */
const LEASE = { tasks: { leaseMs: 2000 } };

afterEach(closeAll);

const isOver = ({ status }: Seen) => status !== 'working' && status !== 'input_required';

/** Everything that a poller sees, until the end of the task. */
async function poll({ server }: Process, taskId: string): Promise<Seen[]> {
  const client = await connect(server, CLIENT);
  const all: Seen[] = [];
  for (;;) {
    const seen = await client.request<Seen>('tasks/get', { taskId });
    all.push(seen);
    if (isOver(seen)) return all;
    await wait(Math.random() * 10);
  }
}

it('no poller sees a task go backwards, and each sees its end', async () => {
  const disk = new Disk();
  const steps = 10;
  const build = (server: McpServer) =>
    void server.addTool({ name: 'job', input: NoInput, task: 'required' }, async (_input, ctx) => {
      await turn();
      await turn();
      for (let step = 1; step <= steps; step += 1) {
        ctx.progress(step, steps);
        await ctx.once(`${step}`, async () => await wait(5));
        if (step === 5) await ctx.confirm('Go on?');
      }
      return 'done';
    });
  const [first, second] = [await Process.start(disk, build, LEASE), await Process.start(disk, build, LEASE)];
  const taskId = await first.begin('job');
  const polled = Promise.all(Array.from({ length: POLLERS }, (_, n) => poll(n % 2 ? first : second, taskId)));
  await second.reaches(taskId, 'input_required');
  await second.answer(taskId, { confirmed: true });
  for (const seen of await polled) {
    expect(seen.at(-1)).toMatchObject({ status: 'completed', result: { content: [{ text: 'done' }] } });
    const order = seen.map(({ status, lastUpdatedAt }) => `${lastUpdatedAt} ${status === 'completed'}`);
    expect(order).toEqual(order.toSorted());
    const counts = seen.map(({ statusMessage = '0' }) => Number.parseInt(statusMessage, 10));
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
  }
});

it('a handler that ignores its end counts until it ends', async () => {
  let end = () => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  const server = new McpServer({ name: 'shop', version: '1', plugins: [tasks({ maxRunning: 1 })] });
  server.addTool({ name: 'job', input: NoInput, task: 'required' }, async () => await ended);
  const client = await connect(server, CLIENT);
  const begin = async () => await client.request<Seen>('tools/call', { name: 'job', arguments: {} });
  const { taskId } = await begin();
  await client.request('tasks/cancel', { taskId });
  await expect(begin()).rejects.toThrow('There are too many tasks.');
  end();
  await turn();
  await begin();
  await server.close();
});

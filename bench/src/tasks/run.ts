// What tasks in memory take: `node bench/dist/tasks/run.js`. Heap per task, CPU of a poll, and what expiry leaves.
import { setTimeout as wait } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { connectMemory, type JsonObject, McpServer } from '@decorum/core';
import { memoryTasks, tasks } from '@decorum/tasks';
import { IsInt } from 'class-validator';

import { quantile } from '../slices.js';

const FINISHED = 10_000;
const WAITING = 1000;
const SLICES = 60;
const CALLS = 300;
const TTL_MS = 6000;

class Numbers {
  @IsInt() a!: number;
  @IsInt() b!: number;
}

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Bytes of the heap, once everything is collected that can be. */
async function heap(): Promise<number> {
  for (let n = 0; n < 3; n += 1) {
    await wait(50);
    collect();
  }
  return process.memoryUsage().heapUsed;
}

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {
    elicitation: { form: {} },
    extensions: { 'io.modelcontextprotocol/tasks': {} },
  },
};

/** A server with tasks in memory, and a connection to it. */
async function serve(ttlMs: number) {
  const store = memoryTasks();
  const server = new McpServer({ name: 'tasks', version: '1.0.0', plugins: [tasks({ store, ttlMs })] });
  server.addTool({ name: 'add', input: Numbers }, ({ a, b }) => `${a + b}`);
  server.addTool({ name: 'report', input: Numbers, task: 'required' }, ({ a, b }) => `${a + b}`);
  server.addTool({ name: 'ask', input: Numbers, task: 'required' }, async (_numbers, ctx) => {
    await wait(1);
    return `${await ctx.confirm('Go on?')}`;
  });
  let result: JsonObject = {};
  const connection = await connectMemory(server, {
    receive: (message) => (result = (message as { result?: JsonObject }).result ?? { error: message }),
  });
  const request = async (method: string, params: JsonObject): Promise<JsonObject> => {
    await connection.send({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: META } });
    return result;
  };
  const begin = async (tool: string, count: number): Promise<string[]> => {
    const ids: string[] = [];
    for (let n = 0; n < count; n += 1) {
      const { taskId } = await request('tools/call', { name: tool, arguments: { a: n, b: 2 } });
      ids.push(taskId as string);
    }
    return ids;
  };
  const reaches = async (id: string, status: string): Promise<void> => {
    while ((await request('tasks/get', { taskId: id }))['status'] !== status) await wait(5);
  };
  return { server, store, request, begin, reaches };
}

type Served = Awaited<ReturnType<typeof serve>>;

const cpu = (): number => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

/** CPU of polls as a multiple of that of `add` calls, which take turns. */
async function polls({ request }: Served, finished: string[], waiting: string[]): Promise<void> {
  let next = 0;
  const kinds = {
    add: () => request('tools/call', { name: 'add', arguments: { a: 1, b: 2 } }),
    finished: () => request('tasks/get', { taskId: finished[(next += 7) % finished.length] }),
    waiting: () => request('tasks/get', { taskId: waiting[(next += 7) % waiting.length] }),
  };
  const slice = async (call: () => Promise<unknown>): Promise<number> => {
    const begun = cpu();
    for (let n = 0; n < CALLS; n += 1) await call();
    return (cpu() - begun) / CALLS;
  };
  const slices: { readonly add: number; readonly finished: number; readonly waiting: number }[] = [];
  for (let n = 0; n < SLICES; n += 1) {
    slices.push({
      add: await slice(kinds.add),
      finished: await slice(kinds.finished),
      waiting: await slice(kinds.waiting),
    });
  }
  // the first ones warm up
  const warm = slices.slice(SLICES / 4);
  const ratio = (kind: 'finished' | 'waiting') =>
    quantile(
      warm.map((each) => each[kind] / each.add),
      0.5,
    ).toFixed(2);
  console.log(
    `add: ${quantile(
      warm.map(({ add }) => add),
      0.5,
    ).toFixed(1)} µs of CPU`,
  );
  console.log(`poll of a finished task: ${ratio('finished')} × add, of a waiting one: ${ratio('waiting')} × add`);
}

/** What is left of tasks once they have expired. */
async function expiry(): Promise<void> {
  const served = await serve(TTL_MS);
  const [warm = ''] = await served.begin('report', 500);
  await served.reaches(warm, 'completed');
  await wait(TTL_MS + 1500);
  const [before, timers] = [await heap(), timersNow()];
  const begun = performance.now();
  await served.begin('report', 2000);
  await served.begin('ask', 500);
  const full = await heap();
  const took = performance.now() - begun;
  await wait(TTL_MS + 1500);
  const left = (await heap()) - before;
  console.log(
    `expiry: ${Math.round((full - before) / 1024)} KiB of 2500 tasks (made in ${Math.round(took)} ms), ${Math.round(left / 1024)} KiB after it, ` +
      `timers ${timers} before and ${timersNow()} after`,
  );
  await served.server.close();
}

const timersNow = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

const served = await serve(3_600_000);
const [first = ''] = await served.begin('report', 300);
await served.reaches(first, 'completed');
const empty = await heap();
const finished = await served.begin('report', FINISHED);
await served.reaches(finished.at(-1) ?? '', 'completed');
const kept = await heap();
const waiting = await served.begin('ask', WAITING);
await served.reaches(waiting.at(-1) ?? '', 'input_required');
const asked = await heap();
console.log(`Node ${process.version}, ${FINISHED} finished and ${WAITING} waiting tasks in memory`);
console.log(`finished: ${Math.round((kept - empty) / FINISHED)} bytes each`);
console.log(`waiting: ${Math.round((asked - kept) / WAITING)} bytes each`);
await polls(served, finished, waiting);
await served.server.close();
await expiry();

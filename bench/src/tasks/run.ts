// What tasks in memory take: `node bench/dist/tasks/run.js`. Heap per task, CPU of a poll, and what expiry leaves.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { connectMemory, type JsonObject, McpServer } from '@decorum/core';
import { listen } from '@decorum/http';
import { tasks } from '@decorum/tasks';
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
  const server = new McpServer({ name: 'tasks', version: '1.0.0', plugins: [tasks({ ttlMs })] });
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
  const reaches = async (id: string, status: string): Promise<void> => {
    while ((await request('tasks/get', { taskId: id }))['status'] !== status) await wait(5);
  };
  return { server, request, reaches };
}

type Served = Awaited<ReturnType<typeof serve>>;

const cpu = (): number => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

type Request = Served['request'];

/** Requests to a server in another process, and its CPU. */
async function overHttp(): Promise<{ child: ChildProcess; request: Request; cpuThere: () => Promise<number> }> {
  const child = fork(new URL(import.meta.url), ['serve']);
  const told = async () => ((await once(child, 'message')) as [string | number])[0];
  const url = String(await told());
  const request: Request = async (method, params) => {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      'mcp-name': String(params['name'] ?? params['taskId']),
    };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: META } });
    const response = await fetch(url, { method: 'POST', headers, body });
    return ((await response.json()) as { result: JsonObject }).result;
  };
  const cpuThere = async () => {
    child.send('cpu');
    return Number(await told());
  };
  return { child, request, cpuThere };
}

/** CPU of polls as a multiple of that of `add` calls, which take turns. */
async function polls(request: Request, used: () => number | Promise<number>, [finished, waiting]: string[][]) {
  let next = 0;
  const get = (ids: string[] = []) => request('tasks/get', { taskId: ids[(next += 7) % ids.length] });
  const slice = async (call: () => Promise<unknown>): Promise<number> => {
    const begun = await used();
    for (let n = 0; n < CALLS; n += 1) await call();
    return ((await used()) - begun) / CALLS;
  };
  const slices: (readonly [add: number, finished: number, waiting: number])[] = [];
  for (let n = 0; n < SLICES; n += 1) {
    const add = await slice(() => request('tools/call', { name: 'add', arguments: { a: 1, b: 2 } }));
    slices.push([add, await slice(() => get(finished)), await slice(() => get(waiting))]);
  }
  // the first ones warm up
  const warm = slices.slice(SLICES / 4);
  const middle = (of: (each: (typeof warm)[number]) => number) => quantile(warm.map(of), 0.5).toFixed(2);
  console.log(
    `  add ${middle(([add]) => add)} µs, a poll of a finished task ${middle(([add, each]) => each / add)} times that, ` +
      `of a waiting one ${middle(([add, , each]) => each / add)} times`,
  );
}

/** Makes tasks that finish, and tasks that wait. */
async function make(request: Request, [finished, waiting]: readonly [number, number]): Promise<string[][]> {
  const begin = async (tool: string, count: number) => {
    const ids: string[] = [];
    for (let n = 0; n < count; n += 1)
      ids.push((await request('tools/call', { name: tool, arguments: { a: n, b: 2 } }))['taskId'] as string);
    return ids;
  };
  return [await begin('report', finished), await begin('ask', waiting)];
}

/** CPU of polls over HTTP, in the server's process. */
async function pollsOverHttp(): Promise<void> {
  const { child, request, cpuThere } = await overHttp();
  const made = await make(request, [1000, WAITING]);
  console.log('CPU of the server over HTTP:');
  await polls(request, cpuThere, made);
  child.kill();
}

/** What is left of tasks once they have expired. */
async function expiry(): Promise<void> {
  const served = await serve(TTL_MS);
  await make(served.request, [500, 0]);
  await wait(TTL_MS + 1500);
  const before = await heap();
  const begun = performance.now();
  await make(served.request, [2000, 500]);
  const full = await heap();
  const took = performance.now() - begun;
  await wait(TTL_MS + 1500);
  const left = (await heap()) - before;
  const made = `${Math.round((full - before) / 1024)} KiB of 2500 tasks, made in ${Math.round(took)} ms`;
  console.log(`expiry: ${made}; ${Math.round(left / 1024)} KiB after it`);
  await served.server.close();
}

if (process.argv[2] === 'serve') {
  const { url } = await listen((await serve(3_600_000)).server, { port: 0 });
  process.on('message', () => process.send?.(cpu()));
  process.send?.(url);
} else {
  await measure();
}

async function measure(): Promise<void> {
  const served = await serve(3_600_000);
  const { request, reaches } = served;
  await make(request, [300, 0]);
  const empty = await heap();
  const [finished = []] = await make(request, [FINISHED, 0]);
  await reaches(finished.at(-1) ?? '', 'completed');
  const kept = await heap();
  const [, waiting = []] = await make(request, [0, WAITING]);
  await reaches(waiting.at(-1) ?? '', 'input_required');
  const asked = await heap();
  console.log(`Node ${process.version}, ${FINISHED} finished and ${WAITING} waiting tasks in memory`);
  console.log(`finished: ${Math.round((kept - empty) / FINISHED)} bytes each`);
  console.log(`waiting: ${Math.round((asked - kept) / WAITING)} bytes each`);
  console.log('CPU of client and server in memory:');
  await polls(request, cpu, [finished, waiting]);
  await served.server.close();
  await pollsOverHttp();
  await expiry();
}

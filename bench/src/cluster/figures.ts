// What Redis costs, for docs/operate/scaling.md: `node bench/dist/cluster/figures.js`.
import { Agent, request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

import { Nodes } from './nodes.js';
import { RedisProcess } from './redis-process.js';

const CONNECTIONS = 32;
/** Calls of each slice. */
const SLICE = 2000;
const SLICES = 12;
const SESSIONS = 1000;
const CHANGES = 200;

type Headers = Readonly<Record<string, string>>;
type Message = Readonly<Record<string, unknown>>;

const JSON_TYPE = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
let last = 0;

/** Posts a request, and returns its response headers and its body. */
async function post(port: number, message: Message, session: Headers = {}) {
  const body = JSON.stringify({ jsonrpc: '2.0', ...message });
  return await new Promise<{ headers: Headers; body: string }>((resolve, reject) => {
    const headers = { ...JSON_TYPE, ...session };
    const sent = request({ agent, host: '127.0.0.1', port, path: '/mcp', method: 'POST', headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve({ headers: response.headers as Headers, body: text }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

const ask = (method: string, params: Message = {}) => ({ id: (last += 1), method, params });
const call = (name: string, args: Message = {}) => ask('tools/call', { name, arguments: args });

async function open(port: number): Promise<Headers> {
  const clientInfo = { name: 'figures', version: '1' };
  const { headers } = await post(
    port,
    ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }),
  );
  const session = { 'mcp-session-id': headers['mcp-session-id'] ?? '', 'mcp-protocol-version': '2025-11-25' };
  await post(port, { method: 'notifications/initialized' }, session);
  return session;
}

/** Calls a tool this often, over all connections. */
async function load(port: number, session: Headers, calls: number): Promise<void> {
  let left = calls;
  const loop = async () => {
    while (left-- > 0) {
      const { body } = await post(port, call('add', { a: 1, b: 2 }), session);
      if (!body.includes('"sum":3')) throw new Error(body);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, loop));
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
const at95 = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.95)] ?? NaN;

/** What commands a step costs: calls by command, and bytes in and out of Redis. */
async function costOf(redis: RedisProcess, step: () => Promise<unknown>) {
  const [calls, input, output] = [
    await redis.calls(),
    await redis.figure('total_net_input_bytes'),
    await redis.figure('total_net_output_bytes'),
  ];
  await step();
  const after = await redis.calls();
  const spent = [...after].map(([name, count]) => [name, count - (calls.get(name) ?? 0)] as const);
  return {
    calls: Object.fromEntries(spent.filter(([, count]) => count > 0)),
    input: (await redis.figure('total_net_input_bytes')) - input,
    output: (await redis.figure('total_net_output_bytes')) - output,
  };
}

/** Prints what one of many steps costs. */
async function price(what: string, count: number, step: (index: number) => Promise<unknown>): Promise<void> {
  const { calls, input, output } = await costOf(redis, async () => {
    for (let index = 0; index < count; index += 1) await step(index);
    await wait(200);
  });
  const each = Object.entries(calls).map(([name, total]) => `${name} ${(total / count).toFixed(2)}`);
  const total = Object.values(calls).reduce((sum, value) => sum + value, 0);
  const bytes = `${Math.round(input / count)} bytes in, ${Math.round(output / count)} out`;
  console.log(`${what}: ${(total / count).toFixed(2)} commands (${each.join(', ')}); ${bytes}`);
}

/** CPU of a session call with Redis, compared with the same in memory, in slices that take turns. */
async function cpu(shared: Nodes, alone: Nodes): Promise<void> {
  const sides = await Promise.all(
    [shared, alone].map(async (nodes) => ({
      nodes,
      port: nodes.ports[0] as number,
      session: await open(nodes.ports[0] as number),
    })),
  );
  for (const { port, session } of sides) await load(port, session, 3 * SLICE);
  const ratios: number[] = [];
  const costs: number[][] = [];
  for (let slice = 0; slice < SLICES; slice += 1) {
    const [withRedis = 0, inMemory = 0] = await sides.reduce(async (before, { nodes, port, session }) => {
      const done = await before;
      const { cpuUs } = await nodes.usage(0);
      await load(port, session, SLICE);
      return [...done, ((await nodes.usage(0)).cpuUs - cpuUs) / SLICE];
    }, Promise.resolve<number[]>([]));
    ratios.push(withRedis / inMemory);
    costs.push([withRedis, inMemory]);
  }
  const [withRedis, inMemory] = [0, 1].map((side) => median(costs.map((each) => each[side] ?? 0)).toFixed(0));
  console.log(
    `CPU of a session call, ${CONNECTIONS} connections: ${withRedis} µs with Redis, ${inMemory} µs in memory, ratio ${median(ratios).toFixed(2)} (bar 2)`,
  );
}

/** Bytes of Redis for a session without streams. */
async function memory(redis: RedisProcess, port: number): Promise<void> {
  const before = await redis.figure('used_memory');
  for (let count = 0; count < SESSIONS; count += 1) await open(port);
  const bytes = ((await redis.figure('used_memory')) - before) / SESSIONS;
  console.log(`memory of a session in Redis: ${bytes.toFixed(0)} bytes (bar 2048)`);
}

/** Milliseconds until a change reaches a listener of another node. */
async function delays(nodes: Nodes): Promise<void> {
  const [here = 0, there = 0] = nodes.ports;
  const session = await open(there);
  const heard = new Map<string, number>();
  const listening = request({
    host: '127.0.0.1',
    port: there,
    path: '/mcp',
    headers: { ...session, accept: 'text/event-stream' },
  });
  let text = '';
  listening.on('response', (response) =>
    response.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      for (const [found] of text.matchAll(/soak:\/\/delay-\d+/g))
        if (!heard.has(found)) heard.set(found, performance.now());
    }),
  );
  listening.end();
  const other = await open(here);
  const took: number[] = [];
  for (let index = 0; index < CHANGES; index += 1) {
    const uri = `soak://delay-${index}`;
    await post(there, ask('resources/subscribe', { uri }), session);
    const begun = performance.now();
    await post(here, call('touch', { uri }), other);
    while (!heard.has(uri) && performance.now() - begun < 2000) await wait(1);
    took.push((heard.get(uri) ?? Infinity) - begun);
  }
  listening.destroy();
  console.log(
    `a change at a listener of another node: median ${median(took).toFixed(1)} ms, 95th percentile ${at95(took).toFixed(1)} ms (bar 250)`,
  );
}

const redis = await RedisProcess.start();
const shared = await Nodes.start(3, { redis: redis.url });
const alone = await Nodes.start(1, {});
const [one = 0, two = 0] = shared.ports;
await memory(redis, one);
const session = await open(one);
await price('nothing, for a second', 1, () => wait(1000));
await price('a session call, answered as JSON, at one node', 5000, () =>
  post(one, call('add', { a: 1, b: 2 }), session),
);
await price('the same, nodes take turns', 5000, (index) =>
  post(shared.ports[index % 3] ?? 0, call('add', { a: 1, b: 2 }), session),
);
await price('the start of a session (2 requests)', 200, () => open(one));
await price('a subscription', 200, (index) =>
  post(one, ask('resources/subscribe', { uri: `soak://${index}` }), session),
);
await price('a change', 500, (index) => post(two, call('touch', { uri: `soak://x${index}` }), session));
await price('a call with 10 progress messages', 200, () =>
  post(
    one,
    ask('tools/call', { name: 'progress', arguments: { steps: 10, size: 20 }, _meta: { progressToken: 1 } }),
    session,
  ),
);
await price('the end of a session (with its start)', 200, async () => {
  const each = await open(one);
  await fetch(`http://127.0.0.1:${one}/mcp`, { method: 'DELETE', headers: each });
});
await delays(shared);
await cpu(shared, alone);
agent.destroy();
await Promise.all([shared.stop(), alone.stop()]);
await redis.stop();

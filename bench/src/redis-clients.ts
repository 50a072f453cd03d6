/**
 * Compares clients of Redis, as `@decorum/redis` would use them: the CPU of a GET at 32 concurrent ones, with a timeout
 * for each; and how long a call takes to fail on a Redis that hangs. `node bench/dist/redis-clients.js`
 */
import { setTimeout as wait } from 'node:timers/promises';

import { createClient } from '@redis/client';
import { Redis } from 'ioredis';

import { RedisProcess } from './cluster/redis-process.js';

const ROUNDS = 9;
const CALLS = 20_000;
const CONCURRENT = 32;
const TIMEOUT_MS = 500;

type Call = () => Promise<unknown>;

async function run(call: Call): Promise<void> {
  let left = CALLS;
  const one = async () => {
    while (left-- > 0) await call();
  };
  await Promise.all(Array.from({ length: CONCURRENT }, one));
}

/** Microseconds of CPU that one call takes. */
async function cpuOf(call: Call): Promise<number> {
  const before = process.cpuUsage();
  await run(call);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / CALLS;
}

/** How a call ends, and after how many milliseconds. */
async function endOf(call: Call): Promise<string> {
  const begin = performance.now();
  const how = await call().then(
    () => 'answered',
    (error: unknown) => String(error),
  );
  return `${how} after ${Math.round(performance.now() - begin)} ms`;
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

const server = await RedisProcess.start();
const { port } = server;
const host = '127.0.0.1';
const plain = new Redis({ port, host, commandTimeout: TIMEOUT_MS });
const piped = new Redis({ port, host, commandTimeout: TIMEOUT_MS, enableAutoPipelining: true });
const other = createClient({ socket: { port, host }, commandOptions: { timeout: TIMEOUT_MS } });
await other.connect();
await plain.set('key', 'x'.repeat(600));

const ways: Readonly<Record<string, Call>> = {
  ioredis: () => plain.get('key'),
  'ioredis, auto-pipelining': () => piped.get('key'),
  'node-redis': () => other.get('key'),
};
const taken: Record<string, number[]> = {};
for (let round = 0; round <= ROUNDS; round++) {
  for (const [name, call] of Object.entries(ways)) {
    const cpu = await cpuOf(call);
    // the first round warms up
    if (round > 0) (taken[name] ??= []).push(cpu);
  }
}
const lines = Object.entries(taken).map(
  ([name, values]) => `${name}: ${median(values).toFixed(1)} µs of CPU for a GET`,
);

const admin = new Redis({ port, host });
for (const [name, call] of Object.entries(ways)) {
  await admin.call('CLIENT', 'PAUSE', 2000, 'ALL');
  lines.push(`${name}: with a timeout of ${TIMEOUT_MS} ms, on a Redis that hangs for 2 s, ${await endOf(call)}`);
  await wait(2000);
}
process.stdout.write(`${lines.join('\n')}\n`);
for (const client of [plain, piped, admin]) client.disconnect();
other.destroy();
await server.stop();

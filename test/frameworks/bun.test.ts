// Elysia and Bun's own server, run by Bun from its npm package.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, describe, it } from '@jest/globals';

import { CLIENTS, sendLargeBodies, useWeather } from './weather.js';

const BUN = fileURLToPath(new URL('node_modules/@oven/bun-linux-x64/bin/bun', import.meta.url));
const SERVER = fileURLToPath(new URL('elysia-server.js', import.meta.url));

let child: ChildProcess;
let urls: readonly string[] = [];

beforeAll(async () => {
  child = spawn(BUN, [SERVER], { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, NODE_OPTIONS: '' } });
  const [line] = (await once(createInterface({ input: child.stdout as NodeJS.ReadableStream }), 'line')) as [string];
  urls = line.split(' ');
});

afterAll(async () => {
  const ended = once(child, 'exit');
  child.kill();
  await ended;
});

describe.each([
  ['Elysia', 0],
  ['Bun.serve', 1],
])('the weather server in %s', (_name, index) => {
  it.each(CLIENTS.slice(-3))('serves the official client of %s', async (_client, connect) => {
    await useWeather(connect, urls[index] as string);
  });

  it('serves a body of a mebibyte, and rejects one over the limit with 413 as JSON-RPC', async () => {
    await sendLargeBodies(urls[index] as string);
  });
});

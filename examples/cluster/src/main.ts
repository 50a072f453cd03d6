// The cluster of compose.yaml on this machine: a Redis, three nodes, and a proxy that sends each request to the next one.
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';

import { RoundRobin } from './round-robin.js';

const NODES = 3;
const REDIS_PORT = 6390;
const NODE = fileURLToPath(new URL('node.js', import.meta.url));

const { DECORUM_SECRET = randomBytes(32).toString('hex'), PORT = '3000', REDIS_URL } = process.env;
const children = new Set<ChildProcess>();
let isClosing = false;

function startRedis(): void {
  const child = spawn('redis-server', ['--port', String(REDIS_PORT), '--bind', '127.0.0.1', '--save', ''], {
    stdio: ['ignore', 'ignore', 'inherit'],
    // not reached by Ctrl+C: the nodes need it until they have closed
    detached: true,
  });
  child.once('error', () => {
    console.error('There is no redis-server. Install it, or set REDIS_URL.');
    process.exit(1);
  });
  process.once('exit', () => child.kill());
}

/** Starts a node, and again when it dies. */
async function startNode(proxy: RoundRobin): Promise<void> {
  const env = { ...process.env, DECORUM_SECRET, REDIS_URL: REDIS_URL ?? `redis://127.0.0.1:${REDIS_PORT}`, PORT: '0' };
  const child = fork(NODE, { env });
  children.add(child);
  let port = 0;
  child.once('exit', () => {
    children.delete(child);
    proxy.remove(port);
    if (!isClosing) void startNode(proxy);
  });
  ({ port } = ((await once(child, 'message')) as [AddressInfo])[0]);
  proxy.add(port);
}

if (REDIS_URL === undefined) startRedis();
const proxy = new RoundRobin();
await Promise.all(Array.from({ length: NODES }, () => startNode(proxy)));
console.log(`Serving ${await proxy.listen(Number(PORT))}/mcp`);
console.log('Kill a node with `kill -9`: its clients go on with the others.');

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    isClosing = true;
    const ended = [...children].map((child) => once(child, 'exit'));
    // Ctrl+C has reached them already
    for (const child of children) child.kill('SIGTERM');
    await Promise.all(ended);
    process.exit();
  });
}

/**
 * `npm run bench:stores`: measures what it costs to read and to change a record in each store: in memory, in files, and in
 * a Redis of this machine. A change reads, compares and stores. Records have 500 characters, and are sealed.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import { MemoryKeyValueStore } from '@decorum/core';
import { KeyRing } from '@decorum/core/internal';
import { fileKeyValueStore } from '@decorum/files';
import { redis } from '@decorum/redis';

const TEXT = 'x'.repeat(500);
const PORT = 16_399;
const RING = new KeyRing([randomBytes(32)], Infinity, () => {});

/** @typedef {import('@decorum/core').KeyValueStore} Store */

/** @param {Store} store @param {string} key */
async function read(store, key) {
  const sealed = (await store.get(key)) ?? undefined;
  return { sealed, text: sealed && RING.open(sealed, key) };
}

/** @param {Store} store @param {string} key */
async function change(store, key) {
  const { sealed: expected } = await read(store, key);
  await store.set(key, RING.seal(TEXT, key), { ttlMs: 60_000, expected });
}

/**
 * Microseconds of each call, one after another, and of each of 32 at a time.
 * @param {(at: number) => Promise<unknown>} call @param {number} times
 */
async function measure(call, times) {
  const alone = performance.now();
  for (let at = 0; at < times; at += 1) await call(at % 32);
  const together = performance.now();
  for (let at = 0; at < times; at += 32) await Promise.all(Array.from({ length: 32 }, (_, n) => call(n)));
  const end = performance.now();
  return [together - alone, end - together].map((ms) => ((ms / times) * 1000).toFixed(1).padStart(8)).join(' ');
}

/** @param {string} name @param {Store} store @param {number} times */
async function bench(name, store, times) {
  await store.open?.();
  for (const [what, run] of /** @type {const} */ ([
    ['change', change],
    ['read', read],
  ])) {
    await measure(async (at) => await run(store, `memory:${at}`), 320);
    console.log(
      `${name.padEnd(8)} ${what.padEnd(8)} ${await measure(async (at) => await run(store, `memory:${at}`), times)}`,
    );
  }
  await store.close?.();
}

console.log('µs of each           alone 32 at once');
await bench('memory', new MemoryKeyValueStore(), 32_000);
const folder = mkdtempSync(join(tmpdir(), 'decorum-bench-'));
await bench('files', fileKeyValueStore(folder), 3200);
rmSync(folder, { recursive: true });
const server = spawn('redis-server', ['--port', String(PORT), '--save', '']);
const engine = redis(`redis://localhost:${PORT}`);
await engine.open?.({ name: 'bench', seal: (text) => text, open: (text) => text, report() {} });
for (let isUp = false; !isUp; await wait(20))
  isUp = await Promise.resolve(engine.ping?.()).then(
    () => true,
    () => false,
  );
await bench('redis', engine.store, 16_000);
await engine.close?.();
server.kill();

/**
 * Measures stores of tasks with 11,000 tasks, of which 1,000 are open: memory of a task, and the time and CPU of calls.
 * `node --expose-gc bench/dist/task-stores.js`
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { redis } from '@decorum/redis';
import { fileTasks, memoryTasks, type StoredTask, type TaskStore } from '@decorum/tasks';

import { RedisProcess } from './cluster/redis-process.js';

const TASKS = 11_000;
const OPEN = 1000;
const CHARACTERS = 1000;
const AT_ONCE = 100;

const SERVER = { name: 'bench', report: (error: unknown) => console.error(error) };

/** Different for each task, so that texts share no memory. */
const textOf = (n: number): string => Buffer.alloc(CHARACTERS, `${n} `).toString('latin1');

const task = (n: number, version = 1): StoredTask => ({
  id: `${n}-uuid-of-usual-length-aaaaaaaaaa`,
  version,
  owner: `owner ${n % 10}`,
  isOpen: n < OPEN,
  createdAt: 1_700_000_000_000 + n,
  expiresAt: Date.now() + 3_600_000,
  holder: n < OPEN ? 'process' : undefined,
  text: textOf(n),
});

const numbersTo = (count: number) => Array.from({ length: count }, (_, n) => n);

function heap(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

async function fill(store: TaskStore): Promise<void> {
  for (let n = 0; n < TASKS; n += AT_ONCE) {
    await Promise.all(numbersTo(AT_ONCE).map(async (m) => await store.set(task(n + m))));
  }
}

/** Prints the microseconds that a call takes, and those of CPU in this process. */
async function measure(name: string, count: number, call: (n: number) => unknown): Promise<void> {
  for (let n = 0; n < count / 10; n++) await call(n);
  const [before, begun] = [process.cpuUsage(), performance.now()];
  for (let n = 0; n < count; n++) await call(n);
  const { user, system } = process.cpuUsage(before);
  const micros = ((performance.now() - begun) * 1000) / count;
  console.log(`  ${name}: ${micros.toFixed(1)} µs, ${((user + system) / count).toFixed(1)} µs of CPU`);
}

async function measureCalls(store: TaskStore, count: number): Promise<void> {
  const { id } = task(7);
  await measure('get', count, () => store.get(id));
  await measure('count', count, () => store.count('owner 3'));
  await measure('list of 50', count / 10, () => store.list('owner 3', { limit: 50 }));
  await measure('openTasks of 1,000', count / 50, () => store.openTasks());
  let version = 1;
  await measure('set', count / 10, () => store.set(task(7, ++version)));
  const begun = performance.now();
  for (let round = 2; round <= 11; round++) {
    await Promise.all(numbersTo(AT_ONCE).map(async (n) => await store.set(task(1000 + n, round))));
  }
  console.log(`  1,000 sets, ${AT_ONCE} at once: ${Math.round(performance.now() - begun)} ms`);
}

async function memory(): Promise<void> {
  const store = memoryTasks();
  const before = heap();
  await fill(store);
  console.log(`memoryTasks: ${Math.round((heap() - before) / TASKS)} bytes a task, its text of ${CHARACTERS} included`);
  await measureCalls(store, 20_000);
  await store.close?.();
}

async function files(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-tasks-'));
  const filled = fileTasks(folder);
  await filled.open?.(SERVER);
  await fill(filled);
  await filled.close?.();
  const before = heap();
  const begun = performance.now();
  const store = fileTasks(folder);
  await store.open?.(SERVER);
  console.log(`fileTasks: opened in ${Math.round(performance.now() - begun)} ms`);
  console.log(`  ${Math.round((heap() - before) / TASKS)} bytes a task`);
  let n = 0;
  await measure('get from the disk', 2000, () => store.get(task(n++).id));
  await measureCalls(store, 5000);
  await store.close?.();
  rmSync(folder, { recursive: true });
}

async function overRedis(): Promise<void> {
  const server = await RedisProcess.start();
  const { port } = server;
  const key = randomBytes(32);
  const engine = redis({ port });
  engine.open?.({
    ...SERVER,
    seal: (text) => {
      const iv = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', key, iv);
      return Buffer.concat([iv, cipher.update(text), cipher.final()]).toString('base64url');
    },
    open: (sealed) => {
      const bytes = Buffer.from(sealed, 'base64url');
      return createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12)).update(bytes.subarray(12)).toString();
    },
  });
  const used = async () => await server.figure('used_memory');
  const before = await used();
  await fill(engine.tasks);
  console.log(`redis: ${Math.round(((await used()) - before) / TASKS)} bytes of Redis a task`);
  await measureCalls(engine.tasks, 5000);
  await engine.close?.();
  await server.stop();
}

await memory();
await files();
await overRedis();

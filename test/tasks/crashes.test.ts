// Tasks whose processes are killed or stopped at any moment, over files and over Redis. `TASK_ROUNDS=20 TASKS=1000` is
// the full number.
import { setTimeout as wait } from 'node:timers/promises';

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';

import { RedisProcess } from '../../bench/dist/cluster/redis-process.js';
import { Desk, TaskNode } from './task-node.js';

const ROUNDS = Number(process.env['TASK_ROUNDS'] ?? 3);
const TASKS = Number(process.env['TASKS'] ?? 100);
const PACE_MS = 40;
/** A store that takes longer than the lease counts as failing, and one in files has nobody who waits for its end. */
const LEASE_MS = { files: 5000, Redis: 1500 };
const KEY = /^[\w-]{43}$/;

let redis: RedisProcess;
let desk: Desk;
const nodes: TaskNode[] = [];

beforeAll(async () => {
  redis = await RedisProcess.start();
});
beforeEach(async () => {
  desk = new Desk();
  await redis.command('FLUSHALL');
});
afterEach(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.end()));
  desk.remove();
});
afterAll(async () => {
  await redis.stop();
});

type Kind = 'files' | 'Redis';

async function start(kind: Kind): Promise<TaskNode> {
  const { folder, notes } = desk;
  const url = kind === 'Redis' ? { redis: redis.url } : {};
  const node = await TaskNode.start({ ...url, folder, notes, leaseMs: LEASE_MS[kind] });
  nodes.push(node);
  return node;
}

const textOf = (result: object | undefined) =>
  (result as { content: { text: string }[] } | undefined)?.content[0]?.text;

/** What was reported, but that a process was too busy, or stood still. */
const failures = () =>
  desk
    .noted('error')
    .map((words) => words.join(' '))
    .filter((text) => !text.includes('did not settle'));

/** How often each effect of a task has begun. */
function begun(name: string): readonly number[] {
  const steps = desk.noted('begin').flatMap(([whose, step]) => (whose === name ? [Number(step)] : []));
  return [1, 2, 3, 4].map((step) => steps.filter((each) => each === step).length);
}

describe.each(['files', 'Redis'] satisfies Kind[])('tasks in %s', (kind) => {
  it(`are completed by the next process after a kill, ${ROUNDS} times`, async () => {
    const node = await start(kind);
    for (let round = 1; round <= ROUNDS; round += 1) {
      const name = `round-${round}`;
      const taskId = await node.begin('steps', { name, paceMs: PACE_MS });
      const killMs = Math.random() * 8 * PACE_MS;
      const followed = node.follow(taskId);
      await wait(killMs);
      await node.end();
      await node.restart();
      const { end, answered } = await followed;
      const told = `${kind}, round ${round}, killed after ${killMs.toFixed(1)} ms`;
      expect([told, end.status, textOf(end.result)]).toEqual([told, 'completed', `${name} true`]);
      // the answer may have arrived although the process died before it said so
      expect([told, [[], ['question-1']].some((keys) => keys.join() === answered.join())]).toEqual([told, true]);
      const counts = begun(name);
      // only one was under way
      expect([told, counts.filter((count) => count === 1).length >= 3, Math.max(...counts) <= 2]).toEqual([
        told,
        true,
        true,
      ]);
      // all runs have got the same result of each effect
      const seen = new Map(desk.noted('seen').map(([whose, step, key]) => [`${whose} ${step} ${key}`, key]));
      const own = [...seen].filter(([text]) => text.startsWith(`${name} `)).map(([, key]) => key);
      expect([told, own]).toEqual([told, Array(4).fill(expect.stringMatching(KEY))]);
    }
    expect(failures()).toEqual([]);
  });

  it(`are not lost when their process is killed while it runs ${TASKS} of them`, async () => {
    const node = await start(kind);
    const names = Array.from({ length: TASKS }, (_, n) => `task-${n}`);
    const ids = await Promise.all(names.map((name) => node.begin('short', { name, paceMs: 1000 })));
    await wait(Math.random() * 1000);
    await node.end();
    await node.restart();
    for (const [n, taskId] of ids.entries()) {
      const { end } = await node.follow(taskId);
      expect([end.status, textOf(end.result)]).toEqual(['completed', names[n]]);
    }
    const counts = new Map<string, number>();
    for (const [name = ''] of desk.noted('begin')) counts.set(name, (counts.get(name) ?? 0) + 1);
    expect(counts.size).toBe(TASKS);
    expect(Math.max(...counts.values())).toBeLessThanOrEqual(2);
    expect(failures()).toEqual([]);
  });

  it('are left for the next process by one that ends gracefully, which waits for none that sleeps', async () => {
    const node = await start(kind);
    const taskId = await node.begin('steps', { name: 'graceful', paceMs: 2500 });
    await desk.reaches('seen', 2);
    const answering = node.follow(taskId);
    await desk.reaches('seen', 3);
    await wait(100);
    expect(await node.end('SIGTERM')).toBeLessThan(4500);
    await node.restart();
    expect((await answering).end.status).toBe('completed');
    expect(begun('graceful')).toEqual([1, 1, 1, 1]);
  });
});

describe('two processes over one Redis', () => {
  it('end a task once, if one of them stands still for longer than its lease', async () => {
    const [first, second] = [await start('Redis'), await start('Redis')];
    const taskId = await first.begin('hold', { name: 'held', paceMs: 1000 });
    await desk.reaches('held', 1);
    first.signal('SIGSTOP');
    await desk.reaches('held', 2);
    first.signal('SIGCONT');
    await desk.reaches('lost', 1);
    expect(desk.noted('lost')).toEqual([['held', first.pid, expect.stringMatching(/^(LostTask|AbortError)$/), 'true']]);
    for (const node of [second, first]) {
      const { end } = await node.follow(taskId);
      expect([end.status, textOf(end.result)]).toEqual(['completed', second.pid]);
    }
    expect(desk.noted('ran')).toEqual([['held', second.pid]]);
    expect(failures()).toEqual([]);
  });
});

import { setTimeout as wait } from 'node:timers/promises';

import { Gate } from '../cluster/gate.js';
import { Nodes } from '../cluster/nodes.js';
import { RedisProcess } from '../cluster/redis-process.js';
import { RoundRobin } from '../cluster/round-robin.js';
import { type Act, ACTS, leaveBehind } from './acts.js';
import { Lost } from './call.js';
import { Disturber } from './disturber.js';
import { HTTP_ACTS } from './http-acts.js';
import type { HttpClient } from './http-client.js';
import { Ledger } from './ledger.js';
import { REVISIONS, type Revision, textOf } from './messages.js';
import type { Options } from './options.js';
import { Random } from './random.js';
import { SturdyClient } from './sturdy-client.js';
import { actOnce } from './worker.js';

const SESSION_MS = 8000;
const KEEP_ALIVE_MS = 1000;
/** Longer than the partition. */
const EVENTS_MS = 15_000;
/** Milliseconds within which Redis must have forgotten all clients. */
const IDLE_MS = 60_000;
/** Milliseconds within which an update arrives. */
const UPDATE_MS = 5000;
/** Bytes by which the memory of an idle Redis varies. */
const NOISE = 512 * 1024;

/** Requires updates, except those of a node that was killed at that moment. */
const subscribeTo = (disturber: Disturber): Act => ({
  name: 'subscribe',
  weight: 2,
  async run(client, random) {
    const uri = `soak://${client.name}-${random.int(1, 1_000_000)}`;
    const { updated, end } = await client.follow(uri);
    const update = updated().then(
      () => true,
      () => false,
    );
    for (let isUpdated = false; !isUpdated;) {
      const text = textOf(await client.tool('touch', { uri }).answer);
      client.require(text === 'done', `"touch" returned "${text}"`);
      isUpdated = await Promise.race([update, wait(UPDATE_MS, false, { ref: false })]);
      client.require(isUpdated || disturber.isFelt, 'an update was lost');
    }
    await end();
  },
});

const SHARED = new Set([
  'call',
  'list, read, complete',
  'fail',
  'progress',
  'ask',
  'cancel',
  'flood',
  'resume',
  'come back',
]);

interface Run {
  readonly ledger: Ledger;
  readonly disturber: Disturber;
  readonly url: URL;
  readonly seed: string;
}

/** One client: it connects, acts, and leaves or vanishes. */
async function visit(name: string, revision: Revision, run: Run): Promise<void> {
  const { ledger, disturber, url, seed } = run;
  const random = new Random(`${seed} ${name}`);
  const client = new SturdyClient({ name, revision, ledger }, url, disturber);
  const shared = ([...ACTS, ...HTTP_ACTS] as readonly Act<HttpClient>[]).filter((act) => SHARED.has(act.name));
  const acts = [...shared, subscribeTo(disturber)];
  try {
    await client.begin();
    for (let left = random.int(1, 5); left > 0; left -= 1) await actOnce(client, acts, { random, ledger });
    if (random.chance(0.6)) await client.leave();
    else await leaveBehind(client, random);
  } catch (error) {
    client.vanish();
    if (!(error instanceof Lost)) ledger.fail(name, (error as Error).message);
  }
}

interface Idle {
  readonly keys: number;
  readonly memory: number;
}

async function idleOf(redis: RedisProcess, keys = Infinity): Promise<Idle> {
  const deadline = performance.now() + IDLE_MS;
  let found = Number(await redis.command('DBSIZE'));
  while (found > keys && performance.now() < deadline) {
    await wait(500);
    found = Number(await redis.command('DBSIZE'));
  }
  return { keys: found, memory: await redis.figure('used_memory_dataset') };
}

/** Prints the outcome. Returns the number of failures. */
function report({ ledger, disturber }: Run, before: Idle, after: Idle): number {
  const { calls, answered, abandoned, repeated, postponed, failed, failures } = ledger;
  const lines = {
    requests: calls,
    'answered once': answered,
    'cancelled or cut by the client': abandoned,
    'repeated once, because a node was killed': repeated,
    'repeated after a 503': postponed,
    ...disturber.counts,
    'keys of Redis': `${before.keys} before, ${after.keys} after`,
    'memory of its data': `${before.memory} bytes before, ${after.memory} after`,
    failures: failed,
  };
  console.log(
    Object.entries(lines)
      .map(([what, value]) => `${what.padEnd(42)} ${value}`)
      .join('\n'),
  );
  console.log(`acts: ${[...ledger.acts].map(([name, count]) => `${name} ${count}`).join(', ')}`);
  for (const failure of failures) console.error(failure);
  const isLarger = after.keys > before.keys || after.memory > before.memory + NOISE;
  if (isLarger) console.error('missed: Redis keeps what it should have forgotten');
  return failed + Number(isLarger);
}

/** Lets several nodes share one Redis, and kills them one after the other. */
export async function soakNodes({ minutes, seed, nodes: count }: Options): Promise<void> {
  console.log(`soak of ${minutes} minutes, ${count} nodes, seed ${seed}`);
  const redis = await RedisProcess.start(true);
  const gate = await Gate.start(redis.port);
  const settings = { keepAliveMs: KEEP_ALIVE_MS, sessionIdleMs: SESSION_MS, eventsMs: EVENTS_MS };
  const nodes = await Nodes.start(count, { redis: `redis://127.0.0.1:${gate.port}`, ...settings });
  const proxy = await RoundRobin.start(nodes.ports);
  const disturber = new Disturber({ nodes, proxy, redis, gate });
  const ledger = new Ledger();
  const run = { ledger, disturber, url: proxy.url, seed };
  // each node has written that it is there
  while (Number(await redis.command('DBSIZE')) < count) await wait(100);
  const before = await idleOf(redis);
  const endsAt = performance.now() + minutes * 60_000;
  const loop = async (revision: Revision) => {
    for (let round = 0; performance.now() < endsAt; round += 1) await visit(`${revision}-${round}`, revision, run);
  };
  await Promise.all([...REVISIONS.map(loop), disturber.run(endsAt)]);
  ledger.balance();
  console.error('the run is over, waiting until Redis is idle …');
  const failures = report(run, before, await idleOf(redis, before.keys));
  await proxy.close();
  await nodes.stop();
  await gate.close();
  await redis.stop();
  if (failures > 0) process.exitCode = 1;
}

import { constants, setPriority } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

import { Child } from '../child.js';
import { quantile } from '../slices.js';
import { Attacker } from './attacker.js';
import { CALL, Client } from './client.js';
import { type Flood, FLOODS } from './floods.js';
import { type Answer, PIPES } from './host.js';

/**
 * The limits: bytes by which a flood may grow the process, and milliseconds that other clients may wait for a response.
 */
export const MAX_GROWTH = 512 * 1024 * 1024;
export const MAX_WAIT_MS = 100;

/** The effects of a flood. */
export interface Damage {
  readonly flood: string;
  readonly requests: number;
  /** Bytes that the attacker sent. */
  readonly sent: number;
  /** Growth of the server's resident memory in bytes: the maximum, and after the attacker has left. */
  readonly most: number;
  readonly after: number;
  /** How long other clients waited for responses, in milliseconds. */
  readonly waits: readonly number[];
}

/** Warm-up calls before the flood. */
const WARM_UP = 5000;
const SAMPLE_MS = 100;
/** A server that stops reading uses no CPU time, so a flood lasts at most this factor times `seconds` of real time. */
const PATIENCE = 4;
/** A flood ends early once it has grown the process by this many bytes. */
const ENOUGH = 2 * MAX_GROWTH;

/**
 * Floods a fresh server, from one address and with default options.
 * @param seconds CPU time of the server. On a busy machine, the flood takes longer but isn't smaller
 */
async function flood({ name, run }: Flood, seconds: number): Promise<Damage> {
  const child = new Child({ file: 'prices/host-process.js', flags: ['--expose-gc'], pipes: PIPES });
  const { urls } = await child.ask<Answer>({ kind: 'open' });
  const resident = async () => (await child.ask<Answer>({ kind: 'resident' })).resident ?? NaN;
  const cpu = async () => ((await child.ask<Answer>({ kind: 'cpu' })).micros ?? NaN) / 1e6;
  const url = urls?.target ?? '';
  // warm up, so that compiling the server's code isn't measured
  const first = new Client(url);
  for (let count = 0; count < WARM_UP; count += 1) await first.send(CALL);
  first.close();
  const witness = new Worker(new URL('witness.js', import.meta.url), { workerData: url });
  await wait(1000);
  const begin = await resident();
  const attacker = new Attacker(url);
  // in production, the other client would have its own core
  prioritize(constants.priority.PRIORITY_LOW);
  const running = run(attacker);
  const last = performance.now() + PATIENCE * seconds * 1000;
  const spent = (await cpu()) + seconds;
  let most = begin;
  while ((await cpu()) < spent && performance.now() < last && most - begin < ENOUGH) {
    await wait(SAMPLE_MS);
    most = Math.max(most, await resident());
  }
  attacker.stop();
  await running;
  prioritize(constants.priority.PRIORITY_NORMAL);
  const waits = await new Promise<number[]>((resolve) => {
    witness.once('message', resolve);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    witness.postMessage('stop');
  });
  attacker.close();
  await wait(1000);
  await child.ask<Answer>({ kind: 'memory' });
  const after = (await resident()) - begin;
  child.kill();
  await witness.terminate();
  return { flood: name, requests: attacker.requests, sent: attacker.bytes, most: most - begin, after, waits };
}

/** Sets the priority of this thread. Ignores errors, because not every user may raise it again. */
function prioritize(priority: number): void {
  try {
    setPriority(priority);
  } catch {}
}

/** Runs the floods whose name contains `only`, one after the other. */
export async function floodAll(only: string, seconds: number, report: (damage: Damage) => void): Promise<void> {
  for (const each of FLOODS.filter(({ name }) => name.includes(only))) report(await flood(each, seconds));
}

const mib = (bytes: number): string => (bytes / (1024 * 1024)).toFixed(0);

/** The header of the table. */
export const DAMAGE_HEAD =
  '| flood | requests | MiB sent | grows by, MiB | afterwards | others wait, p50 ms | p99 ms |\n' +
  '| --- | --: | --: | --: | --: | --: | --: |';

/** A row of the table. */
export function damageRow({ flood: name, requests, sent, most, after, waits }: Damage): string {
  const ms = [0.5, 0.99].map((share) => quantile(waits, share).toFixed(1));
  return `| ${[name, requests.toLocaleString('en'), mib(sent), mib(most), mib(after), ...ms].join(' | ')} |`;
}

/** Whether a flood stays within the limits. */
export const isHarmless = ({ most, waits }: Damage): boolean =>
  most <= MAX_GROWTH && quantile(waits, 0.99) <= MAX_WAIT_MS;

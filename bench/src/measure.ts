import { Child } from './child.js';
import type { Job, LoadAnswer, LoadOrder } from './load.js';
import type { Usage, UsageQuestion } from './usage.js';

/** A server under measurement. */
export interface Target {
  readonly child: Child;
  readonly url: string;
}

/** What one round of calls cost. */
export interface Round {
  readonly microsPerCall: number;
  readonly requestBytes: number;
  readonly answerBytes: number;
}

/** What is left after many calls, per call. */
export interface Growth {
  readonly heapBytesPerCall: number;
  readonly rssBytesPerCall: number;
}

/** How many calls are made. */
export interface Amount {
  readonly warmUp: number;
  readonly calls: number;
}

/** Starts a server and waits until it listens. */
export async function startTarget(file: string, env: Readonly<Record<string, string>>): Promise<Target> {
  const child = new Child({ file, cpu: SERVER_CPU, flags: SERVER_FLAGS, env: { ...env, PORT: '0' } });
  const { url } = await child.next<{ url: string }>();
  return { child, url };
}

export const SERVER_CPU = 0;
export const LOAD_CPU = 1;
/** Memory can only be read after a collection that the process is asked for. */
export const SERVER_FLAGS: readonly string[] = ['--expose-gc'];

const ask = (target: Target, question: UsageQuestion) => target.child.ask<Usage>(question);

async function order(load: Child, what: LoadOrder): Promise<{ requestBytes: number; answerBytes: number }> {
  const answer = await load.ask<LoadAnswer>(what);
  if (answer.error !== undefined) throw new Error(`load: ${answer.error}`);
  return answer;
}

/** Runs one round against a server: fresh connections, verified answers, some calls to warm up, then those that count. */
export async function measureRound(target: Target, load: Child, { job, amount }: Work): Promise<Round> {
  const sizes = await order(load, { kind: 'prepare', job });
  await order(load, { kind: 'run', calls: amount.warmUp });
  const before = await ask(target, 'usage');
  await order(load, { kind: 'run', calls: amount.calls });
  const after = await ask(target, 'usage');
  await order(load, { kind: 'finish' });
  return { ...sizes, microsPerCall: (after.cpuMicros - before.cpuMicros) / amount.calls };
}

/** What to do against a server. */
export interface Work {
  readonly job: Job;
  readonly amount: Amount;
}

/** Looks at what many calls leave in memory, between two full collections. */
export async function measureGrowth(target: Target, load: Child, { job, amount }: Work): Promise<Growth> {
  await order(load, { kind: 'prepare', job });
  await order(load, { kind: 'run', calls: amount.warmUp });
  const before = await ask(target, 'usage after collection');
  await order(load, { kind: 'run', calls: amount.calls });
  const after = await ask(target, 'usage after collection');
  await order(load, { kind: 'finish' });
  return {
    heapBytesPerCall: (after.heapBytes - before.heapBytes) / amount.calls,
    rssBytesPerCall: (after.rssBytes - before.rssBytes) / amount.calls,
  };
}

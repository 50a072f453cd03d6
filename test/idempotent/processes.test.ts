// Repetitions that race over two processes and Redis, and processes that are killed at any moment. `KEYED_CALLS=10000
// KEYED_KILLS=20` is the full number.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';

import { RedisProcess } from '../../bench/dist/cluster/redis-process.js';
import { statelessHeaders } from '../support/http-transports.js';
import { asked } from '../support/stateless-post.js';
import { KEY } from './till.js';

const PROGRAM = fileURLToPath(new URL('../../bench/dist/idempotent/node.js', import.meta.url));
const CALLS = Number(process.env['KEYED_CALLS'] ?? 600);
const KILLS = Number(process.env['KEYED_KILLS'] ?? 2);
/** Repetitions of each call. */
const REPETITIONS = 20;
const AT_A_TIME = 100;

const folder = mkdtempSync(join(tmpdir(), 'keyed-'));
const notes = join(folder, 'notes');
let redis: RedisProcess;

beforeAll(async () => {
  redis = await RedisProcess.start();
});
beforeEach(() => writeFileSync(notes, ''));
afterAll(async () => {
  await redis.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** The words of the notes of a kind. */
const noted = (kind: string): readonly (readonly string[])[] =>
  readFileSync(notes, 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .flatMap(([first, ...words]) => (first === kind ? [words] : []));

interface Answer {
  readonly result?: { readonly content: readonly { readonly text: string }[] };
  readonly error?: { readonly message: string };
}

/** A process with the server. */
class Node {
  private child: ChildProcess | undefined;
  private url = '';

  async start(): Promise<this> {
    const env = { ...process.env, KEYED_NODE: JSON.stringify({ redis: redis.url, notes }) };
    this.child = fork(PROGRAM, [], { env, execArgv: [], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    const [{ url }] = (await once(this.child, 'message')) as [{ url: string }];
    this.url = url;
    return this;
  }

  async kill(): Promise<void> {
    const { child } = this;
    if (child === undefined) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  /** Calls a tool. Rejects if the process dies before it answers, or could not reach Redis. */
  async call(name: string, key: string, paceMs: number): Promise<string> {
    const message = asked(1, 'tools/call', { name, arguments: { paceMs } }, { [KEY]: key });
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const sent = {
      method: 'POST',
      headers: { ...headers, ...statelessHeaders(message) },
      body: JSON.stringify(message),
    };
    const answer = (await (await fetch(this.url, sent)).json()) as Answer;
    if (answer.error?.message.includes('Try again later')) throw new Error(answer.error.message);
    return answer.result?.content[0]?.text ?? JSON.stringify(answer);
  }
}

/** The calls in random order: each key as often as it is repeated. */
function shuffled(prefix: string): string[] {
  const keys = Array.from({ length: CALLS }, (_, n) => `${prefix}-${n % Math.ceil(CALLS / REPETITIONS)}`);
  return keys
    .map((key) => [Math.random(), key] as const)
    .sort(([a], [b]) => a - b)
    .map(([, key]) => key);
}

/** Calls a tool with all keys, some at a time, on any of the nodes. A client repeats what gets no answer. */
async function race(nodes: readonly Node[], name: string, paceMs: number): Promise<Map<string, Set<string>>> {
  const answers = new Map<string, Set<string>>();
  const waiting = shuffled(name);
  const client = async () => {
    for (let key = waiting.pop(); key !== undefined; key = waiting.pop()) {
      let answer: string | undefined;
      while (answer === undefined) {
        const node = nodes[Math.floor(Math.random() * nodes.length)]!;
        answer = await node.call(name, key, paceMs).catch(() => undefined);
        if (answer === undefined) await wait(20);
      }
      answers.set(key, (answers.get(key) ?? new Set()).add(answer));
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, client));
  return answers;
}

/** The answers of calls with one key that differ. */
const different = (answers: Map<string, Set<string>>) =>
  [...answers.values()].filter(({ size }) => size > 1).map((each) => [...each]);

describe('repetitions over two processes and Redis', () => {
  it(`have one outcome each, and one run: ${CALLS} of them`, async () => {
    const nodes = [await new Node().start(), await new Node().start()];
    const answers = await race(nodes, 'plain', 5);
    await Promise.all(nodes.map((node) => node.kill()));
    expect(different(answers)).toEqual([]);
    expect(noted('ran').flat().sort()).toEqual([...answers.values()].flatMap((given) => [...given]).sort());
    expect(noted('error')).toEqual([]);
  });

  it(`have one outcome and one effect each, although processes are killed ${KILLS} times`, async () => {
    const nodes = [await new Node().start(), await new Node().start()];
    const killing = (async () => {
      for (let n = 0; n < KILLS; n += 1) {
        await wait(Math.random() * 500);
        const node = nodes[n % 2]!;
        await node.kill();
        await node.start();
      }
    })();
    const answers = await race(nodes, 'once', 200);
    await killing;
    expect(different(answers)).toEqual([]);
    // what a service does that honors keys: one payment for each
    const effects = new Set(noted('paid').map(([key]) => key));
    const given = [...answers.values()].flatMap((each) => [...each]);
    expect([...effects].sort()).toEqual([...new Set(given)].sort());
    expect(given).toHaveLength(answers.size);
    // only what was under way when its process died has begun again
    const begun = noted('begin').length;
    expect(begun).toBeLessThanOrEqual(answers.size + KILLS * AT_A_TIME);
    process.stderr.write(
      `${answers.size} keys, ${CALLS} calls, ${KILLS} kills: ${noted('run').length} runs, ${begun} effects begun
`,
    );
    await Promise.all(nodes.map((node) => node.kill()));
  });
});

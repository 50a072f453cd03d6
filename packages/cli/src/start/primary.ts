/** The part of `decorum start --workers` that runs in the primary. */
import cluster, { type Worker } from 'node:cluster';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { clusterHub } from '@decorum/http/cluster';
import { EXIT } from 'create-decorum';

import { lines } from '../dev/lines.js';
import { type EndMessage, SIGNALS } from './end-message.js';
import { RANDOM_SECRET } from './random-secret.js';

/** Times in a row that workers may end before they serve. */
const MAX_FAILED_STARTS = 6;

/** Milliseconds after which the end of a worker is no reason to wait longer before the next start. */
const STABLE_MS = 10_000;

const MIN_DELAY_MS = 100;
const MAX_DELAY_MS = 10_000;

/** Milliseconds for the last output of a worker to arrive. */
const OUTPUT_MS = 1000;

const PROGRAM = fileURLToPath(new URL('../../bin/decorum.js', import.meta.url));

/** One of the workers, and those that replace it. */
interface Slot {
  /** As in the output, starting at 1. */
  readonly number: number;
  worker: Worker | undefined;
  serves: boolean;
  /** How many times in a row a worker has ended soon after its start. */
  hasty: number;
}

/**
 * Forks workers that run the same command, and replaces those that end.
 * @param count number of workers
 * @param args arguments of the command
 */
export function serveWithWorkers(count: number, args: readonly string[]): void {
  shareSecret();
  clusterHub();
  cluster.setupPrimary({ exec: PROGRAM, args: [...args], stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  new Workers(count).start();
}

const say = (line: string) => void process.stderr.write(`${line}\n`);

/** Creates a secret for the workers if the user has none. */
function shareSecret(): void {
  if (process.env['DECORUM_SECRET'] !== undefined) return;
  process.env[RANDOM_SECRET] = randomBytes(32).toString('base64');
  say(
    'DECORUM_SECRET is not set, so the workers share a random one. What it seals, such as requestState, becomes invalid when this command ends.',
  );
}

/** The workers of a command. */
class Workers {
  private readonly slots: readonly Slot[];
  private isServing = false;
  private isEnding = false;
  private failedStarts = 0;
  private exitCode: number = EXIT.done;

  constructor(count: number) {
    this.slots = Array.from({ length: count }, (_none, index) => ({
      number: index + 1,
      worker: undefined,
      serves: false,
      hasty: 0,
    }));
  }

  /** Starts one worker, and the others once it serves: a mistake of the program is then printed only once. */
  start(): void {
    for (const signal of SIGNALS) process.on(signal, () => this.end(signal));
    this.fork(this.slots[0] as Slot);
  }

  private fork(slot: Slot): void {
    if (this.isEnding) return;
    const worker = cluster.fork();
    const { stdout, stderr } = worker.process;
    const startedAt = Date.now();
    slot.worker = worker;
    slot.serves = false;
    if (stdout) lines(stdout, (line) => void process.stdout.write(named(slot, line)));
    if (stderr) lines(stderr, (line) => void process.stderr.write(named(slot, line)));
    worker.on('listening', () => {
      slot.serves = true;
      this.failedStarts = 0;
      if (this.isServing) return;
      this.isServing = true;
      for (const other of this.slots.slice(1)) this.fork(other);
    });
    // it has ended before it read a message
    worker.on('error', () => {});
    worker.once('exit', (code, signal) => {
      slot.worker = undefined;
      if (!slot.serves) this.failedStarts += 1;
      slot.hasty = Date.now() - startedAt < STABLE_MS ? slot.hasty + 1 : 0;
      void this.ended(slot, { code, signal, output: once(worker.process, 'close') });
    });
  }

  private async ended(
    slot: Slot,
    { code, signal, output }: { code: number | null; signal: string | null; output: Promise<unknown> },
  ): Promise<void> {
    if (this.isEnding) {
      // a signal that arrives while a worker loads ends it, as asked
      if (signal === null) this.exitCode ||= code ?? EXIT.failed;
      return this.exitAfter(output);
    }
    if (this.failedStarts > (this.isServing ? MAX_FAILED_STARTS - 1 : 0)) {
      this.exitCode = code || EXIT.failed;
      this.end('SIGTERM');
      return this.exitAfter(output);
    }
    const delay = slot.hasty === 0 ? 0 : Math.min(MIN_DELAY_MS * 2 ** (slot.hasty - 1), MAX_DELAY_MS);
    const how = signal === null ? `exited with code ${code}` : `was ended by ${signal}`;
    say(`Worker ${slot.number} ${how}. Another one starts in ${delay} ms.`);
    await sleep(delay);
    this.fork(slot);
  }

  /** Lets all workers finish their calls. A second signal ends them at once. */
  private end(signal: NodeJS.Signals): void {
    const slots = this.slots.filter(({ worker }) => worker !== undefined);
    if (this.isEnding) {
      for (const { worker } of slots) worker?.process.kill('SIGKILL');
      for (const each of SIGNALS) process.removeAllListeners(each);
      process.kill(process.pid, signal);
      return;
    }
    this.isEnding = true;
    for (const { worker, serves } of slots) {
      worker?.send({ decorum: 'end', signal } satisfies EndMessage);
      // a message that arrives before the worker has loaded is lost
      if (!serves) worker?.process.kill(signal);
    }
    if (slots.length === 0) process.exit(this.exitCode);
  }

  /** Exits once the last worker has ended and its output is printed. */
  private async exitAfter(output: Promise<unknown>): Promise<void> {
    await Promise.race([output, sleep(OUTPUT_MS)]);
    if (this.slots.every(({ worker }) => worker === undefined)) process.exit(this.exitCode);
  }
}

/** Names the worker in a line of its output. JSON stays as it is: programs read it, and loggers add a process id. */
const named = ({ number }: Slot, line: string): string =>
  line.startsWith('{') ? `${line}\n` : `[${number}] ${line}\n`;

import type { Answer, Question } from './arena.js';
import type { Style } from './calls.js';
import type { PartName } from './parts.js';

/** One side of a comparison, as seen by the process that makes the load. */
export interface Entrant {
  /** Verifies an answer, and gets ready for many. */
  prepare(): Promise<void>;
  /** Makes calls. Gives the microseconds of CPU that they took in the measured process. */
  slice(calls: number): Promise<number>;
  finish(): Promise<void>;
}

/** The process that is measured. */
export interface Measured {
  ask(question: Question): Promise<Answer>;
}

const ANSWER_MS = 120_000;

/**
 * Waits without sleeping: to wake a sleeping process costs the process that wakes it, which is the one under
 * measurement, and the faster it answers the more often.
 */
async function awake<T>(done: Promise<T>): Promise<T> {
  let spinning = true;
  const spin = () => void (spinning && setImmediate(spin));
  spin();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`not all calls were answered in ${ANSWER_MS} ms`)), ANSWER_MS);
  });
  return await Promise.race([done, late]).finally(() => {
    spinning = false;
    clearTimeout(timer);
  });
}

/** The microseconds of CPU that the measured process needs for some work. */
export async function costOf(measured: Measured, work: () => Promise<unknown>): Promise<number> {
  const before = (await measured.ask({ kind: 'cpu' })).micros ?? NaN;
  await awake(work());
  return ((await measured.ask({ kind: 'cpu' })).micros ?? NaN) - before;
}

/** Requests and answers that are made in the measured process itself, without a network. */
export class InProcessEntrant implements Entrant {
  constructor(
    private readonly measured: Measured,
    private readonly part: PartName,
    private readonly style: Style,
  ) {}

  async prepare(): Promise<void> {
    await this.slice(2);
  }

  async slice(calls: number): Promise<number> {
    const { micros = NaN } = await this.measured.ask({ kind: 'run', part: this.part, style: this.style, calls });
    return micros;
  }

  async finish(): Promise<void> {}
}

/** What one start says of one line. */
export interface Sample {
  /** Of a call in microseconds, of a process in milliseconds, or bytes of heap. */
  readonly cost: number;
  /** Of the limit, where there is one. */
  readonly limit?: number;
  /** Of the limit on the bytes that the server gets. */
  readonly sameBytes?: number;
}

/** The samples of one start, by the name of the line. */
export type Samples = ReadonlyMap<string, Sample>;

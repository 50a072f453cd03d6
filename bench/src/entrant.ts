import type { Answer, Question } from './arena.js';
import type { Style } from './calls.js';
import type { PartName } from './parts.js';

/** One side of a comparison, as seen by the process that generates the load. */
export interface Entrant {
  /** Opens connections and verifies a response. */
  prepare(): Promise<void>;
  /** Makes calls. Returns the microseconds of CPU time that they took in the measured process. */
  slice(calls: number): Promise<number>;
  finish(): Promise<void>;
}

/** The measured process. */
export interface Measured {
  ask(question: Question): Promise<Answer>;
}

const ANSWER_MS = 120_000;

/**
 * Waits without sleeping: waking a sleeping process costs CPU time in the process that wakes it, here the measured one.
 * A faster server would pay this cost more often.
 */
async function awake<T>(done: Promise<T>): Promise<T> {
  let spinning = true;
  const spin = () => void (spinning && setImmediate(spin));
  spin();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`Some calls got no response within ${ANSWER_MS} ms.`)), ANSWER_MS);
  });
  return await Promise.race([done, late]).finally(() => {
    spinning = false;
    clearTimeout(timer);
  });
}

/** Microseconds of CPU time that the measured process spends on some work. */
export async function costOf(measured: Measured, work: () => Promise<unknown>): Promise<number> {
  const before = (await measured.ask({ kind: 'cpu' })).micros ?? NaN;
  await awake(work());
  return ((await measured.ask({ kind: 'cpu' })).micros ?? NaN) - before;
}

/** Makes the requests in the measured process itself, without a network. */
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

/** The values of one line from one start. */
export interface Sample {
  /** Cost of a call in microseconds, of a process in milliseconds, or bytes of heap. */
  readonly cost: number;
  /** Cost of the limit, if there is one. */
  readonly limit?: number;
  /** Cost of the limit with the same requests as the server. */
  readonly sameBytes?: number;
}

/** Samples of one start by the name of the line. */
export type Samples = ReadonlyMap<string, Sample>;

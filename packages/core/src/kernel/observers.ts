import { isPromise } from '../protocol/maybe-promise.js';

/** A function around something that happens. It gets what happens, and the function that makes it happen. */
export type Around<Subject, End> = (subject: Subject, run: () => Promise<End>) => unknown;

/** A function of a plugin. */
export interface Observer<Subject, End> {
  readonly plugin: string;
  readonly observe: Around<Subject, End>;
}

/** What observers stand around. */
export interface Work<Value, End> {
  /** Does it, once. Never throws or rejects. */
  start(): Value | Promise<Value>;
  /** What observers learn of it. */
  end(value: Value, milliseconds: number): End;
  /** Called if an observer waits before it calls `run`, with a promise of the value. By default, returns the promise. */
  hold?(value: Promise<Value>): Value | Promise<Value>;
}

/**
 * Runs functions of plugins around something. They can't change or prevent it: it happens once, whatever they do, and
 * nobody waits for what they do afterwards. What is synchronous stays synchronous, if they call `run` before they wait
 * for anything.
 */
export class Observers<Subject, End> {
  /** Plugins that have failed. */
  private readonly failed = new Set<string>();

  /**
   * @param observers the first is the outermost
   * @param hook the name of the function, for errors
   */
  constructor(
    private readonly observers: readonly Observer<Subject, End>[],
    private readonly hook: string,
    private readonly report: (error: unknown) => void,
  ) {}

  /** Does something inside all observers, and returns its value. */
  around<Value>(subject: Subject, work: Work<Value, End>): Value | Promise<Value> {
    let value: Value | Promise<Value> | undefined;
    let answer: ((value: Value | Promise<Value>) => void) | undefined;
    let ended: Promise<End> | undefined;
    const start = (): Promise<End> => {
      if (ended) return ended;
      const began = performance.now();
      value = work.start();
      ended =
        value instanceof Promise
          ? value.then((late) => work.end(late, performance.now() - began))
          : Promise.resolve(work.end(value, performance.now() - began));
      answer?.(value);
      return ended;
    };
    this.run(0, subject, start);
    if (value !== undefined) return value;
    const late = new Promise<Value>((resolve) => {
      answer = resolve;
    });
    return work.hold ? work.hold(late) : late;
  }

  /** Runs one observer, with the next ones inside. */
  private run(at: number, subject: Subject, start: () => Promise<End>): Promise<End> {
    const observer = this.observers[at];
    if (observer === undefined) return start();
    let inside: Promise<End> | undefined;
    let begun: ((inside: Promise<End>) => void) | undefined;
    const next = () => {
      if (inside === undefined) {
        inside = this.run(at + 1, subject, start);
        begun?.(inside);
      }
      return inside;
    };
    const settle = () => {
      if (inside !== undefined) return;
      this.fail(observer, new Error('It ended without calling run().'));
      void next();
    };
    const fail = (error: unknown) => {
      this.fail(observer, error);
      void next();
    };
    try {
      const observing = observer.observe(subject, next);
      if (isPromise(observing)) observing.then(settle, fail);
      else settle();
    } catch (error) {
      fail(error);
    }
    return inside ?? new Promise((resolve) => (begun = resolve));
  }

  private fail({ plugin }: Observer<Subject, End>, error: unknown): void {
    if (this.failed.has(plugin)) return;
    this.failed.add(plugin);
    const problem = `The plugin "${plugin}" failed in \`${this.hook}\`. What it stands around isn't affected. Reported once.`;
    this.report(new Error(problem, { cause: error }));
  }
}

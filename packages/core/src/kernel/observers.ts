import { isPromise } from '../protocol/maybe-promise.js';

/** A function around something that happens. It gets what happens, and the function that makes it happen. */
export type Around<Subject, End> = (subject: Subject, run: () => Promise<End>) => unknown;

/** A function of a plugin. */
export interface Observer<Subject, End> {
  readonly plugin: string;
  readonly observe: Around<Subject, End>;
}

/** Something that observers stand around. It happens once. */
export abstract class Work<Value, End> {
  /** What has come of it. Undefined until it happens. */
  value: Value | Promise<Value> | undefined = undefined;
  private ending: Promise<End> | undefined = undefined;
  private resolveEnding: ((end: End | Promise<End>) => void) | undefined = undefined;
  private resolveValue: ((value: Value | Promise<Value>) => void) | undefined = undefined;

  /** What observers learn of it, once it has ended. */
  get end(): Promise<End> {
    return (this.ending ??= new Promise((resolve) => (this.resolveEnding = resolve)));
  }

  /** Does it. Never throws or rejects. */
  protected abstract start(): Value | Promise<Value>;

  /** Tells how it has ended. */
  protected abstract endOf(value: Value, milliseconds: number): End;

  /** Called if an observer waits before it calls `run`. */
  held(): Promise<Value> {
    return new Promise((resolve) => (this.resolveValue = resolve));
  }

  happen(): void {
    const began = performance.now();
    const value = (this.value = this.start());
    if (value instanceof Promise) this.settle(value.then((late) => this.endOf(late, performance.now() - began)));
    else this.settle(this.endOf(value, performance.now() - began));
    this.resolveValue?.(value);
  }

  private settle(end: End | Promise<End>): void {
    if (this.resolveEnding) this.resolveEnding(end);
    else this.ending = Promise.resolve(end);
  }
}

/**
 * Runs functions of plugins around something. They can't change or prevent it: it happens once, whatever they do, and
 * nobody waits for what they do afterwards. What is synchronous stays synchronous, if they call `run` before they wait
 * for anything. This runs for each call, so it creates as few closures and promises as possible.
 */
export class Observers<Subject, End> {
  private readonly failed = new Set<string>();
  private readonly failures: readonly ((error: unknown) => void)[];

  /**
   * @param observers the first is the outermost
   * @param hook the name of the function, for errors
   */
  constructor(
    private readonly observers: readonly Observer<Subject, End>[],
    private readonly hook: string,
    private readonly report: (error: unknown) => void,
  ) {
    this.failures = observers.map(({ plugin }) => this.fail.bind(this, plugin));
  }

  /** Does something inside all observers, and returns its value. */
  around<Value>(subject: Subject, work: Work<Value, End>): Value | Promise<Value> {
    this.enter(0, subject, work);
    return work.value ?? work.held();
  }

  /** Runs one observer, with the next ones inside. */
  private enter<Value>(at: number, subject: Subject, work: Work<Value, End>): void {
    const observer = this.observers[at];
    if (observer === undefined) return work.happen();
    let hasRun = false;
    const run = () => {
      if (!hasRun) {
        hasRun = true;
        this.enter(at + 1, subject, work);
      }
      return work.end;
    };
    const fail = this.failures[at] as (error: unknown) => void;
    const settle = () => {
      if (!hasRun) fail(new Error('It ended without calling run().'));
      void run();
    };
    try {
      const observing = observer.observe(subject, run);
      if (!isPromise(observing)) settle();
      // what `run` returns never rejects
      else if (hasRun) void (observing === work.end || observing.then(undefined, fail));
      else void Promise.resolve(observing).catch(fail).then(settle);
    } catch (error) {
      fail(error);
      void run();
    }
  }

  private fail(plugin: string, error: unknown): void {
    if (this.failed.has(plugin)) return;
    this.failed.add(plugin);
    const problem = `The plugin "${plugin}" failed in \`${this.hook}\`. What it stands around isn't affected. Reported once.`;
    this.report(new Error(problem, { cause: error }));
  }
}

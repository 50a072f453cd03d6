import { isPromise } from '../protocol/maybe-promise.js';

/** A function around something that happens. It gets what happens, and the function that makes it happen. */
export type Around<Subject, End> = (subject: Subject, run: () => Promise<End>) => unknown;

/** A function that is told how something has ended. */
export type Told<Subject, End> = (subject: Subject, end: End) => unknown;

/** A function of a plugin. */
export interface Hook<Call> {
  readonly plugin: string;
  /** The name of the function, for errors. */
  readonly name: string;
  readonly call: Call;
}

/** The functions of plugins for one kind of thing that happens. The first is the outermost. */
export interface Hooks<Subject, End> {
  readonly around: readonly Hook<Around<Subject, End>>[];
  readonly told: readonly Hook<Told<Subject, End>>[];
}

/** Something that observers stand around. It happens once. */
export abstract class Work<Value, End> {
  /** What has come of it. Undefined until it happens. */
  value: Value | Promise<Value> | undefined = undefined;
  private milliseconds = 0;
  private ending: End | Promise<End> | undefined = undefined;
  private promised: Promise<End> | undefined = undefined;
  private resolveEnding: ((end: End | Promise<End>) => void) | undefined = undefined;
  private resolveValue: ((value: Value | Promise<Value>) => void) | undefined = undefined;

  /** What observers learn of it. A promise until it has ended, and also afterwards if it was asynchronous. */
  get outcome(): End | Promise<End> {
    if (this.value === undefined) return this.end;
    return (this.ending ??= this.endOf(this.value as Value, this.milliseconds));
  }

  /** What observers learn of it, once it has ended. */
  get end(): Promise<End> {
    return (this.promised ??= this.promise());
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
    if (value instanceof Promise) this.ending = value.then((late) => this.endOf(late, performance.now() - began));
    else this.milliseconds = performance.now() - began;
    this.resolveEnding?.(this.outcome);
    this.resolveValue?.(value);
  }

  private promise(): Promise<End> {
    if (this.value !== undefined) return Promise.resolve(this.outcome);
    return new Promise((resolve) => (this.resolveEnding = resolve));
  }
}

/**
 * Runs functions of plugins around something. They can't change or prevent it: it happens once, whatever they do, and
 * nobody waits for what they do afterwards. What is synchronous stays synchronous, if they call `run` before they wait
 * for anything. This runs for each call, so it creates as few closures and promises as possible.
 */
export class Observers<Subject, End> {
  private readonly failed = new Set<string>();
  private readonly around: readonly Hook<Around<Subject, End>>[];
  private readonly told: readonly Hook<Told<Subject, End>>[];

  constructor(
    { around, told }: Hooks<Subject, End>,
    private readonly report: (error: unknown) => void,
  ) {
    this.around = around;
    this.told = told;
  }

  /** Does something inside all observers, and returns its value. */
  observe<Value>(subject: Subject, work: Work<Value, End>): Value | Promise<Value> {
    this.enter(0, subject, work);
    if (this.told.length > 0) {
      const { outcome } = work;
      if (outcome instanceof Promise) void outcome.then((end) => this.tell(subject, end));
      else this.tell(subject, outcome);
    }
    return work.value ?? work.held();
  }

  /** Runs one observer, with the next ones inside. */
  private enter<Value>(at: number, subject: Subject, work: Work<Value, End>): void {
    const hook = this.around[at];
    if (hook === undefined) return work.happen();
    let hasRun = false;
    const run = () => {
      if (!hasRun) {
        hasRun = true;
        this.enter(at + 1, subject, work);
      }
      return work.end;
    };
    try {
      const observing = hook.call(subject, run);
      if (isPromise(observing)) {
        const fail = (error: unknown) => this.fail(hook, error);
        // what `run` returns never rejects
        if (hasRun) return void (observing === work.end || observing.then(undefined, fail));
        const settle = () => {
          if (!hasRun) fail(new Error('It ended without calling run().'));
          void run();
        };
        return void Promise.resolve(observing).catch(fail).then(settle);
      }
    } catch (error) {
      this.fail(hook, error);
    }
    // it does not want to know how this ends
    if (!hasRun) {
      hasRun = true;
      this.enter(at + 1, subject, work);
    }
  }

  private tell(subject: Subject, end: End): void {
    for (const hook of this.told) {
      try {
        const telling = hook.call(subject, end);
        if (isPromise(telling)) void telling.then(undefined, (error: unknown) => this.fail(hook, error));
      } catch (error) {
        this.fail(hook, error);
      }
    }
  }

  private fail({ plugin, name }: Hook<unknown>, error: unknown): void {
    const key = `${name} ${plugin}`;
    if (this.failed.has(key)) return;
    this.failed.add(key);
    const problem = `The plugin "${plugin}" failed in \`${name}\`. What it stands around isn't affected. Reported once.`;
    this.report(new Error(problem, { cause: error }));
  }
}

import { isPromise } from '@decorum/schema/internal';

/** A function that wraps work. It gets the subject of the work, and a function that runs the work. */
export type Around<Subject, End> = (subject: Subject, run: () => Promise<End>) => unknown;

/** A function that is called with the outcome of work. */
export type Told<Subject, End> = (subject: Subject, end: End) => unknown;

/** A plugin function. */
export interface Hook<Call> {
  readonly plugin: string;
  /** The name of the function, for errors. */
  readonly name: string;
  readonly call: Call;
}

/** The plugin functions for one kind of work. The first is the outermost. */
export interface Hooks<Subject, End> {
  readonly around: readonly Hook<Around<Subject, End>>[];
  readonly told: readonly Hook<Told<Subject, End>>[];
}

/** Creates a function that reports errors of plugin functions, once for each function. */
export function reportingOnce(report: (error: unknown) => void, effect: string) {
  const failed = new Set<string>();
  return ({ plugin, name }: Hook<unknown>, cause: unknown): void => {
    const key = `${name} ${plugin}`;
    if (failed.has(key)) return;
    failed.add(key);
    report(new Error(`The plugin "${plugin}" failed in \`${name}\`. ${effect}`, { cause }));
  };
}

/** Milliseconds that a plugin function may wait before it calls `run`. Then the work runs without it. */
const MAX_HOLD_MS = 1000;

/** Work that observers wrap. It runs once. */
export abstract class Work<Value, End> {
  /** The result of the work. Undefined until the work starts. */
  value: Value | Promise<Value> | undefined = undefined;
  private milliseconds = 0;
  private ending: End | Promise<End> | undefined = undefined;
  private promised: Promise<End> | undefined = undefined;
  private resolveEnding: ((end: End | Promise<End>) => void) | undefined = undefined;
  private resolveValue: ((value: Value | Promise<Value>) => void) | undefined = undefined;

  /** The outcome. A promise until the work has ended, and even afterwards if the work was asynchronous. */
  get outcome(): End | Promise<End> {
    if (this.value === undefined) return this.end;
    return (this.ending ??= this.endOf(this.value as Value, this.milliseconds));
  }

  /** Resolves with the outcome once the work has ended. */
  get end(): Promise<End> {
    return (this.promised ??= this.promise());
  }

  /** Starts the work. Never throws or rejects. */
  protected abstract start(): Value | Promise<Value>;

  /** Creates the outcome. */
  protected abstract endOf(value: Value, milliseconds: number): End;

  /** A promise of the result. Called if an observer waits before it calls `run`. */
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

/** Work that two functions describe. */
export class Task<Value, End> extends Work<Value, End> {
  constructor(
    protected readonly start: () => Value | Promise<Value>,
    protected readonly endOf: (value: Value, milliseconds: number) => End,
  ) {
    super();
  }
}

/**
 * Runs plugin functions around work. They can't change or prevent the work: it runs exactly once, and nothing waits for
 * what the functions do afterwards. Synchronous work stays synchronous if they call `run` before they wait for
 * anything. This runs for each call, so it creates as few closures and promises as possible.
 */
export class Observers<Subject, End> {
  private readonly fail: ReturnType<typeof reportingOnce>;
  private readonly around: readonly Hook<Around<Subject, End>>[];
  private readonly told: readonly Hook<Told<Subject, End>>[];

  constructor({ around, told }: Hooks<Subject, End>, report: (error: unknown) => void) {
    this.around = around;
    this.told = told;
    this.fail = reportingOnce(report, "The message isn't affected. Reported once per plugin and function.");
  }

  /** Runs work inside all observers, and returns its result. */
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
        // the promise that `run` returns never rejects
        if (hasRun) return void (observing === work.end || observing.then(undefined, fail));
        const proceed = (problem: string) => {
          clearTimeout(timer);
          if (!hasRun) fail(new Error(problem));
          void run();
        };
        // not cleared by `run`, so that requests don't need another closure; it finds `hasRun` then
        const timer = setTimeout(proceed, MAX_HOLD_MS, `It has not called run() within ${MAX_HOLD_MS} ms.`);
        const settle = () => proceed('It ended without calling run().');
        return void Promise.resolve(observing).catch(fail).then(settle);
      }
    } catch (error) {
      this.fail(hook, error);
    }
    // the function threw, or returned without calling `run`
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
}

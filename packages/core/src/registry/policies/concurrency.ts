import { invalidOption, isObject, isPromise, type OptionTypes, requireOptions } from '@decorum/schema/internal';

import type { ConcurrencyOptions, PolicyOptions } from '../../metadata/policy-options.js';
import { ToolError } from '../../protocol/errors.js';
import { withFailureCause } from '../../protocol/failure-cause.js';
import { callerKey } from '../../protocol/owner.js';
import { type Caller, HAS_ASKED } from '../caller.js';
import { notRun } from './failures.js';
import type { Policy, PolicyParts } from './policy.js';
import { type Waiting, WaitingLine } from './waiting-line.js';

const RANGES: OptionTypes<ConcurrencyOptions> = { max: [1, 100_000], perCaller: [1, 100_000], queue: [0, 10_000] };

/** The policy of a member's `concurrency`; undefined if it has none. */
export function concurrencyPolicy(option: PolicyOptions['concurrency'], { where }: PolicyParts): Policy | undefined {
  if (option === undefined || option === false) return undefined;
  const options = typeof option === 'number' ? { max: option } : option;
  if (!isObject(options as unknown))
    throw invalidOption(where, 'concurrency', 'must be a number or an object. Write `concurrency: 4`');
  requireOptions(`${where} (concurrency)`, options, RANGES);
  const { max = Infinity, perCaller = Infinity, queue = 100 } = options;
  if (max === Infinity && perCaller === Infinity)
    throw invalidOption(where, 'concurrency', 'limits nothing. Set `max` or `perCaller`, as in `concurrency: 4`');
  const slots = new Slots(max, perCaller, new WaitingLine(queue));
  return ({ caller }, next) => slots.run(caller, () => next(caller));
}

const busy = () =>
  withFailureCause(new ToolError('Busy: too many calls are running or waiting. Try again later.'), 'limit');

/** The slots in which calls of one member run. A call keeps its slot until its handler ends. */
class Slots {
  private running = 0;
  /** Running calls by caller, if there is a limit for each. */
  private readonly runningOf = new Map<string, number>();
  private isAdmitting = false;

  constructor(
    private readonly max: number,
    private readonly perCaller: number,
    private readonly line: WaitingLine,
  ) {}

  /** Runs a call as soon as there is a slot. */
  run<R extends object>(caller: Caller, call: () => R | Promise<R>): R | Promise<R> {
    const key = this.perCaller === Infinity ? '' : callerKey(caller);
    if (this.running < this.max && this.mayRun(key)) return this.occupy(key, call);
    return this.wait(caller, (resolve) => resolve(this.occupy(key, call)));
  }

  private readonly mayRun = (key: string): boolean =>
    this.perCaller === Infinity || (this.runningOf.get(key) ?? 0) < this.perCaller;

  private occupy<R extends object>(key: string, call: () => R | Promise<R>): R | Promise<R> {
    this.count(key, 1);
    const free = () => {
      this.count(key, -1);
      this.admit();
    };
    try {
      const result = call();
      if (isPromise(result)) result.then(free, free);
      else free();
      return result;
    } catch (error) {
      free();
      throw error;
    }
  }

  private count(key: string, change: 1 | -1): void {
    this.running += change;
    if (this.perCaller === Infinity) return;
    const count = (this.runningOf.get(key) ?? 0) + change;
    if (count === 0) this.runningOf.delete(key);
    else this.runningOf.set(key, count);
  }

  /** Starts waiting calls while there are slots. A loop, because calls that end at once would nest otherwise. */
  private admit(): void {
    if (this.isAdmitting) return;
    this.isAdmitting = true;
    while (this.running < this.max) {
      const waiting = this.line.next(this.mayRun);
      if (waiting === undefined) break;
      waiting.start();
    }
    this.isAdmitting = false;
  }

  private wait<R>(caller: Caller, start: (resolve: (result: R | Promise<R>) => void) => void): Promise<R> {
    const { signal } = caller;
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const settle = (step: () => void) => {
        signal.removeEventListener('abort', leave);
        try {
          step();
        } catch (error) {
          reject(error as Error);
        }
      };
      const waiting: Waiting = {
        caller: callerKey(caller),
        start: () => settle(() => start(resolve)),
        refuse: () => settle(() => reject(busy())),
      };
      const leave = () => {
        this.line.remove(waiting);
        const reason: unknown = signal.reason;
        // an earlier round, before a question, may have done something
        if (reason instanceof DOMException && !caller[HAS_ASKED]) notRun(reason);
        reject(reason as Error);
      };
      if (!this.line.add(waiting)) throw busy();
      signal.addEventListener('abort', leave, { once: true });
    });
  }
}

import { requireOptions } from '@decorum/schema/internal';

import { mayRepeat } from '../../metadata/class-defaults.js';
import type { PolicyOptions } from '../../metadata/policy-options.js';
import type { MemberKind } from '../../metadata/records.js';
import { ToolError } from '../../protocol/errors.js';
import { withFailureCause } from '../../protocol/failure-cause.js';
import { type RunScope, WITHIN } from '../caller.js';
import { isNotRun } from './failures.js';
import type { Policy, PolicyDefaults, PolicyParts } from './policy.js';
import { type Limit, TimedRun } from './timed-run.js';

const DAY_MS = 86_400_000;

/** Milliseconds that a handler has to clean up after its signal has aborted. */
const GRACE_MS = 100;

/** What a time limit is about. */
export interface Limited {
  readonly ms: number;
  readonly kind: MemberKind;
  /** `Class.method`. */
  readonly where: string;
  /** Whether a client may call again without harm. */
  readonly mayRepeat: boolean;
  readonly reporter: PolicyDefaults['reporter'];
}

/** The time limit of a member. */
class TimeLimit implements Limit {
  /** Whether the operator knows that the handler ignores its signal. */
  private isNamed = false;

  constructor(private readonly parts: Limited) {}

  get ms(): number {
    return this.parts.ms;
  }

  error(reason: DOMException): Error {
    const { kind, ms } = this.parts;
    const text = `The ${kind} did not finish within ${durationOf(ms)}. ${this.remedyFor(reason)}`;
    return withFailureCause(new ToolError(text, { cause: reason }), 'timeout');
  }

  private remedyFor(reason: DOMException): string {
    if (isNotRun(reason)) return 'It was still waiting for its turn, and has done nothing. Try again later.';
    return this.parts.mayRepeat
      ? 'Try again later, or ask for less.'
      : 'It may have done a part of its work: check that before you try again.';
  }

  late(running: Promise<unknown>, reason: DOMException): void {
    const timer = this.isNamed ? undefined : setTimeout(() => this.name(), GRACE_MS);
    timer?.unref();
    const { reporter, where } = this.parts;
    running.then(
      () => clearTimeout(timer),
      (error: unknown) => {
        clearTimeout(timer);
        if (error !== reason)
          reporter?.debug?.({ err: error, member: where }, 'a handler failed after its time was over');
      },
    );
  }

  private name(): void {
    if (this.isNamed) return;
    this.isNamed = true;
    const { reporter, where, ms } = this.parts;
    const remedy = 'Pass `ctx.signal` to whatever it waits for, as in `fetch(url, { signal: ctx.signal })`';
    const problem = `${where} still runs although its \`timeoutMs\` of ${ms} is over and \`ctx.signal\` has aborted. ${remedy}`;
    reporter?.warn({ member: where, timeoutMs: ms }, problem);
  }
}

/** Milliseconds in words. */
function durationOf(ms: number): string {
  if (ms < 1000) return `${ms} ms`;
  return ms < 60_000 || ms % 60_000 !== 0 ? `${ms / 1000} s` : `${ms / 60_000} min`;
}

/** The policy of a time limit. The clock starts when a run turns out to be asynchronous. */
export function limitedTo(parts: Limited): Policy {
  const limit = new TimeLimit(parts);
  return ({ caller }, next) => {
    const run = new TimedRun(limit, caller);
    let result: ReturnType<typeof next> | undefined;
    try {
      result = next(caller[WITHIN](run));
    } finally {
      if (!(result instanceof Promise)) run.end();
    }
    return result instanceof Promise ? run.within(result) : result;
  };
}

/** A part of a request whose member wants no limit, not even that of a server that mounts its own. */
const UNLIMITED: RunScope = Object.freeze({ isLimited: true });

/**
 * The policy of a member's `timeoutMs`; undefined if it has none.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function timeoutPolicy(
  option: PolicyOptions['timeoutMs'],
  { where, record, defaults: { reporter } }: PolicyParts,
): Policy | undefined {
  if (option === undefined) return undefined;
  if (option === false) return ({ caller }, next) => next(caller[WITHIN](UNLIMITED));
  requireOptions(where, { timeoutMs: option }, { timeoutMs: [1, DAY_MS] });
  return limitedTo({ ms: option, kind: record.kind, where, mayRepeat: mayRepeat(record), reporter });
}

import { randomUUID } from 'node:crypto';

import { isPromise } from '@decorum/schema/internal';

import type { Effects } from '../../protocol/effects.js';
import { ToolError } from '../../protocol/errors.js';
import { withFailureCause } from '../../protocol/failure-cause.js';
import { InputSignal } from '../../protocol/input.js';
import { payerOf } from '../../protocol/owner.js';
import type { RecordKey, Records } from '../../protocol/records.js';
import { RUN, type RunFacts, WITHIN } from '../caller.js';
import type { Admits } from '../policies/admits.js';
import type { MemberRun, Next, PolicyDefaults } from '../policies/policy.js';
import { Claim, LEASE_MS } from './claim.js';
import { FIRST_BEAT, judge, type KeyRecord, otherArguments, type Turn, type Verdict } from './key-record.js';
import { type Ended, type Outcome, outcomeOf, repeat, sizeOf } from './outcome.js';
import { Patience, untilLate } from './patience.js';
import { Sightings } from './sightings.js';

/** Milliseconds between two looks at what another process does, at first and later. */
const LOOK_MS = { first: 20, later: 1000 };

/** A call with an idempotency key. */
export interface KeyedCall<R extends object> {
  readonly place: RecordKey;
  /** The key that the client has sent. */
  readonly key: string | undefined;
  /** Digest of the arguments. */
  readonly args: string;
  readonly facts: RunFacts;
  readonly run: MemberRun;
  readonly next: Next<R>;
}

/** How a tool keeps outcomes. */
export interface Keeping {
  /** `Class.method`. */
  readonly where: string;
  readonly ttlMs: number;
  readonly maxBytes: number;
  /** Milliseconds that a call waits for another one; undefined if its tool has no limit. */
  readonly waitMs: number | undefined;
  /** Whether a caller may have a recorded outcome; undefined if nobody decides. */
  readonly admits: Admits | undefined;
  readonly reporter: PolicyDefaults['reporter'];
}

/** A key that a call of this process has, or waits for. */
interface Flight {
  readonly args: string;
  /** Whether the call has the key, so its arguments are those of the key. */
  isClaimed: boolean;
  /** Resolves when the call has ended; undefined if others must try themselves. */
  readonly outcome: Promise<Outcome | undefined>;
  end(outcome?: Outcome): void;
}

/** A turn that has ended; undefined if the call must try again. */
type TurnEnd<R> = { readonly value: R } | undefined;

/** The calls of a tool that have an idempotency key: one for each key runs, over all processes. */
export class KeyedCalls {
  private readonly flights = new WeakMap<Records, Map<string, Flight>>();
  private readonly sightings = new Sightings();
  /** What ends the log of the last run of a request. */
  private readonly logs = new WeakMap<Effects, () => void>();
  private readonly warned = new Set<string>();

  constructor(private readonly keeping: Keeping) {}

  /** Runs a call, waits for the one that runs, or repeats its outcome. */
  async call<R extends object>(call: KeyedCall<R>): Promise<R> {
    const patience = new Patience(call.run.caller.signal, this.keeping.waitMs, () => this.warn(HANGS));
    try {
      for (;;) {
        const ended = await this.turn(call, patience);
        if (ended !== undefined) return ended.value;
      }
    } finally {
      patience.end();
    }
  }

  private async turn<R extends object>(call: KeyedCall<R>, patience: Patience): Promise<TurnEnd<R>> {
    const { place, args, facts } = call;
    const flights = this.flights.get(facts.records) ?? new Map<string, Flight>();
    this.flights.set(facts.records, flights);
    const name = JSON.stringify(place);
    const ahead = flights.get(name);
    if (ahead !== undefined) {
      if (ahead.isClaimed && ahead.args !== args) throw otherArguments();
      const outcome = await patience.until(ahead.outcome);
      return outcome && ahead.args === args ? await this.give(outcome, call) : undefined;
    }
    const flight = flightOf(args, () => flights.delete(name));
    flights.set(name, flight);
    try {
      const claimed = await this.claim(call, patience);
      if (claimed instanceof Claim) return await this.run(call, { claim: claimed, flight, patience });
      flight.end(claimed);
      return await this.give(claimed, call);
    } catch (error) {
      // a flight that has its key ends once its claim has
      if (!flight.isClaimed) flight.end();
      throw error;
    }
  }

  /** Waits until the key is free, or has an outcome. */
  private async claim(call: KeyedCall<object>, patience: Patience): Promise<Claim | Outcome> {
    const name = JSON.stringify(call.place);
    for (let pause = LOOK_MS.first; ; pause = Math.min(pause * 1.5, LOOK_MS.later)) {
      const found = await this.tryClaim(call, this.sightings.dead(name));
      if (!('busy' in found)) {
        this.sightings.forget(name);
        return found;
      }
      this.sightings.note(name, found.busy);
      await patience.pause(pause * (0.5 + Math.random()));
    }
  }

  private async tryClaim(
    { place, key, args, facts, run: { caller } }: KeyedCall<object>,
    dead: Turn | undefined,
  ): Promise<Claim | Outcome | { readonly busy: Turn }> {
    const { records, effects } = facts;
    const { ttlMs } = this.keeping;
    const run = effects.ownId(() => facts.id);
    const turn = randomUUID();
    const payer = payerOf(caller);
    const found: { verdict?: Verdict; isFirst: boolean } = { isFirst: false };
    const claimNow = (now: KeyRecord | undefined) => {
      const verdict = judge(now, { args, run, isContinuing: effects.isContinuing, dead });
      found.verdict = verdict;
      found.isFirst = now === undefined;
      if (!('isFree' in verdict)) return undefined;
      const begun = { id: now?.id ?? run, effects: now?.effects ?? [] };
      return { value: { args, run, turn, beat: FIRST_BEAT, ...begun }, ttlMs: Math.max(ttlMs, 2 * LEASE_MS) };
    };
    const record = await records.change<KeyRecord>(place, claimNow, payer);
    const { verdict, isFirst } = found;
    if (verdict && !('isFree' in verdict)) return 'outcome' in verdict ? verdict.outcome : verdict;
    const claimed = record as KeyRecord;
    effects.continue(claimed, { own: run, key });
    return new Claim({ records, place, payer, ttlMs, record: claimed, isFirst });
  }

  private async run<R extends object>(call: KeyedCall<R>, having: Having): Promise<TurnEnd<R>> {
    const { claim, flight, patience } = having;
    flight.isClaimed = true;
    patience.end();
    const { caller } = call.run;
    const { effects } = call.facts;
    // a request may run again: after an error that an interceptor repeats, for example
    this.logs.get(effects)?.();
    this.logs.set(effects, effects.listen(claim.log));
    const { ended, isAsking } = await ran(call, this.keeping.waitMs);
    const outcome = isAsking ? undefined : this.outcome(ended, caller.signal);
    if (outcome !== undefined) {
      const kept = await claim.keep(outcome);
      flight.end(kept);
      return kept === outcome || 'isOmitted' in kept ? { value: valueOf(ended) } : await this.give(kept, call);
    }
    const idle = effects.idle();
    const left = claim.leave(isAsking, idle).then(() => flight.end());
    if (idle === undefined) await left;
    if (!claim.isLost || isAsking) return { value: valueOf(ended) };
    // another run has the key, and will have the outcome
    return { value: await this.call(call) };
  }

  private outcome(ended: Ended<object>, signal: AbortSignal): Outcome | undefined {
    const { reporter, maxBytes } = this.keeping;
    const outcome = outcomeOf(ended, reporter, signal);
    if (outcome === undefined || sizeOf(outcome) <= maxBytes) return outcome;
    this.warn(`an outcome has more than \`maxBytes\` (${maxBytes}), so it isn't kept. Repetitions get an error`);
    return { isOmitted: true };
  }

  /** Warns the operator of a problem once. */
  private warn(problem: string): void {
    const { reporter, where } = this.keeping;
    if (!this.warned.has(problem)) reporter?.warn({ member: where }, `${where} (idempotent): ${problem}`);
    this.warned.add(problem);
  }

  /** Gives a recorded outcome to whoever may have it. */
  private async give<R extends object>(outcome: Outcome, { run }: KeyedCall<R>): Promise<TurnEnd<R>> {
    const { admits } = this.keeping;
    // the tool must not run again, so nothing else says why
    if (admits !== undefined && !(await admits(run))) throw withFailureCause(new ToolError(DENIED), 'denied');
    return { value: repeat(outcome) as R };
  }
}

interface Having {
  readonly claim: Claim;
  readonly flight: Flight;
  readonly patience: Patience;
}

const HANGS =
  'a call has waited 10 minutes for another one with its key, which is still running. If that one hangs, its key stays in use until the process ends. Set `timeoutMs`, so that no call runs forever';

const DENIED = 'You may not have the outcome of the call with this idempotency key.';

function flightOf(args: string, onEnd: () => void): Flight {
  let land: (outcome?: Outcome) => void = () => {};
  const outcome = new Promise<Outcome | undefined>((resolve) => (land = resolve));
  let isOver = false;
  const end = (ended?: Outcome) => {
    if (isOver) return;
    isOver = true;
    onEnd();
    land(ended);
  };
  return { args, isClaimed: false, outcome, end };
}

/** Runs a tool, and finds out whether the round has ended because the client must answer first. */
async function ran<R extends object>(
  { run: { caller }, next }: KeyedCall<R>,
  limitMs: number | undefined,
): Promise<{ readonly ended: Ended<R>; readonly isAsking: boolean }> {
  let isAsking = false;
  const look = (error: unknown) => {
    isAsking ||= isInputSignal(error);
  };
  try {
    // while it waited for the key
    caller.signal.throwIfAborted();
    // a handler may catch the signal
    const running = next(caller[WITHIN]({ asking: (answer) => void answer.catch(look) }));
    const isLimited = limitMs !== undefined && isPromise(running);
    const result = await (isLimited ? untilLate(running, caller.signal, limitMs) : running);
    const isError = (result as { readonly isError?: unknown }).isError === true;
    // repetitions get the outcome, so it must not be recorded without what the call remembers
    if (!isAsking && !isError) await caller[RUN].remembered?.store();
    return { ended: { result }, isAsking };
  } catch (error) {
    look(error);
    return { ended: { error }, isAsking };
  }
}

/** Handlers throw anything, such as proxies that throw themselves. */
function isInputSignal(error: unknown): boolean {
  try {
    return error instanceof InputSignal;
  } catch {
    return false;
  }
}

function valueOf<R>(ended: Ended<R>): R {
  if ('error' in ended) throw ended.error;
  return ended.result;
}

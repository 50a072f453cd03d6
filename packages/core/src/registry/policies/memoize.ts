import {
  invalidOption,
  isPromise,
  type JsonObject,
  type OptionTypes,
  requireFinite,
  requireOptions,
} from '@decorum/schema/internal';

import { mayKeep } from '../../metadata/class-defaults.js';
import type { MemoizeOptions, PolicyOptions } from '../../metadata/policy-options.js';
import { ownerOf } from '../../protocol/owner.js';
import { type Caller, WITHIN } from '../caller.js';
import { type Admits, admitsOf } from './admits.js';
import { digestOf } from './digest.js';
import { millisecondsOf } from '../durations.js';
import { KeptResults } from './kept-results.js';
import type { MemberRun, Next, Policy, PolicyParts } from './policy.js';

const OPTIONS: OptionTypes<MemoizeOptions> = {
  ttl: true,
  vary: 'function',
  maxEntries: [1, 100_000],
  maxBytes: [1, 1_000_000_000],
};

const NEEDS_HINT =
  'answers calls without calling the tool, but nothing says that the tool only reads. Add `annotations: { readOnlyHint: true }`, or remove `memoize`';

/** For how many calls in a row that end without a result another one waits, before it runs beside the next. */
const MAX_FOLLOWED = 2;

/**
 * The policy of a member's `memoize`; undefined if it has none.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function memoizePolicy(option: PolicyOptions['memoize'], parts: PolicyParts): Policy | undefined {
  if (option === undefined || option === false) return undefined;
  const { where, record } = parts;
  const options = typeof option === 'object' && option !== null ? option : { ttl: option };
  requireOptions(`${where} (memoize)`, options, OPTIONS);
  const { vary, maxEntries = 1000, maxBytes = 16 * 1024 * 1024 } = options;
  const ttlMs = millisecondsOf(options.ttl);
  if (ttlMs === undefined) {
    const problem = `must say how long results are kept, up to 30 days. Write \`memoize: '30s'\`, with ms, s, m, h or d, or a number of milliseconds`;
    throw invalidOption(where, 'memoize', problem);
  }
  if (!mayKeep(record)) throw invalidOption(where, 'memoize', NEEDS_HINT);
  const results = new KeptResults({ ttlMs, maxEntries, maxBytes });
  parts.onUpdate?.((uri) => results.forget(uri));
  const admits = admitsOf(parts);
  return (run, next) => {
    const uri = record.kind === 'resource' ? String(run.args['uri']) : undefined;
    const key = keyOf(run, variantOf(run.caller, vary, where));
    const asked = { run, next, results, uri, key };
    return admits === undefined || !results.knows(key) ? answer(asked, 0) : answerIfAdmitted(asked, admits);
  };
}

function variantOf(caller: Caller, vary: MemoizeOptions['vary'], where: string): string {
  const variant: unknown = vary === undefined ? '' : vary(caller as never);
  if (typeof variant === 'string') return variant;
  throw new TypeError(`${where} (memoize): \`vary\` returned ${typeof variant}. Return a string.`);
}

/** The key of a result: equal for equal arguments in any order, callers and scopes. A hash, because arguments may be long. */
function keyOf({ args, caller: { principal } }: MemberRun, variant: string): string {
  const scopes = [...new Set(principal?.scopes)].sort();
  const facts = [args, ownerOf(principal) ?? null, scopes, variant];
  return digestOf(facts);
}

/** One call of a member whose results are kept. */
interface Asked<R> {
  readonly run: MemberRun;
  readonly next: Next<R>;
  readonly results: KeptResults;
  /** The URI that it reads, if it reads one. */
  readonly uri: string | undefined;
  readonly key: string;
}

/** The same for a member whose host decides who may have it. Whoever it denies is told by the call itself. */
async function answerIfAdmitted<R extends object>(asked: Asked<R>, admits: Admits): Promise<R> {
  const { run, next } = asked;
  return await ((await admits(run)) ? answer(asked, 0) : next(run.caller));
}

/** Answers with a kept result, or with that of an equal call that runs, or else runs the call. */
function answer<R extends object>(asked: Asked<R>, followed: number): R | Promise<R> {
  const { results, key, run, next } = asked;
  const kept = results.find(key);
  if (kept !== undefined) return JSON.parse(kept) as R;
  const flight = results.flight(key);
  if (flight === undefined) return lead(asked);
  // whoever waits for all others in turn would wait for ever
  if (followed === MAX_FOLLOWED) return next(run.caller);
  const { signal } = run.caller;
  const follow = async (): Promise<R> => {
    signal.throwIfAborted();
    const json = await flight.follow(signal);
    return json === undefined ? await answer(asked, followed + 1) : (JSON.parse(json) as R);
  };
  return follow();
}

/** Runs a call for all equal ones. */
function lead<R extends object>({ results, key, uri, run: { caller }, next }: Asked<R>): R | Promise<R> {
  const flight = results.depart(key, uri, () => caller.signal);
  const arrive = (result: R) => flight.end(caller.signal.aborted ? undefined : jsonOf(result));
  const fail = () => flight.end(undefined);
  try {
    // what the client answers is for this call only
    const result = next(caller[WITHIN]({ asking: fail }));
    if (isPromise(result)) result.then(arrive, fail);
    else arrive(result);
    return result;
  } catch (error) {
    fail();
    throw error;
  }
}

/** The JSON of a result that may be kept: undefined for one that tells of an error, or that can't be sent. */
function jsonOf(result: object): string | undefined {
  if ((result as JsonObject)['isError'] === true) return undefined;
  try {
    const json = JSON.stringify(result);
    requireFinite(result, json);
    return json;
  } catch {
    return undefined;
  }
}

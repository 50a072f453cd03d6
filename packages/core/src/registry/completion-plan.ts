import { andThen, isObject, type JsonObject } from '@decorum/schema/internal';

import { startupError } from '../protocol/errors.js';
import { invoker } from './invoker.js';
import type { Caller } from './caller.js';
import type { Member } from './plan.js';
import { policyOf } from './policies/policies.js';
import type { Policy, PolicyDefaults } from './policies/policy.js';

/** Maximum values per completion (MCP, `CompleteResult`). */
const MAX_VALUES = 100;

/** The result of `completion/complete`. */
export interface CompleteResult {
  readonly completion: { readonly values: readonly string[]; readonly total?: number; readonly hasMore?: boolean };
}

/** A compiled completion. */
type Complete = (value: string, caller: Caller) => CompleteResult | Promise<CompleteResult>;

/** A prompt or template, whose arguments can be completed. */
export interface Completable {
  readonly where: string;
  /** Argument names. */
  readonly variables: readonly string[];
  /** Arguments that clients neither see nor set. */
  readonly fixed?: JsonObject;
  /** Completions by argument name. */
  readonly completions: Map<string, Complete>;
}

/**
 * Compiles a completion and adds it to the members that it names.
 * @throws {DecorumError} `DECORUM_DANGLING_COMPLETION`, `DECORUM_UNKNOWN_ARGUMENT`, `DECORUM_DUPLICATE_COMPLETION`
 */
export function addCompletion(
  member: Member<'completion'>,
  completable: ReadonlyMap<string, Completable>,
  defaults: PolicyDefaults = {},
): void {
  const { where } = member;
  const { for: targets, argument } = member.options;
  const call = invoker(member);
  const complete: Complete = (value, caller) => andThen(call(value, caller), (found) => toCompleteResult(found, where));
  // one for all targets, so they share its limits
  const policy = policyOf({ where, record: member, defaults });
  const run = policy ? governed(complete, { policy, argument }) : complete;
  // an empty `for` is an error too: it completes nothing
  for (const key of targets.length === 0 ? [''] : [targets].flat()) {
    const target = completable.get(key);
    if (!target) throw startupError('DECORUM_DANGLING_COMPLETION', where, key, completable.keys());
    const { variables, completions } = target;
    if (!variables.includes(argument)) throw startupError('DECORUM_UNKNOWN_ARGUMENT', where, argument, variables);
    if (completions.has(argument)) {
      throw startupError('DECORUM_DUPLICATE_COMPLETION', where, argument, target.where);
    }
    completions.set(argument, run);
  }
}

const governed =
  (complete: Complete, { policy, argument }: { readonly policy: Policy; readonly argument: string }): Complete =>
  (value, caller) => {
    const { args = {} } = caller as { readonly args?: JsonObject };
    return policy({ args: { argument, value, args }, caller }, (inner) => complete(value, inner));
  };

const isList = (found: unknown): found is Iterable<unknown> =>
  typeof found === 'object' && found !== null && Symbol.iterator in found;

function toCompleteResult(found: unknown, where: string): CompleteResult {
  if (found instanceof Error) throw found;
  // the protocol's own result has its values in `completion`
  const whole = isObject(found) && isObject(found['completion']) ? found['completion'] : found;
  const given = isObject(whole) && !isList(whole) ? whole : { values: whole ?? [] };
  const { values: listed, total: known, hasMore: more } = given as JsonObject;
  const all: readonly unknown[] = isList(listed) ? [...listed] : [undefined];
  if (!all.every((value) => typeof value === 'string')) {
    throw new Error(
      `${where} returned values that are not all strings. Return an array of strings, or { values, total, hasMore }.`,
    );
  }
  const cut = all.length > MAX_VALUES;
  const total = Number.isSafeInteger(known) ? (known as number) : cut ? all.length : undefined;
  const hasMore = cut || more;
  return {
    completion: {
      values: all.slice(0, MAX_VALUES),
      ...(total !== undefined && { total }),
      ...(typeof hasMore === 'boolean' && { hasMore }),
    },
  };
}

import type { CompletionValues } from '../metadata/records.js';
import { startupError } from '../protocol/errors.js';
import { andThen } from '../protocol/maybe-promise.js';
import { type Caller, callerOf, type Member } from './plan.js';

/** How many values one completion may carry (MCP, `CompleteResult`). */
const MAX_VALUES = 100;

/** The result of `completion/complete`. */
export interface CompleteResult {
  readonly completion: { readonly values: readonly string[]; readonly total?: number; readonly hasMore?: boolean };
}

/** A completion, ready to be asked. */
type Complete = (value: string, caller: Caller) => CompleteResult | Promise<CompleteResult>;

/** What has arguments that can be completed: a prompt, or a template. */
export interface Completable {
  readonly where: string;
  /** The names of the arguments. */
  readonly variables: readonly string[];
  /** By argument. */
  readonly completions: Map<string, Complete>;
}

/**
 * Compiles a completion, for those of its provider's members that it names.
 * @throws {DecorumError} `DECORUM_DANGLING_COMPLETION`, `DECORUM_UNKNOWN_ARGUMENT`, `DECORUM_DUPLICATE_COMPLETION`
 */
export function addCompletion(member: Member<'completion'>, completable: ReadonlyMap<string, Completable>): void {
  const { where } = member;
  const { for: targets, argument } = member.options;
  const call = callerOf(member);
  // for nothing at all is as wrong as for what is not there
  for (const key of targets.length === 0 ? [''] : [targets].flat()) {
    const target = completable.get(key);
    if (!target) throw startupError('DECORUM_DANGLING_COMPLETION', where, key, completable.keys());
    const { variables, completions } = target;
    if (!variables.includes(argument)) throw startupError('DECORUM_UNKNOWN_ARGUMENT', where, argument, variables);
    if (completions.has(argument)) {
      throw startupError('DECORUM_DUPLICATE_COMPLETION', where, argument, target.where);
    }
    completions.set(argument, (value, caller) =>
      andThen(call(value, caller), (found) => toCompleteResult(found as CompletionValues)),
    );
  }
}

const isList = (found: CompletionValues): found is readonly string[] => Array.isArray(found);

function toCompleteResult(found: CompletionValues): CompleteResult {
  const given: Exclude<CompletionValues, readonly string[]> = isList(found) ? { values: found } : found;
  const values = given.values.slice(0, MAX_VALUES);
  const cut = given.values.length > MAX_VALUES;
  const total = given.total ?? (cut ? given.values.length : undefined);
  const hasMore = cut || given.hasMore;
  return {
    completion: { values, ...(total !== undefined && { total }), ...(hasMore !== undefined && { hasMore }) },
  };
}

import { startupError } from '../protocol/errors.js';
import { isObject } from '../protocol/jsonrpc.js';
import { andThen } from '../protocol/maybe-promise.js';
import type { JsonObject } from '../protocol/model.js';
import { type Caller, invoker, type Member } from './plan.js';

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
  const call = invoker(member);
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
      andThen(call(value, caller), (found) => toCompleteResult(found, where)),
    );
  }
}

const isList = (found: unknown): found is Iterable<unknown> =>
  typeof found === 'object' && found !== null && Symbol.iterator in found;

function toCompleteResult(found: unknown, where: string): CompleteResult {
  if (found instanceof Error) throw found;
  const given = isObject(found) && !isList(found) ? found : { values: found ?? [] };
  const { values: listed, total: known, hasMore: more } = given as JsonObject;
  const all: readonly unknown[] = isList(listed) ? [...listed] : [undefined];
  if (!all.every((value) => typeof value === 'string')) {
    throw new Error(
      `${where} returned something other than a list of strings. Return strings, or { values, total, hasMore }.`,
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

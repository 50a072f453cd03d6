import { isObject } from '../protocol/jsonrpc.js';
import { andThen } from '../protocol/maybe-promise.js';
import type { JsonObject } from '../protocol/model.js';
import { type Caller, callerOf, type Member, whereOf } from './plan.js';

/** How many values one completion may carry (MCP, `CompleteResult`). */
const MAX_VALUES = 100;

/** The result of `completion/complete`. */
export interface CompleteResult {
  readonly completion: { readonly values: readonly string[]; readonly total?: number; readonly hasMore?: boolean };
}

/** A completion, ready to be asked. */
export interface CompletionPlan {
  readonly where: string;
  readonly targets: readonly string[];
  readonly argument: string;
  run(value: string, caller: Caller): CompleteResult | Promise<CompleteResult>;
}

/** Compiles a completion. Whether its targets exist is for the registry to say. */
export function compileCompletion(member: Member<'completion'>): CompletionPlan {
  const { for: targets, argument } = member.record.options;
  const call = callerOf(member);
  return {
    where: whereOf(member),
    targets: typeof targets === 'string' ? [targets] : targets,
    argument,
    run: (value, caller) => andThen(call(value, caller), (found) => toCompleteResult(found, whereOf(member))),
  };
}

const isList = (found: unknown): found is Iterable<unknown> =>
  typeof found === 'object' && found !== null && Symbol.iterator in found;

function toCompleteResult(found: unknown, where: string): CompleteResult {
  if (found instanceof Error) throw found;
  const given = isObject(found) && !isList(found) ? found : { values: found ?? [] };
  const { values: listed, total: known, hasMore: more } = given as JsonObject;
  const all: readonly unknown[] = isList(listed) ? [...listed] : [undefined];
  if (!all.every((value) => typeof value === 'string')) {
    throw new Error(`${where} returned what is no list of strings. Return strings, or { values, total, hasMore }.`);
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

import type { CompletionValues } from '../metadata/records.js';
import { andThen } from '../protocol/maybe-promise.js';
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
    run: (value, caller) => andThen(call(value, caller), (found) => toCompleteResult(found as CompletionValues)),
  };
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

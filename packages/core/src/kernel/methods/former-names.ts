import { McpError } from '../../protocol/errors.js';
import type { Exchange } from '../../protocol/exchange.js';
import { conditionsOf } from '../../registry/listing.js';
import type { Plan } from '../../registry/plan.js';
import { admission } from '../admission.js';
import type { LiveParts } from '../live-members.js';

/**
 * Rejects a request for a member that is unknown.
 * @param unknown the error that says so. Callers who may see what took its place are told the name
 * @param former the member whose alias has ended; undefined if the name was never one
 */
export function rejectFormer(
  unknown: McpError,
  former: Plan<unknown> | undefined,
  { exchange, registry, reporter }: LiveParts & { readonly exchange: Exchange },
): Promise<never> {
  if (former === undefined) throw unknown;
  const admits = admission(exchange, reporter);
  return rejectLate(unknown, former.key, conditionsOf(former, registry.onlyUsable).map(admits));
}

async function rejectLate(
  unknown: McpError,
  name: string,
  asked: readonly (boolean | Promise<boolean>)[],
): Promise<never> {
  const answers = await Promise.all(asked);
  throw answers.every(Boolean)
    ? new McpError(unknown.kind ?? unknown.code, `${unknown.message}. Its name is now "${name}".`)
    : unknown;
}

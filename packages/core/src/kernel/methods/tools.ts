import { andThen, NotFinite, requireFinite } from '@decorum/schema/internal';

import { requireString } from '../../protocol/checks.js';
import type { Exchange } from '../../protocol/exchange.js';
import { plainResult, type ResultEnvelope } from '../../protocol/jsonrpc.js';
import type { CallToolResult, Tool } from '../../protocol/model.js';
import type { ToolPlan } from '../../registry/tool-plan.js';
import { toolBudget } from '../budgets/member-budgets.js';
import { shown, unknownTool } from '../extensions/detached-run.js';
import { startCall } from '../extensions/starting.js';
import { findLive } from '../live-members.js';
import type { Outcome } from '../members.js';
import type { ToolCatalog } from '../tool-catalog.js';
import type { Method, MethodParts } from './method.js';
import { rejectFormer } from './former-names.js';
import { pageOf, type Select } from './page-of.js';
import { toolPages } from './tool-pages.js';

/** Writes the outcomes of tools. */
function writerOf({ results, reporter, maxResultChars }: Pick<MethodParts, 'results' | 'reporter' | 'maxResultChars'>) {
  const encode = (result: CallToolResult, { revision }: Exchange, plan: ToolPlan): string => {
    // some revisions send it only as text
    const { structuredContent } = result;
    if (structuredContent !== undefined) requireFinite({ structuredContent }, JSON.stringify(structuredContent));
    return results.write(revision, revision.toolResult(result, plan.entry));
  };

  const failed = (error: unknown, exchange: Exchange, plan: ToolPlan): CallToolResult => {
    const result = shown(error, exchange, reporter);
    return toolBudget(plan, plan.maxResultChars ?? maxResultChars)?.limit(result) ?? result;
  };

  return (outcome: Outcome<CallToolResult>, exchange: Exchange, plan: ToolPlan): string => {
    const { revision } = exchange;
    if (outcome.kind === 'input-required') return results.write(revision, outcome.questions);
    const result = outcome.kind === 'complete' ? outcome.result : failed(outcome.error, exchange, plan);
    const envelope = results.envelopes[revision.rank] as ResultEnvelope;
    try {
      return plainResult(result, envelope, plan.sendsObjects[revision.rank]) ?? encode(result, exchange, plan);
    } catch (cause) {
      return encode(shown(unsendable(cause, exchange, plan), exchange, reporter), exchange, plan);
    }
  };
}

/** `tools/list` and `tools/call`. */
export function toolMethods(parts: MethodParts): Record<string, Method> {
  const { registry, reporter, members, results, runs, extended, maxResultChars } = parts;
  const write = writerOf(parts);
  const live = { registry, reporter };

  const call = (exchange: Exchange, isStarted = false, found?: ToolPlan): string | Promise<string> => {
    const { name, arguments: args } = exchange.params;
    // aliases are rare
    const plan = found ?? registry.tools.get(name as string) ?? registry.tools.find(name as string);
    if (plan === undefined) return callLive(exchange);
    if (plan.extras !== undefined && !isStarted) return start(exchange, plan);
    const max = plan.maxResultChars ?? maxResultChars;
    const outcome = members.run(exchange, {
      kind: 'tool',
      name: plan.key,
      args,
      access: plan.access,
      deny: () => ({ kind: 'failed', error: unknownTool(name as string) }),
      mirrored: plan.mirrored,
      budget: max === undefined ? undefined : toolBudget(plan, max),
      run: plan.run,
    });
    return outcome instanceof Promise
      ? outcome.then((settled) => write(settled, exchange, plan))
      : write(outcome, exchange, plan);
  };

  /** Calls a tool that no provider has. */
  const callLive = (exchange: Exchange): string | Promise<string> => {
    const key = requireString(exchange.params, 'name');
    return andThen(findLive(exchange, { kind: 'tool', key }, live), (plan) => {
      return plan === undefined ? rejectUnknown(key, exchange, parts) : call(exchange, true, plan as ToolPlan);
    });
  };

  /** Lets extensions start a call in place of the handler. */
  const start = (exchange: Exchange, plan: ToolPlan): string | Promise<string> => {
    if (extended.hides(plan, exchange)) throw unknownTool(exchange.params['name'] as string);
    if (plan.extras?.start === undefined || !exchange.revision.extensions) return call(exchange, true);
    return andThen(startCall(exchange, plan, runs), (outcome) => {
      if (outcome === undefined) return call(exchange, true);
      if (exchange.observation !== undefined) exchange.observation.ended = outcome;
      if (outcome.kind !== 'complete') return write(outcome, exchange, plan);
      return results.write(exchange.revision, outcome.result);
    });
  };

  return { 'tools/list': listMethod(parts), 'tools/call': call as Method };
}

function listMethod(parts: MethodParts): Method {
  const { registry, reporter, extended, catalog } = parts;
  const pagesFor = toolPages(parts);
  return (exchange) => {
    const variant = extended.variantOf(exchange);
    const pages = pagesFor(exchange.wire.authorization)(variant ?? 0);
    const own = { exchange, personal: variant !== undefined, select: selecting(catalog, exchange) };
    return pageOf(registry.listed.tools, pages, { registry, reporter, kind: 'tool', ...own });
  };
}

function rejectUnknown(name: string, exchange: Exchange, { extended, ...parts }: MethodParts): Promise<never> {
  const former = parts.registry.tools.former(name);
  const isShown = former !== undefined && !extended.hides(former, exchange);
  return rejectFormer(unknownTool(name), isShown ? former : undefined, { ...parts, exchange });
}

/** Lets the catalog choose the tools to list; undefined without one. */
const selecting = (catalog: ToolCatalog | undefined, { meta, wire }: Exchange): Select<Tool> | undefined =>
  catalog && ((visible) => catalog.listed(visible as readonly ToolPlan[], { meta, headers: wire.transport.headers }));

/**
 * The error for a result with numbers that JSON lacks.
 * @throws {unknown} other errors
 */
function unsendable(cause: unknown, { observation }: Exchange, { where }: ToolPlan): Error {
  if (!(cause instanceof NotFinite)) throw cause;
  const error = new Error(`${where} returned a value that cannot be sent: ${cause.message}`, { cause });
  if (observation !== undefined) observation.ended = { kind: 'failed', error };
  return error;
}

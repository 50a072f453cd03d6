import { requireString } from '../../protocol/checks.js';
import { excerpt, McpError } from '../../protocol/errors.js';
import type { Exchange } from '../../protocol/exchange.js';
import { NotFinite, requireFinite } from '../../protocol/finite.js';
import { plainResult, type ResultEnvelope } from '../../protocol/jsonrpc.js';
import type { CallToolResult, Tool } from '../../protocol/model.js';
import type { Revision } from '../../protocol/revisions/revision.js';
import type { Authorization } from '../../protocol/wire.js';
import { ListPages } from '../../registry/page.js';
import { errorResult } from '../../registry/results.js';
import type { ToolPlan } from '../../registry/tool-plan.js';
import type { Outcome } from '../members.js';
import { withSecuritySchemes } from '../tool-sign-in.js';
import type { Method, MethodParts } from './method.js';
import { pageOf } from './page-of.js';

/** `tools/list` and `tools/call`. */
export function toolMethods({ registry, reporter, members, results, ...parts }: MethodParts): Record<string, Method> {
  const { envelopes } = results;
  const pages = new ListPages<Tool>({ ...parts, member: 'tools', encode: (revision, tool) => revision.tool(tool) });
  const signInPages = new WeakMap<Authorization, ListPages<Tool>>();

  const pagesFor = (authorization: Authorization | undefined): ListPages<Tool> => {
    if (authorization?.toolChallenge === undefined) return pages;
    const known = signInPages.get(authorization);
    if (known) return known;
    const encode = (revision: Revision, tool: Tool) =>
      withSecuritySchemes(tool, registry.tools.get(tool.name)?.need, { revision, authorization });
    const own = new ListPages<Tool>({ ...parts, member: 'tools', encode });
    signInPages.set(authorization, own);
    return own;
  };

  /** Shows an error to the model as a result, unless the protocol has a code for it. */
  const shown = (failure: unknown, exchange: Exchange): CallToolResult => {
    // nobody reads the result of a cancelled call, so don't report its error either
    if (exchange.cancelled !== undefined) return errorResult('');
    const error = reporter.shown(failure, exchange);
    if (error instanceof McpError && exchange.revision.errorCode(error) !== undefined) throw error;
    return errorResult(error.message);
  };

  const encode = (result: CallToolResult, { revision }: Exchange, plan: ToolPlan): string => {
    const { rank } = revision;
    const plain = plainResult(result, envelopes[rank] as ResultEnvelope, plan.sendsObjects[rank]);
    if (plain !== undefined) return plain;
    // some revisions send it only as text
    const { structuredContent } = result;
    if (structuredContent !== undefined) requireFinite({ structuredContent }, JSON.stringify(structuredContent));
    return results.write(revision, revision.toolResult(result, plan.entry));
  };

  const write = (outcome: Outcome<CallToolResult>, exchange: Exchange, plan: ToolPlan): string => {
    if (outcome.kind === 'input-required') return results.write(exchange.revision, outcome.questions);
    const result = outcome.kind === 'complete' ? outcome.result : shown(outcome.error, exchange);
    try {
      return encode(result, exchange, plan);
    } catch (cause) {
      if (!(cause instanceof NotFinite)) throw cause;
      const error = new Error(`${plan.where} returned a value that cannot be sent: ${cause.message}`, { cause });
      if (exchange.observation !== undefined) exchange.observation.ended = { kind: 'failed', error };
      return encode(shown(error, exchange), exchange, plan);
    }
  };

  return {
    'tools/list': (exchange) =>
      pageOf(registry.listed.tools, pagesFor(exchange.wire.authorization), { exchange, reporter }),

    'tools/call'(exchange) {
      const { name, arguments: args } = exchange.params;
      const plan = registry.tools.get(name as string);
      if (plan === undefined) throw unknownTool(requireString(exchange.params, 'name'));
      const outcome = members.run(exchange, {
        kind: 'tool',
        name: plan.key,
        args,
        access: plan.access,
        deny: () => ({ kind: 'failed', error: unknownTool(plan.key) }),
        mirrored: plan.mirrored,
        run: plan.run,
      });
      return outcome instanceof Promise
        ? outcome.then((settled) => write(settled, exchange, plan))
        : write(outcome, exchange, plan);
    },
  };
}

const unknownTool = (name: string) => new McpError('unknown-tool', `Unknown tool: ${excerpt(name)}`);

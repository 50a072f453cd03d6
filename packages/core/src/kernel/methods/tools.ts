import { excerpt, NotFinite, requireFinite } from '@decorum/schema/internal';

import { requireString } from '../../protocol/checks.js';
import { McpError } from '../../protocol/errors.js';
import type { Exchange } from '../../protocol/exchange.js';
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

/** The pages of `tools/list`. Their tools have security schemes if the transport wants them. */
function toolPages({ registry, ...parts }: Omit<MethodParts, 'reporter' | 'members' | 'results'>) {
  const plain = new ListPages<Tool>({ ...parts, member: 'tools', encode: (revision, tool) => revision.tool(tool) });
  const signIn = new WeakMap<Authorization, ListPages<Tool>>();
  return (authorization: Authorization | undefined): ListPages<Tool> => {
    if (authorization?.toolChallenge === undefined) return plain;
    const known = signIn.get(authorization);
    if (known) return known;
    const encode = (revision: Revision, tool: Tool) =>
      withSecuritySchemes(tool, registry.tools.get(tool.name)?.need, { revision, authorization });
    const own = new ListPages<Tool>({ ...parts, member: 'tools', encode });
    signIn.set(authorization, own);
    return own;
  };
}

/** `tools/list` and `tools/call`. */
export function toolMethods({ registry, reporter, members, results, ...parts }: MethodParts): Record<string, Method> {
  const { envelopes } = results;
  const pagesFor = toolPages({ registry, ...parts });

  /** Shows an error to the model as a result, unless the protocol has a code for it. */
  const shown = (failure: unknown, exchange: Exchange): CallToolResult => {
    // nobody reads the result of a cancelled call, so don't report its error either
    if (exchange.cancelled !== undefined) return errorResult('');
    const error = reporter.shown(failure, exchange);
    if (error instanceof McpError && exchange.revision.errorCode(error) !== undefined) throw error;
    return errorResult(error.message);
  };

  const encode = (result: CallToolResult, { revision }: Exchange, plan: ToolPlan): string => {
    // some revisions send it only as text
    const { structuredContent } = result;
    if (structuredContent !== undefined) requireFinite({ structuredContent }, JSON.stringify(structuredContent));
    return results.write(revision, revision.toolResult(result, plan.entry));
  };

  const write = (outcome: Outcome<CallToolResult>, exchange: Exchange, plan: ToolPlan): string => {
    const { revision } = exchange;
    if (outcome.kind === 'input-required') return results.write(revision, outcome.questions);
    const result = outcome.kind === 'complete' ? outcome.result : shown(outcome.error, exchange);
    const envelope = envelopes[revision.rank] as ResultEnvelope;
    try {
      return plainResult(result, envelope, plan.sendsObjects[revision.rank]) ?? encode(result, exchange, plan);
    } catch (cause) {
      return encode(shown(unsendable(cause, exchange, plan), exchange), exchange, plan);
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

const unknownTool = (name: string) => new McpError('unknown-tool', `Unknown tool: ${excerpt(name)}`);

import { optionalObject, requireString } from '../../protocol/checks.js';
import { excerpt, McpError } from '../../protocol/errors.js';
import type { Exchange } from '../../protocol/exchange.js';
import type { CallToolResult, JsonObject, Tool } from '../../protocol/model.js';
import { ListPages } from '../../registry/page.js';
import { errorResult } from '../../registry/results.js';
import type { ToolPlan } from '../../registry/tool-plan.js';
import { Context } from '../context.js';
import { cursorScope, type KernelParts, type Method } from './method.js';

const NO_ARGUMENTS: JsonObject = Object.freeze({});

/** `tools/list` and `tools/call`. */
export function toolMethods({ registry, faults, ...parts }: KernelParts): Record<string, Method> {
  const { server } = parts;
  const pages = new ListPages<Tool>({ ...parts, member: 'tools', word: (revision, tool) => revision.tool(tool) });

  const list: Method = (exchange) =>
    pages.page(registry.listed.tools, {
      revision: exchange.revision,
      cursor: exchange.params['cursor'],
      scope: cursorScope(exchange),
    });

  const call: Method = async (exchange) => {
    const { params, revision } = exchange;
    const plan = findTool(requireString(params, 'name'));
    const args = optionalObject(params, 'arguments') ?? NO_ARGUMENTS;
    let result: CallToolResult;
    try {
      result = await plan.run(args, new Context(exchange));
    } catch (error) {
      result = failed(error, exchange);
    }
    return revision.complete(revision.toolResult(result, plan.entry), server);
  };

  const findTool = (name: string): ToolPlan => {
    const plan = registry.tools.get(name);
    if (plan === undefined) throw new McpError('unknown-tool', `Unknown tool: ${excerpt(name)}`);
    return plan;
  };

  /** Errors are for the model to read, except those that the protocol has a code for. */
  const failed = (error: unknown, exchange: Exchange): CallToolResult => {
    if (exchange.cancelled) return errorResult('Cancelled');
    if (!(error instanceof McpError)) return errorResult(faults.publicMessage(error, exchange));
    if (exchange.revision.errorCode(error) === undefined) return errorResult(error.message);
    throw error;
  };

  return { 'tools/list': list, 'tools/call': call };
}

import { requireString } from '../../protocol/checks.js';
import { excerpt, McpError } from '../../protocol/errors.js';
import { isObject } from '../../protocol/jsonrpc.js';
import type { Exchange } from '../../protocol/exchange.js';
import type { CallToolResult, JsonObject, Tool } from '../../protocol/model.js';
import { ListPages } from '../../registry/page.js';
import { errorResult } from '../../registry/results.js';
import { Context } from '../context.js';
import { admission, pageOf } from './access.js';
import type { KernelParts, Method } from './method.js';

const NO_ARGUMENTS: JsonObject = Object.freeze({});

/** `tools/list` and `tools/call`. */
export function toolMethods({ registry, faults, ...parts }: KernelParts): Record<string, Method> {
  const { server, intercept } = parts;
  const pages = new ListPages<Tool>({ ...parts, member: 'tools', word: (revision, tool) => revision.tool(tool) });

  const list: Method = (exchange) => pageOf(registry.listed.tools, pages, { exchange, faults });

  const call: Method = async (exchange) => {
    const { params, revision } = exchange;
    const { name, arguments: args = NO_ARGUMENTS } = params;
    const plan = registry.tools.get(name as string) ?? unknownTool(params);
    if (plan.access !== undefined && !(await admission(exchange, faults)(plan.access))) unknownTool(params);
    if (!isObject(args)) throw new McpError('invalid-params', '"arguments" is not an object.');
    if (plan.mirrored.length > 0 && revision.era === 'stateless') exchange.wire.checkArguments?.(plan.mirrored, args);
    let result: CallToolResult;
    try {
      const ctx = new Context(exchange);
      result =
        intercept === undefined
          ? await plan.run(args, ctx)
          : await intercept({ kind: 'tool', name: plan.name, args, ctx }, () => plan.run(args, ctx));
    } catch (error) {
      result = failed(error, exchange);
    }
    return revision.complete(revision.toolResult(result, plan.entry), server);
  };

  /** Errors are for the model to read, except those that the protocol has a code for. */
  const failed = (error: unknown, exchange: Exchange): CallToolResult => {
    // nobody will see the result
    if (exchange.cancelled || exchange.peer.asking) return errorResult('');
    if (!(error instanceof McpError)) return errorResult(faults.publicMessage(error, exchange));
    if (exchange.revision.errorCode(error) === undefined) return errorResult(error.message);
    throw error;
  };

  return { 'tools/list': list, 'tools/call': call };
}

function unknownTool(params: JsonObject): never {
  throw new McpError('unknown-tool', `Unknown tool: ${excerpt(requireString(params, 'name'))}`);
}

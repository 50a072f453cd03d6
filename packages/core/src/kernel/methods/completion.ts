import { isObject } from '../../protocol/jsonrpc.js';
import { optionalObject, requireOneOf, requireString } from '../../protocol/checks.js';
import { excerpt, McpError } from '../../protocol/errors.js';
import type { JsonObject } from '../../protocol/model.js';
import type { Registry } from '../../registry/registry.js';
import { CompletionContext } from '../context.js';
import type { KernelParts, Method } from './method.js';

/** `completion/complete`. */
export function completionMethods({ registry, server }: KernelParts): Record<string, Method> {
  return {
    async 'completion/complete'(exchange) {
      const { params, revision } = exchange;
      const argument = requireObject(params, 'argument');
      const name = requireString(argument, 'name');
      const value = requireString(argument, 'value');
      const plan = registry.completion(findTarget(registry, requireObject(params, 'ref')), name);
      const context = new CompletionContext(exchange, filledIn(params));
      const result = (await plan?.run(value, context)) ?? { completion: { values: [] } };
      return revision.complete(result as unknown as JsonObject, server);
    },
  };
}

function requireObject(params: JsonObject, name: string): JsonObject {
  const value = params[name];
  if (!isObject(value)) throw new McpError('invalid-params', `"${name}" is not an object.`);
  return value;
}

/** The prompt or template that a reference names. A template may be named by itself or by a URI it matches. */
function findTarget(registry: Registry, ref: JsonObject): object {
  const type = requireOneOf(ref['type'], 'ref.type', ['ref/prompt', 'ref/resource']);
  const name = requireString(ref, type === 'ref/prompt' ? 'name' : 'uri');
  const target =
    type === 'ref/prompt' ? registry.prompts.get(name) : (registry.templates.get(name) ?? registry.match(name)?.plan);
  if (target) return target;
  throw type === 'ref/prompt'
    ? new McpError('unknown-prompt', `Unknown prompt: ${excerpt(name)}`)
    : new McpError('invalid-params', `Unknown resource template: ${excerpt(name)}`);
}

function filledIn(params: JsonObject): Readonly<Record<string, string>> {
  const args = optionalObject(optionalObject(params, 'context') ?? {}, 'arguments') ?? {};
  for (const name of Object.keys(args)) requireString(args, name);
  return args as Readonly<Record<string, string>>;
}

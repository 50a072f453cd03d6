import { isObject } from '../../protocol/jsonrpc.js';
import { optionalObject, requireOneOf, requireString } from '../../protocol/checks.js';
import { excerpt, McpError } from '../../protocol/errors.js';
import { andThen } from '../../protocol/maybe-promise.js';
import type { JsonObject } from '../../protocol/model.js';
import type { CompleteResult } from '../../registry/completion-plan.js';
import type { PromptPlan } from '../../registry/prompt-plan.js';
import type { Registry, ResourceMatch } from '../../registry/registry.js';
import { CompletionContext } from '../context.js';
import type { Method, MethodParts } from './method.js';

const NO_VALUES: CompleteResult = { completion: { values: [] } };
const NOTHING = { kind: 'complete', result: NO_VALUES } as const;

/** `completion/complete`. */
export function completionMethods({ registry, members, results }: MethodParts): Record<string, Method> {
  return {
    'completion/complete'(exchange) {
      const { params, revision } = exchange;
      const argument = requireObject(params, 'argument');
      const name = requireString(argument, 'name');
      const value = requireString(argument, 'value');
      const { target, named } = findTarget(registry, requireObject(params, 'ref'));
      const complete = 'completions' in target ? target.completions.get(name) : undefined;
      const context = new CompletionContext(exchange, filledIn(params));
      const outcome = members.run<CompleteResult, CompletionContext>(exchange, {
        kind: 'completion',
        name: named,
        args: { ...context.args, [name]: value },
        access: target.access,
        // nothing of a fixed resource can be completed, so that only its existence could be asked for
        deny: () => (registry.resources.has(named) ? unknownTarget('ref/resource', named) : NOTHING),
        isIntercepted: complete !== undefined,
        context,
        run: (_args, ctx) => complete?.(value, ctx) ?? NO_VALUES,
      });
      return andThen(outcome, (given) =>
        given.kind === 'complete' ? results.write(revision, given.result) : results.writeUnfinished(revision, given),
      );
    },
  };
}

function requireObject(params: JsonObject, name: string): JsonObject {
  const value = params[name];
  if (!isObject(value)) throw new McpError('invalid-params', `"${name}" is not an object.`);
  return value;
}

interface Target {
  readonly target: PromptPlan | ResourceMatch['plan'];
  /** As the client names it. */
  readonly named: string;
}

/** The prompt or template that a reference names. A template may be named by itself or by a URI it matches. */
function findTarget(registry: Registry, ref: JsonObject): Target {
  const type = requireOneOf(ref['type'], 'ref.type', ['ref/prompt', 'ref/resource']);
  const name = requireString(ref, type === 'ref/prompt' ? 'name' : 'uri');
  const target =
    type === 'ref/prompt' ? registry.prompts.get(name) : (registry.templates.get(name) ?? registry.match(name)?.plan);
  return { target: target ?? unknownTarget(type, name), named: name };
}

function unknownTarget(type: string, name: string): never {
  throw type === 'ref/prompt'
    ? new McpError('unknown-prompt', `Unknown prompt: ${excerpt(name)}`)
    : new McpError('invalid-params', `Unknown resource template: ${excerpt(name)}`);
}

function filledIn(params: JsonObject): Readonly<Record<string, string>> {
  const args = optionalObject(optionalObject(params, 'context') ?? {}, 'arguments') ?? {};
  for (const name of Object.keys(args)) requireString(args, name);
  return args as Readonly<Record<string, string>>;
}

import { andThen, excerpt, isObject, type JsonObject } from '@decorum/schema/internal';

import { optionalObject, requireOneOf, requireString, requireUri } from '../../protocol/checks.js';
import { McpError } from '../../protocol/errors.js';
import type { Exchange } from '../../protocol/exchange.js';
import { withFailureCause } from '../../protocol/failure-cause.js';
import type { Completable, CompleteResult } from '../../registry/completion-plan.js';
import type { PromptPlan } from '../../registry/prompt-plan.js';
import type { Registry, ResourceMatch } from '../../registry/registry.js';
import { isVisible } from '../admission.js';
import { CompletionContext } from '../completion-context.js';
import { findLive } from '../live-members.js';
import type { Method, MethodParts } from './method.js';

type Target = PromptPlan | ResourceMatch['plan'];

type Strings = Readonly<Record<string, string>>;

const NO_COMPLETIONS: Pick<Completable, 'completions' | 'variables' | 'fixed'> = {
  completions: new Map(),
  variables: [],
};

const NO_VALUES: CompleteResult = { completion: { values: [] } };

/** `completion/complete`. */
export function completionMethods({ registry, members, results, reporter }: MethodParts): Record<string, Method> {
  const complete = (
    exchange: Exchange,
    target: Target,
    { name, value }: { readonly name: string; readonly value: string },
  ): string | Promise<string> => {
    const { params, revision } = exchange;
    const { type = '', ...ref } = params['ref'] as Strings;
    const named = String(ref[type === 'ref/prompt' ? 'name' : 'uri']);
    const { completions, variables, fixed } = 'completions' in target ? target : NO_COMPLETIONS;
    const own = variables.includes(name) ? completions.get(name) : undefined;
    const context = new CompletionContext(exchange, { ...filledIn(params), ...(fixed as Strings) });
    const outcome = members.run<CompleteResult>(exchange, {
      kind: 'completion',
      name: type === 'ref/prompt' ? target.key : named,
      args: { ...context.args, [name]: value },
      access: target.shown === undefined ? target.access : () => isVisible(target, exchange, reporter),
      deny: () => unknownTarget(type, named),
      isIntercepted: own !== undefined,
      context,
      run: () => own?.(value, context) ?? NO_VALUES,
    });
    return results.writeOutcome(revision, outcome, (result) => results.write(revision, result));
  };

  return {
    'completion/complete'(exchange) {
      const { params } = exchange;
      const argument = requireObject(params, 'argument');
      const name = requireString(argument, 'name');
      const value = requireString(argument, 'value');
      const ref = requireObject(params, 'ref');
      const type = requireOneOf(ref['type'], 'ref.type', ['ref/prompt', 'ref/resource']);
      const named = type === 'ref/prompt' ? requireString(ref, 'name') : requireUri(ref);
      const key = { kind: type === 'ref/prompt' ? 'prompt' : 'resource', key: named } as const;
      const found = findTarget(registry, type, named) ?? findLive(exchange, key, { registry, reporter });
      return andThen(found, (target = unknownTarget(type, named)) =>
        complete(exchange, target as Target, { name, value }),
      );
    },
  };
}

function requireObject(params: JsonObject, name: string): JsonObject {
  const value = params[name];
  if (!isObject(value)) throw new McpError('invalid-params', `"${name}" is not an object.`);
  return value;
}

/** The prompt or template for a reference. A template is referenced by its text, or by a URI that it matches. */
const findTarget = (registry: Registry, type: string, name: string): Target | undefined =>
  type === 'ref/prompt' ? registry.prompts.find(name) : (registry.templates.get(name) ?? registry.match(name)?.plan);

function unknownTarget(type: string, name: string): never {
  throw type === 'ref/prompt'
    ? new McpError('unknown-prompt', `Unknown prompt: ${excerpt(name)}`)
    : withFailureCause(new McpError('invalid-params', `Unknown resource template: ${excerpt(name)}`), 'not-found');
}

function filledIn(params: JsonObject): Strings {
  const args = optionalObject(optionalObject(params, 'context') ?? {}, 'arguments') ?? {};
  for (const name of Object.keys(args)) requireString(args, name);
  return args as Strings;
}

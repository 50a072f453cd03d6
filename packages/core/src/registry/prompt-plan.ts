import { andThen, type JsonObject, type Shape } from '@decorum/schema/internal';

import { McpError } from '../protocol/errors.js';
import type { GetPromptResult, Prompt, PromptArgument } from '../protocol/model.js';
import { aliasesOf } from './aliases.js';
import { listOf, readBody } from './bodies.js';
import type { Completable } from './completion-plan.js';
import { isGenerator } from './generators.js';
import { stringInvoker } from './invoker.js';
import type { Caller } from './caller.js';
import { given, guardsOf, inputShape, listedFields, type Member, type Plan } from './plan.js';
import { policyOf } from './policies/policies.js';
import type { PolicyDefaults } from './policies/policy.js';
import { toGetPromptResult } from './results.js';

/** A compiled prompt. */
export interface PromptPlan extends Plan<Prompt>, Completable {
  /**
   * Validates the arguments, calls the method and converts its return value to messages.
   * @throws {McpError} `invalid-params` that lists the problems
   */
  run(args: JsonObject, caller: Caller): GetPromptResult | Promise<GetPromptResult>;
}

/** Compiles a prompt. */
export function compilePrompt(member: Member<'prompt'>, defaults: PolicyDefaults = {}): PromptPlan {
  const { where } = member;
  const input = inputShape(member);
  const call = stringInvoker(member, input);
  const entry: Prompt = { ...listedFields(member), ...(input && { arguments: promptArguments(input) }) };
  const run: PromptPlan['run'] = (args, caller) =>
    andThen(andThen(call(input ? requireTexts(args) : {}, caller), read(caller)), (value) =>
      toGetPromptResult(value, entry.description, where),
    );
  const policy = policyOf({ where, record: member, defaults });
  return {
    key: entry.name,
    where,
    entry,
    ...guardsOf(member),
    aliases: aliasesOf(member),
    variables: input ? [...input.fields.keys()] : [],
    completions: new Map(),
    run: policy ? (args, caller) => policy({ args, caller }, (inner) => run(args, inner)) : run,
  };
}

/**
 * Prompt arguments are sent as strings, even if the handler gets numbers (MCP, `GetPromptRequest`).
 * @throws {McpError} `invalid-params`
 */
function requireTexts(args: JsonObject): JsonObject {
  const path = Object.keys(args).find((name) => typeof args[name] !== 'string');
  if (path === undefined) return args;
  const expected = 'must be a string';
  throw new McpError('invalid-params', `Invalid arguments: ${path} ${expected}`, { problems: [{ path, expected }] });
}

/** Reads bodies, streams and generators, which cannot be sent as is. */
const read = (caller: Caller) => (value: unknown) => {
  if (typeof value !== 'object' || value === null) return value;
  const body = readBody(value, caller)?.then(({ data }) => data);
  return body ?? (isGenerator(value) ? listOf(value, caller) : value);
};

function promptArguments({ published, fields }: Shape): PromptArgument[] {
  const properties = (published['properties'] ?? {}) as Record<string, { title?: string; description?: string }>;
  return [...fields].map(([name, { required }]) => ({
    name,
    ...given(properties[name] ?? {}, ['title', 'description']),
    required,
  }));
}

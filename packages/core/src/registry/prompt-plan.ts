import { McpError, startupError } from '../protocol/errors.js';
import { andThen } from '../protocol/maybe-promise.js';
import type { GetPromptResult, JsonObject, Prompt, PromptArgument } from '../protocol/model.js';
import type { Access } from '../protocol/wire.js';
import type { Checked, Problem, Shape } from '../schema/shape.js';
import { takesObjectsOnly } from '../schema/strings.js';
import { accessOf, type Caller, callerOf, checkName, inputShape, listedFields, type Member, whereOf } from './plan.js';
import { toGetPromptResult } from './results.js';

/** A prompt, ready to be listed and got. */
export interface PromptPlan {
  readonly name: string;
  readonly where: string;
  readonly entry: Prompt;
  /** Who may see and get it; undefined where everybody may. */
  readonly access: Access | undefined;
  /** Names of the arguments, for completions. */
  readonly variables: readonly string[];
  /**
   * Checks the arguments, calls the method and turns what it returns into messages.
   * @throws {McpError} `invalid-params` that lists every wrong argument
   */
  run(args: JsonObject, caller: Caller): GetPromptResult | Promise<GetPromptResult>;
}

/** Compiles a prompt. */
export function compilePrompt(member: Member<'prompt'>): PromptPlan {
  const where = whereOf(member);
  const call = callerOf(member);
  const input = inputShape(member);
  if (input) refuseObjects(input, where);
  const fields = listedFields(member);
  checkName(member, fields.name);
  const entry: Prompt = { ...fields, ...(input && { arguments: promptArguments(input) }) };
  return {
    name: entry.name,
    where,
    entry,
    access: accessOf(member),
    variables: input ? [...input.fields.keys()] : [],
    run: (args, caller) =>
      andThen(input?.checkStrings(args), (checked) =>
        andThen(call(requireInput(checked), caller), (value) => toGetPromptResult(value, entry.description, where)),
      ),
  };
}

/**
 * Refuses fields that no text can fill.
 * @throws {DecorumError} `DECORUM_OBJECT_ARGUMENT`
 */
export function refuseObjects({ json, fields }: Shape, where: string): void {
  const nested = [...fields.keys()].find((name) => takesObjectsOnly(json, name));
  if (nested !== undefined) throw startupError('DECORUM_OBJECT_ARGUMENT', where, nested);
}

function promptArguments(input: Shape): PromptArgument[] {
  const properties = (input.json['properties'] ?? {}) as Record<string, { title?: string; description?: string }>;
  return [...input.fields].map(([name, { required }]) => {
    const { title, description } = properties[name] ?? {};
    return {
      name,
      ...(title !== undefined && { title }),
      ...(description !== undefined && { description }),
      required,
    };
  });
}

const describeProblem = ({ path, expected }: Problem) => `${path || 'the arguments'} ${expected}`;

/**
 * The input of a handler that takes strings from the wire.
 * @throws {McpError} `invalid-params` that lists everything that is wrong
 */
export function requireInput(checked: Checked | undefined): unknown {
  if (checked === undefined) return {};
  if (checked.ok) return checked.value;
  throw new McpError('invalid-params', `Invalid arguments: ${checked.problems.map(describeProblem).join('; ')}`, {
    problems: checked.problems,
  });
}

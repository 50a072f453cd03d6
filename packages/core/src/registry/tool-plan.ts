import type { CallToolResult, JsonObject, Tool, ToolAnnotations } from '../protocol/model.js';
import { compileShape } from '../schema/compile.js';
import type { Checked, Problem, SchemaSource, Shape } from '../schema/shape.js';
import { drain, isGenerator } from './generators.js';
import { type Caller, callerOf, checkName, inputShape, listedFields, type Member, whereOf } from './plan.js';
import { errorResult, toCallToolResult } from './results.js';

/** A tool, ready to be listed and called. */
export interface ToolPlan {
  readonly name: string;
  readonly where: string;
  readonly entry: Tool;
  /**
   * Checks the arguments, calls the method and turns what it returns into content. Wrong arguments give a result with
   * `isError` that lists them all. What the method throws is thrown.
   */
  run(args: JsonObject, caller: Caller): CallToolResult | Promise<CallToolResult>;
}

const NO_ARGUMENTS: JsonObject = { type: 'object', properties: {}, additionalProperties: false };

/** Compiles a tool. */
export function compileTool(member: Member): ToolPlan {
  const where = whereOf(member);
  const call = callerOf(member);
  const input = inputShape(member) ?? compileShape(NO_ARGUMENTS, where);
  const source = member.record.options['output'] as SchemaSource | undefined;
  const output = source && compileShape(source, `${where} (output)`, 'output');
  const annotations = member.record.options['annotations'] as ToolAnnotations | undefined;
  const fields = listedFields(member);
  checkName(member, fields.name);
  const entry: Tool = {
    ...fields,
    inputSchema: input.json,
    ...(output && { outputSchema: output.json }),
    ...(annotations && { annotations }),
  };
  const invoke = (checked: Checked, caller: Caller): CallToolResult | Promise<CallToolResult> => {
    if (!checked.ok) return errorResult(listProblems(checked.problems));
    const value = call(checked.value, caller);
    if (value instanceof Promise) return value.then((settled) => conclude(settled, output, caller));
    return conclude(value, output, caller);
  };
  return {
    name: entry.name,
    where,
    entry,
    run(args, caller) {
      const checked = input.check(args);
      return checked instanceof Promise ? checked.then((result) => invoke(result, caller)) : invoke(checked, caller);
    },
  };
}

function conclude(value: unknown, output: Shape | undefined, caller: Caller): CallToolResult | Promise<CallToolResult> {
  if (isGenerator(value)) return drain(value, caller).then((final) => toCallToolResult(final, output));
  return toCallToolResult(value, output);
}

/** What a model reads when its arguments are wrong. */
function listProblems(problems: readonly Problem[]): string {
  const lines = problems.map(({ path, expected }) => `- ${path === '' ? 'the arguments' : path}: ${expected}`);
  return `The arguments are not valid:\n${lines.join('\n')}`;
}

import type { CallToolResult, JsonObject, Tool } from '../protocol/model.js';
import { NeedInput } from '../protocol/input.js';
import type { Access, MirroredArgument } from '../protocol/wire.js';
import { compileShape } from '../schema/compile.js';
import type { Problem } from '../schema/shape.js';
import { drain } from './generators.js';
import { mirroredArguments } from './mirrored.js';
import {
  accessOf,
  type Caller,
  callerOf,
  checkName,
  inputShape,
  listedFields,
  type Member,
  methodsOf,
  whereOf,
} from './plan.js';
import { errorResult, toCallToolResult } from './results.js';

/** A tool, ready to be listed and called. */
export interface ToolPlan {
  readonly name: string;
  readonly where: string;
  readonly entry: Tool;
  /** Who may see and call it; undefined where everybody may. */
  readonly access: Access | undefined;
  /** Arguments that clients repeat in headers. */
  readonly mirrored: readonly MirroredArgument[];
  /**
   * Checks the arguments, calls the method and turns what it returns into content. Wrong arguments give a result with
   * `isError` that lists them all. What the method throws is thrown.
   */
  run(args: JsonObject, caller: Caller): Promise<CallToolResult>;
}

const NO_ARGUMENTS: JsonObject = { type: 'object', properties: {}, additionalProperties: false };

/** Compiles a tool. */
export function compileTool(member: Member<'tool'>): ToolPlan {
  const where = whereOf(member);
  const methods = methodsOf(member);
  const call = callerOf(member);
  const { key, options } = member.record;
  const { annotations } = options;
  const input = inputShape(member) ?? compileShape(NO_ARGUMENTS, where);
  const output = options.output ? compileShape(options.output, `${where} (output)`, 'output') : undefined;
  const fields = listedFields(member);
  checkName(member, fields.name);
  const entry: Tool = {
    ...fields,
    inputSchema: input.json,
    ...(output && { outputSchema: output.json }),
    ...(annotations && { annotations }),
  };
  return {
    name: entry.name,
    where,
    entry,
    access: accessOf(member),
    mirrored: mirroredArguments(input.json, where),
    async run(args, caller) {
      const checking = input.check(args);
      const checked = checking instanceof Promise ? await checking : checking;
      if (!checked.ok) return errorResult(listProblems(checked.problems));
      let value = await methods[key]?.(checked.value, caller);
      if (typeof value === 'string' && output === undefined) return { content: [{ type: 'text', text: value }] };
      if (value instanceof NeedInput) {
        await caller.collect(value);
        value = await call(checked.value, caller);
      }
      if (typeof value === 'object' && value !== null && Symbol.asyncIterator in value) {
        value = await drain(value as AsyncIterable<unknown>, caller);
      }
      return await toCallToolResult(value, output);
    },
  };
}

/** What a model reads when its arguments are wrong. */
function listProblems(problems: readonly Problem[]): string {
  const lines = problems.map(({ path, expected }) => `- ${path === '' ? 'the arguments' : path}: ${expected}`);
  return `The arguments are not valid:\n${lines.join('\n')}`;
}

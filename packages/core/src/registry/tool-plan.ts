import {
  type Checked,
  compileShape,
  EMPTY_SHAPE,
  ExtraFields,
  hasObjectRoot,
  invalidOption,
  type JsonObject,
  repairing,
  type Shape,
} from '@decorum/schema/internal';

import type { CallToolResult, Tool } from '../protocol/model.js';
import { NeedInput } from '../protocol/input.js';
import { REVISIONS } from '../protocol/revisions/index.js';
import type { MirroredArgument } from '../protocol/wire.js';
import { aliasesOf } from './aliases.js';
import { readBody } from './bodies.js';
import { drain, isGenerator } from './generators.js';
import { mirroredArguments } from './mirrored.js';
import { callAfter, repeaterOf } from './invoker.js';
import type { Caller } from './caller.js';
import { given, guardsOf, inputShape, listedFields, type Member, type Plan } from './plan.js';
import { policyOf } from './policies/policies.js';
import type { PolicyDefaults } from './policies/policy.js';
import { orPlan } from './previews/plan-output.js';
import { previewOf } from './previews/preview-option.js';
import { admitting, previewing } from './previews/previewing.js';
import { withTicket } from './previews/ticket-argument.js';
import { checkTextOption, invalidArguments, type TextOption, toCallToolResult, type ToolEncoding } from './results.js';
import { deferring, type InputCheck, listProblems } from './tool-input.js';

/** What extensions make of a tool. */
export interface ToolExtras {
  /** The tool's options, with those of extensions. */
  readonly options: JsonObject;
  /** Starts a call in place of the handler, and returns the result. Undefined leaves the call to the handler. */
  start?(starting: never): Promise<JsonObject> | undefined;
  /** Changes the entry as written for a revision and a variant of clients. Undefined hides it. */
  write?(entry: JsonObject, revision: string, variant: number): JsonObject | undefined;
}

/**
 * The key of an option of tools that find or call others. What they find belongs to their own server, so servers that
 * mount it don't serve them. A symbol, because only our own packages set it.
 */
export const FINDER: unique symbol = Symbol.for('decorum:finder') as never;

/** A compiled tool. */
export interface ToolPlan extends Plan<Tool> {
  /** The tool's options, with those of extensions. */
  readonly options: JsonObject;
  /** What extensions make of it; undefined if nothing. */
  readonly extras: ToolExtras | undefined;
  /** Arguments that clients mirror in headers. */
  readonly mirrored: readonly MirroredArgument[];
  /** Whether structured objects are sent unchanged; indexed by the revision's rank. */
  readonly sendsObjects: readonly boolean[];
  /** Whether it finds or calls other tools. Then whoever may list tools may call it. */
  readonly isFinder?: true;
  /** Whether its result may be a plan. */
  readonly hasPreview?: true;
  /** Validates arguments as a call does. Undefined if only another server can. */
  check?(args: JsonObject): Checked | Promise<Checked>;
  /**
   * Validates the arguments, calls the method and converts its return value to content. Invalid arguments produce a
   * result with `isError` that lists the problems. Errors that the method throws are rethrown.
   */
  run(args: JsonObject, caller: Caller): CallToolResult | Promise<CallToolResult>;
}

/** Server-wide defaults for tools. */
export interface ToolDefaults extends PolicyDefaults {
  /** The text to send along with structured content. */
  readonly text?: TextOption;
  /** Whether to repair invalid arguments. */
  readonly coerce?: boolean | undefined;
  /** What extensions make of tools. */
  readonly extended?: {
    extrasOf(tool: Tool, options: JsonObject): ToolExtras | undefined;
  };
}

/**
 * Compiles a tool.
 * @param defaults server-wide defaults for options that the tool does not set
 */
export function compileTool(member: Member<'tool'>, defaults: ToolDefaults): ToolPlan {
  const { text = true, coerce = false, extended } = defaults;
  const { options, where } = member;
  const input = inputShape(member) ?? EMPTY_SHAPE;
  const output = options.output ? compileShape(options.output, `${where} (output)`, 'output') : undefined;
  const taken = (options.coerce ?? coerce) ? repairing(input) : input;
  const preview = previewOf(member);
  const entry: Tool = {
    ...listedFields(member),
    inputSchema: preview ? withTicket(withType(input), where) : withType(input),
    ...(output && { outputSchema: preview ? orPlan(withType(output)) : withType(output) }),
    ...given(options, ['annotations']),
  };
  const check = preview ? admitting(taken, member.host !== undefined) : member.host ? deferring(taken) : taken;
  const plain = runnerOf(member, check, {
    where,
    output,
    extra: extraOf(member, output),
    text: textOf(member) ?? text,
  });
  const run = preview ? previewing({ member, preview, input: taken, output, run: plain }) : plain;
  const policy = policyOf({ where, record: member, defaults });
  return {
    key: entry.name,
    where,
    entry,
    ...guardsOf(member),
    aliases: aliasesOf(member),
    options: options as JsonObject,
    extras: extended?.extrasOf(entry, options as JsonObject),
    mirrored: mirroredArguments(input.published, where),
    sendsObjects: REVISIONS.map((revision) => revision.sendsObjects(entry)),
    ...(FINDER in options && { isFinder: true as const }),
    ...(preview && { hasPreview: true as const }),
    check: (args) => taken.check(args),
    run: policy ? (args, caller) => policy({ args, caller }, (inner) => run(args, inner)) : run,
  };
}

/** The protocol requires `type: 'object'` at the root, which a union or a reference lacks. */
function withType(shape: Shape): JsonObject {
  return 'type' in shape.published || !hasObjectRoot(shape) ? shape.published : { type: 'object', ...shape.published };
}

/**
 * The tool's `text` option.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` if it is invalid, or if the tool has no `output`
 */
function textOf({ options: { text, output }, where }: Member<'tool'>): TextOption {
  if (text !== undefined && output === undefined) {
    const problem = 'is the text beside structured content, but there is no `output`. Add `output`, or return the text';
    throw invalidOption(where, 'text', problem);
  }
  checkTextOption(text, where);
  return text;
}

/**
 * What leaves out extra fields, if the tool asks for it.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` if `extraOutput` is invalid, or if the tool has no `output`
 */
function extraOf(
  { options: { extraOutput }, where }: Member<'tool'>,
  output: Shape | undefined,
): ExtraFields | undefined {
  if (extraOutput === undefined) return undefined;
  if (extraOutput !== 'drop' && extraOutput !== 'reject') {
    throw invalidOption(where, 'extraOutput', `is ${JSON.stringify(extraOutput)}. Use 'reject' or 'drop'`);
  }
  if (output !== undefined) return extraOutput === 'drop' ? new ExtraFields(output.published) : undefined;
  throw invalidOption(where, 'extraOutput', 'is about the fields of `output`, which is missing. Add `output`');
}

function runnerOf(member: Member, input: InputCheck, encoding: ToolEncoding): ToolPlan['run'] {
  const { methods, key } = member;
  const repeat = repeaterOf(member);

  const finish = (value: unknown, args: unknown, caller: Caller): CallToolResult | Promise<CallToolResult> => {
    if (typeof value === 'string' && encoding.output === undefined) return { content: [{ type: 'text', text: value }] };
    if (typeof value !== 'object' || value === null) return toCallToolResult(value, encoding);
    if (value instanceof NeedInput) {
      return repeat(value, args, caller).then((result) => finish(result, args, caller));
    }
    const settling = readBody(value, caller) ?? (isGenerator(value) ? drain(value, caller) : undefined);
    return settling?.then((result) => finish(result, args, caller)) ?? toCallToolResult(value, encoding);
  };

  const call = (checked: Checked, caller: Caller): CallToolResult | Promise<CallToolResult> => {
    if (!checked.ok) return invalidArguments(listProblems(checked.problems));
    const { value: args } = checked;
    const value = methods[key]?.(args, caller) as { readonly then?: unknown } | null | undefined;
    // any thenable: query builders have promises of their own, and proxies of remote calls are functions
    return (typeof value === 'object' || typeof value === 'function') && typeof value?.then === 'function'
      ? Promise.resolve(value).then((result) => finish(result, args, caller))
      : finish(value, args, caller);
  };

  return (args, caller) => {
    const checked = input.check(args);
    return checked instanceof Promise
      ? callAfter(checked, caller, (settled) => call(settled, caller))
      : call(checked, caller);
  };
}

import { ANNOTATION_NAMES, OPTION_NAMES } from '../metadata/member-options.js';
import type { MemberKind, MemberRecord } from '../metadata/records.js';
import type { Class } from '../metadata/store.js';
import { startupError } from '../protocol/errors.js';
import { NeedInput } from '../protocol/input.js';
import { requireKnown } from '../protocol/option-names.js';
import { andThen } from '../protocol/maybe-promise.js';
import type { Icon, JsonObject, Prompt } from '../protocol/model.js';
import type { CacheHint } from '../protocol/revisions/revision.js';
import type { Access } from '../protocol/wire.js';
import { compileShape, hasObjectRoot } from '../schema/compile.js';
import { NoInput, type Shape } from '../schema/shape.js';
import { inferredInput } from './inferred-input.js';
import { isTraceKey, isTraceValue } from './trace-meta.js';

/** A decorated method of a provider, with everything needed to call it. */
export interface Member<Kind extends MemberKind = MemberKind> {
  readonly record: MemberRecord<Kind>;
  readonly cls: Class;
  readonly instance: object;
  /** Put before the names of the provider's members. */
  readonly prefix: string;
}

/** A member that is listed, and has the options of such. */
type ListedMember = Member<'tool' | 'prompt' | 'resource'>;

/** What a plan needs of a handler's context; the kernel passes the whole of it. */
export interface Caller {
  /** Reports progress of the call. */
  progress(progress: number, total?: number, message?: string): void;
  /** Aborts when nobody wants the result any more. */
  readonly signal: AbortSignal;
  /** Asks the client what a handler needs before it can run again. */
  collect(needed: NeedInput): Promise<void>;
}

/** `Class.method`, for messages. */
export function whereOf({ cls, record }: Member): string {
  return `${cls.name}.${record.key}`;
}

type Methods = Readonly<Record<string, (input: unknown, caller: Caller) => unknown>>;

/**
 * The methods of the instance. They are called by name, not kept: what overrides, wraps or spies on one takes effect.
 * @throws {DecorumError} `DECORUM_NOT_A_METHOD`
 */
export function methodsOf(member: Member): Methods {
  const { instance, record } = member;
  const methods = instance as Methods;
  if (typeof methods[record.key] === 'function') return methods;
  throw startupError('DECORUM_NOT_A_METHOD', whereOf(member), record.kind);
}

/** How often a handler may ask by returning before it has a result. */
const MAX_ROUNDS = 10;

/**
 * Calls a handler again until it has a result, with what the client has answered.
 * @returns rejects when the handler asks without end
 */
export function repeaterOf(member: Member): (needed: NeedInput, input: unknown, caller: Caller) => Promise<unknown> {
  const methods = methodsOf(member);
  const { key } = member.record;
  return async (needed, input, caller) => {
    let value: unknown = needed;
    for (let round = 1; round <= MAX_ROUNDS; round++) {
      await caller.collect(value as NeedInput);
      value = await methods[key]?.(input, caller);
      if (!(value instanceof NeedInput)) return value;
    }
    throw new Error(`${whereOf(member)} has asked ${MAX_ROUNDS} times and still has no result.`);
  };
}

/**
 * Calls the method of the member, again as long as it needs input: at once where nothing has to be waited for.
 * @throws {DecorumError} `DECORUM_NOT_A_METHOD`
 */
export function callerOf(member: Member): (input: unknown, caller: Caller) => unknown {
  const methods = methodsOf(member);
  const { key } = member.record;
  const repeat = repeaterOf(member);
  return (input, caller) =>
    andThen(methods[key]?.(input, caller), (value) =>
      value instanceof NeedInput ? repeat(value, input, caller) : value,
    );
}

/**
 * The schema of a handler's input: the option `input`, else the emitted class of the first parameter; undefined for a
 * handler without parameters.
 * @throws {DecorumError} `DECORUM_NOT_A_METHOD`, `DECORUM_MISSING_INPUT` and those of the schema
 */
export function inputShape(member: ListedMember): Shape | undefined {
  methodsOf(member);
  const where = whereOf(member);
  const { cls, instance, record } = member;
  const source = record.options.input ?? inferredInput(cls, record.key, declaredMethod(cls, instance, record.key));
  if (source === undefined || source === NoInput) return undefined;
  const shape = compileShape(source, where);
  if (!hasObjectRoot(shape)) {
    throw startupError(
      'DECORUM_INVALID_SCHEMA',
      where,
      'the input is not an object, so its root must say "type": "object"',
    );
  }
  return shape;
}

/** As the class has it: the instance may be a stand-in, whose methods say nothing of their parameters. */
const declaredMethod = (cls: Class, instance: object, key: string): unknown =>
  (cls.prototype as Methods)[key] ?? (instance as Methods)[key];

const SCHEMAS = ['input', 'output'];

/**
 * Refuses options that a decorator does not have, and those without which it means nothing.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function checkOptions(member: Member): void {
  const { kind, options } = member.record;
  const where = whereOf(member);
  requireKnown(where, options, OPTION_NAMES[kind]);
  const given: Readonly<Record<string, unknown>> = { ...options };
  if ((kind === 'tool' || kind === 'resource') && given['annotations'] !== undefined) {
    requireKnown(`${where} (annotations)`, given['annotations'], ANNOTATION_NAMES[kind]);
  }
  const absent = SCHEMAS.find((name) => name in given && (given[name] ?? undefined) === undefined);
  if (absent !== undefined) {
    const problem = `is ${given[absent]}, often because two modules import each other. Move the class to a module of its own, or leave \`${absent}\` out`;
    throw startupError('DECORUM_INVALID_OPTION', where, absent, problem);
  }
  if (kind === 'resource' && typeof given['uri'] !== 'string') {
    throw startupError('DECORUM_INVALID_OPTION', where, 'uri', "is not a string. Write @Resource('docs://readme')");
  }
  if (kind === 'completion' && !(isNames(given['for']) && typeof given['argument'] === 'string')) {
    const problem = "and `argument` are missing. Write @Completion({ for: 'method', argument: 'name' })";
    throw startupError('DECORUM_INVALID_OPTION', where, 'for', problem);
  }
}

const isNames = (value: unknown): boolean => [value].flat().every((name) => typeof name === 'string');

/**
 * Refuses icons that clients do not load.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` for other schemes than http, https and data
 */
export function checkIcons(icons: readonly Icon[] | undefined, where: string): void {
  for (const { src } of icons ?? []) {
    if (/^(?:https?|data):/i.test(src)) continue;
    throw startupError('DECORUM_INVALID_OPTION', where, 'icons', `have the source "${src}": use https, http or data`);
  }
}

/**
 * Refuses what no result can say of being kept.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function checkCache({ ttlMs, scope }: CacheHint, where: string): void {
  if (Number.isInteger(ttlMs) && ttlMs >= 0 && (scope === 'public' || scope === 'private')) return;
  const problem = 'is not { ttlMs: 0 or more, scope: "public" or "private" }';
  throw startupError('DECORUM_INVALID_OPTION', where, 'cache', problem);
}

const RESERVED = new Set<unknown>(['modelcontextprotocol', 'mcp']);

// a prefix of labels, which may be left out, and a name, which may be empty after a prefix
const META_KEY =
  /^(?!$)(?:(?:[a-z](?:[a-z0-9-]*[a-z0-9])?\.)*[a-z](?:[a-z0-9-]*[a-z0-9])?\/)?(?:[a-z0-9](?:[\w.-]*[a-z0-9])?)?$/i;

/**
 * Refuses keys that do not follow the grammar, and those that are the protocol's own: their first or second label says
 * so. Keys of traces have their formats.
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/index#meta
 */
function checkMeta(meta: JsonObject = {}, where: string): void {
  const wrong = (problem: string) => startupError('DECORUM_INVALID_OPTION', where, '_meta', problem);
  for (const [key, value] of Object.entries(meta)) {
    if (!META_KEY.test(key)) throw wrong(`has the key "${key}", which is no name with or without a prefix of labels`);
    const [first, second] = key.includes('/') ? (key.split('/')[0] as string).split('.') : [];
    if (second !== undefined && (RESERVED.has(first) || RESERVED.has(second))) {
      throw wrong(`has the key "${key}", which is reserved for the protocol`);
    }
    if (isTraceKey(key) && !isTraceValue(key, value)) throw wrong(`has a "${key}" that is not in its W3C format`);
  }
}

/**
 * The fields that every list entry has in common.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` for icons and `_meta` keys that cannot be sent
 */
export function listedFields(member: ListedMember): Omit<Prompt, 'arguments'> {
  const { name, title, description, icons, _meta } = member.record.options;
  checkIcons(icons, whereOf(member));
  checkMeta(_meta, whereOf(member));
  return {
    name: member.prefix + (name ?? member.record.key),
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(icons !== undefined && { icons }),
    ...(_meta !== undefined && { _meta }),
  };
}

/**
 * Who may see and use the member; undefined where everybody may.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` for anything but a function: a restriction must not get lost
 */
export function accessOf(member: ListedMember): Access | undefined {
  const { options } = member.record;
  if (!('access' in options)) return undefined;
  if (typeof options.access === 'function') return options.access;
  throw startupError('DECORUM_INVALID_OPTION', whereOf(member), 'access', 'is not a function that says who may');
}

const NAME = /^[A-Za-z0-9_.-]{1,128}$/;

/**
 * Refuses names that clients may not accept.
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-names
 * @throws {DecorumError} `DECORUM_INVALID_NAME`
 */
export function checkName(member: ListedMember, name: string): void {
  if (!NAME.test(name)) throw startupError('DECORUM_INVALID_NAME', whereOf(member), name);
}

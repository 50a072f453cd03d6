import type { MemberKind, MemberRecord } from '../metadata/records.js';
import type { Class } from '../metadata/store.js';
import { McpError, startupError } from '../protocol/errors.js';
import { NeedInput } from '../protocol/input.js';
import { andThen } from '../protocol/maybe-promise.js';
import type { Icon, JsonObject, Prompt } from '../protocol/model.js';
import { type OptionTypes, requireKnown } from '../protocol/option-names.js';
import { pick } from '../protocol/revisions/fields.js';
import type { CacheHint } from '../protocol/revisions/revision.js';
import type { Access } from '../protocol/wire.js';
import { compileShape, hasObjectRoot } from '../schema/compile.js';
import { type Checked, NoInput, type Shape } from '../schema/shape.js';
import { takesObjectsOnly } from '../schema/strings.js';
import { checkOptions } from './check-options.js';
import { checkParameters, inferredInput } from './inferred-input.js';
import type { Listed } from './page.js';
import { isTraceKey, isTraceValue } from './trace-meta.js';

/** A class whose members are served, with the object they are called on. */
export interface Provider {
  readonly cls: Class;
  readonly instance: object;
  /** Put before the names of its tools, prompts and resources. */
  readonly prefix: string;
  /** Put before the URIs of its resources. */
  readonly uriPrefix: string;
  /** The members to serve; by default the decorated ones of the class. */
  readonly records?: readonly MemberRecord[];
}

/** A decorated method of a provider, with everything needed to call it. */
export type Member<Kind extends MemberKind = MemberKind> = MemberRecord<Kind> &
  Pick<Provider, 'cls' | 'prefix'> & {
    /** The instance. Methods are called by name, not kept: what overrides, wraps or spies on one takes effect. */
    readonly methods: Readonly<Record<string, (input: unknown, caller: Caller) => unknown>>;
    /** `Class.method`, for messages. */
    readonly where: string;
  };

/** A member that is listed, and has the options of such. */
type ListedMember = Member<'tool' | 'prompt' | 'resource'>;

/** A listed member, ready to be used; its key is its name, URI or URI template. */
export interface Plan<Entry> extends Listed<Entry> {
  readonly where: string;
}

/** What a plan needs of a handler's context; the kernel passes the whole of it. */
export interface Caller {
  /** Reports progress of the call. */
  progress(progress: number, total?: number, message?: string): void;
  /** Aborts when nobody wants the result any more. */
  readonly signal: AbortSignal;
  /** Asks the client what a handler needs before it can run again. */
  collect(needed: NeedInput): Promise<void>;
}

/** The error of an option that cannot be used. */
export const invalidOption = (where: string, option: string, problem: string) =>
  startupError('DECORUM_INVALID_OPTION', where, option, problem);

/** Methods of providers that the server itself calls. */
const HOOKS = new Set(['onStart', 'onClose']);

/**
 * The member that a record is about, with the URI that it has in this provider.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`, `DECORUM_NOT_A_METHOD`, `DECORUM_RESERVED_MEMBER`
 */
export function memberOf({ cls, instance, prefix, uriPrefix }: Provider, record: MemberRecord): Member {
  const { kind, key } = record;
  const where = `${cls.name}.${key}`;
  checkOptions(record, where);
  const methods = instance as Member['methods'];
  if (HOOKS.has(key)) throw startupError('DECORUM_RESERVED_MEMBER', where);
  if (typeof methods[key] !== 'function') throw startupError('DECORUM_NOT_A_METHOD', where, kind);
  checkParameters(cls, record, declaredMethod({ cls, key, methods }));
  const member = { ...record, cls, prefix, methods, where };
  if (member.kind !== 'resource') return member;
  return { ...member, options: { ...member.options, uri: uriPrefix + member.options.uri } };
}

/** How often a handler may ask by returning before it has a result. */
const MAX_ROUNDS = 10;

/**
 * Calls a handler again until it has a result, with what the client has answered.
 * @returns rejects when the handler asks without end
 */
export function repeaterOf({ methods, key, where }: Member) {
  return async (needed: NeedInput, input: unknown, caller: Caller): Promise<unknown> => {
    let value: unknown = needed;
    for (let round = 1; round <= MAX_ROUNDS; round++) {
      await caller.collect(value as NeedInput);
      value = await methods[key]?.(input, caller);
      if (!(value instanceof NeedInput)) return value;
    }
    throw new Error(`${where} has asked ${MAX_ROUNDS} times and still has no result.`);
  };
}

/** Calls the method of the member, again as long as it needs input: at once where nothing has to be waited for. */
export function invoker(member: Member) {
  const { methods, key } = member;
  const repeat = repeaterOf(member);
  return (input: unknown, caller: Caller): unknown =>
    andThen(methods[key]?.(input, caller), (value) =>
      value instanceof NeedInput ? repeat(value, input, caller) : value,
    );
}

/**
 * As `invoker`, for a handler that takes strings from the wire: they are checked where it has a schema.
 * @throws {DecorumError} `DECORUM_OBJECT_ARGUMENT` for fields that no text can fill
 */
export function stringInvoker(member: Member, input: Shape | undefined) {
  const call = invoker(member);
  if (input === undefined) return call;
  const nested = [...input.fields.keys()].find((name) => takesObjectsOnly(input.json, name));
  if (nested !== undefined) throw startupError('DECORUM_OBJECT_ARGUMENT', member.where, nested);
  return (strings: Readonly<Record<string, unknown>>, caller: Caller): unknown =>
    andThen(input.checkStrings(strings), (checked) => call(requireInput(checked), caller));
}

/** @throws {McpError} `invalid-params` that lists everything that is wrong */
function requireInput(checked: Checked): unknown {
  if (checked.ok) return checked.value;
  const { problems } = checked;
  const list = problems.map(({ path, expected }) => `${path || 'the arguments'} ${expected}`);
  throw new McpError('invalid-params', `Invalid arguments: ${list.join('; ')}`, { problems });
}

/**
 * The schema of a handler's input: the option `input`, else the emitted class of the first parameter; undefined for a
 * handler without parameters.
 * @throws {DecorumError} `DECORUM_MISSING_INPUT` and those of the schema
 */
export function inputShape(member: ListedMember): Shape | undefined {
  const { cls, key, where } = member;
  const source = member.options.input ?? inferredInput(cls, key, declaredMethod(member));
  if (source === undefined || source === NoInput) return undefined;
  const shape = compileShape(source, where);
  if (!hasObjectRoot(shape)) {
    const remedy = "Write `{ type: 'object', properties: { … } }`, or `z.object({ … })`";
    const problem = `arguments have names, so its root must say "type": "object". ${remedy}`;
    throw startupError('DECORUM_INVALID_SCHEMA', where, problem);
  }
  return shape;
}

/** As the class has it: the instance may be a stand-in, whose methods say nothing of their parameters. */
const declaredMethod = ({ cls, key, methods }: Pick<Member, 'cls' | 'key' | 'methods'>): unknown =>
  (cls.prototype as Record<string, unknown>)[key] ?? methods[key];

/**
 * Refuses icons that clients do not load.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` for other schemes than http, https and data
 */
export function checkIcons(icons: readonly Icon[] = [], where: string): void {
  for (const icon of icons) {
    requireKnown(`${where} (icons)`, icon, ICON_OPTIONS);
    if (/^(?:https?|data):/i.test(icon.src)) continue;
    throw invalidOption(where, 'icons', `have the source "${icon.src}". Use https, http or data`);
  }
}

const ICON_OPTIONS: OptionTypes<Icon> = { src: 'string', mimeType: 'string', sizes: 'array', theme: 'string' };

/**
 * Refuses what no result can say of being kept.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function checkCache(cache: CacheHint, where: string): void {
  requireKnown(`${where} (cache)`, cache, { ttlMs: true, scope: true } satisfies OptionTypes<CacheHint>);
  const { ttlMs, scope } = cache;
  if (Number.isInteger(ttlMs) && ttlMs >= 0 && (scope === 'public' || scope === 'private')) return;
  throw invalidOption(where, 'cache', 'must be { ttlMs: 0 or more, scope: "public" or "private" }');
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
  const wrong = (problem: string) => invalidOption(where, '_meta', problem);
  for (const [key, value] of Object.entries(meta)) {
    if (!META_KEY.test(key)) throw wrong(`has the key "${key}", which is no name with or without a prefix of labels`);
    const [first, second] = key.includes('/') ? (key.split('/')[0] as string).split('.') : [];
    if (second !== undefined && (RESERVED.has(first) || RESERVED.has(second))) {
      throw wrong(`has the key "${key}", which is reserved for the protocol`);
    }
    if (isTraceKey(key) && !isTraceValue(key, value)) throw wrong(`has a "${key}" that is not in its W3C format`);
  }
}

/** Some members of an object, as far as they are given. */
export function given<T extends object, K extends keyof T & string>(from: T, names: readonly K[]): Pick<T, K> {
  return pick(from, names) as Pick<T, K>;
}

const NAME = /^[A-Za-z0-9_.-]{1,128}$/;

/**
 * The fields that every list entry has in common.
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-names
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` for icons and `_meta` keys that cannot be sent, `DECORUM_INVALID_NAME`
 * for names that clients may not accept
 */
export function listedFields({ kind, key, options, prefix, where }: ListedMember): Omit<Prompt, 'arguments'> {
  const { name: called = key, icons, _meta } = options;
  checkIcons(icons, where);
  checkMeta(_meta, where);
  const name = prefix + called;
  // a resource is known by its URI
  if (kind !== 'resource' && !NAME.test(name)) throw startupError('DECORUM_INVALID_NAME', where, name);
  return { name, ...given(options, ['title', 'description', 'icons', '_meta']) };
}

/**
 * Who may see and use the member; undefined where everybody may.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` for anything but a function: a restriction must not get lost
 */
export function accessOf({ options, where }: ListedMember): Access | undefined {
  if (!('access' in options)) return undefined;
  if (typeof options.access === 'function') return options.access;
  throw invalidOption(where, 'access', 'is not a function that says who may');
}

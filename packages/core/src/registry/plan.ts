import {
  type Class,
  compileShape,
  excerpt,
  hasFieldsAtRoot,
  hasObjectRoot,
  invalidOption,
  NoInput,
  type OptionTypes,
  requireOptions,
  type Shape,
} from '@decorum/schema/internal';

import type { MemberKind, MemberRecord, RelayedRecord } from '../metadata/records.js';
import { startupError } from '../protocol/errors.js';
import type { Icon, Prompt } from '../protocol/model.js';
import { pick } from '../protocol/revisions/fields.js';
import { isScope, type Need, OPEN } from '../protocol/scopes.js';
import type { CacheHint } from '../protocol/revisions/revision.js';
import type { Access } from '../protocol/wire.js';
import type { Caller } from './caller.js';
import type { Changes } from './change.js';
import { checkMeta } from './check-meta.js';
import { type AddedOptions, checkOptions } from './check-options.js';
import { everyAccess } from './every-access.js';
import { deprecating, deprecationOf } from './deprecation.js';
import { checkParameters, inferredInput } from './inferred-input.js';
import type { MemberHost } from './member-host.js';
import type { Listed } from './page.js';
import { placedUri } from './placed-uri.js';
import { requireTags } from './tags.js';

/** What a server may offer to clients. */
export type Offered = 'tools' | 'prompts' | 'resources' | 'completions';

/** A class whose members are served, and the instance to call them on. */
export interface Provider {
  readonly cls: Class;
  readonly instance: object;
  /** Prefix for the names of its tools, prompts and resources. */
  readonly prefix: string;
  /** Prefix for the URIs of its resources. */
  readonly uriPrefix: string;
  /** Inserted after the scheme of its URIs: `billing` turns `notes://7` into `notes://billing/7`. */
  readonly uriSegment?: string | undefined;
  /** Decides who may see and use its members, besides each member's own `access`. */
  readonly access?: Access | undefined;
  /** Tags of all its members. */
  readonly tags?: readonly string[];
  /** Scopes that all its members need. */
  readonly scopes?: readonly string[];
  /** The members to serve. Defaults to the decorated members of the class. */
  readonly records?: readonly MemberRecord[];
  /** Members of another server. Set if the provider is a source of members, even if it has none of another server. */
  readonly relayed?: readonly RelayedRecord[] | undefined;
  /** What to change of the members. */
  readonly transform?: Changes | undefined;
  /** What to declare even while there is no such member. */
  readonly offers?: readonly Offered[] | undefined;
  /** Told of each member of another server that is invalid, and left out. Without it, one makes all of them fail. */
  readonly onInvalid?: ((error: Error) => void) | undefined;
  /** Set if a framework runs the members. */
  readonly host?: MemberHost;
}

/** A decorated method, with everything needed to call it. */
export type Member<Kind extends MemberKind = MemberKind> = MemberRecord<Kind> &
  Pick<Provider, 'cls' | 'prefix' | 'access' | 'tags' | 'scopes' | 'host'> & {
    /**
     * The instance. Methods are looked up by name on each call, so overrides, wrappers and spies take effect.
     */
    readonly methods: Readonly<Record<string, (input: unknown, caller: Caller) => unknown>>;
    /** `Class.method`, for error messages. */
    readonly where: string;
  };

/** A member that appears in a list. */
type ListedMember = Member<'tool' | 'prompt' | 'resource'>;

/** A compiled member. Its key is its name, URI or URI template. */
export interface Plan<Entry> extends Listed<Entry> {
  readonly where: string;
  /** Whether another server has written the entry. */
  readonly isRelayed?: true;
  /** Characters of a result: `Infinity` for no maximum, and undefined for that of the server. */
  readonly maxResultChars?: number | undefined;
  /** Other names of a tool or prompt, which no list has. */
  readonly aliases?: readonly Alias[] | undefined;
  /** What to use in its place; undefined if it isn't deprecated. */
  readonly deprecated?: string | undefined;
  /** Set if no list has it. */
  readonly isUnlisted?: true | undefined;
}

/** Another name of a tool or prompt. */
export interface Alias {
  readonly name: string;
  /** The last day, in UTC, on which it is known, such as `2027-01-31`. Undefined without an end. */
  readonly until: string | undefined;
}

/** Provider methods that the server itself calls. */
const HOOKS = new Set(['onStart', 'onClose']);

/**
 * Creates the member for a record, with this provider's URI prefix.
 * @param added options that extensions add
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`, `DECORUM_NOT_A_METHOD`, `DECORUM_RESERVED_MEMBER`
 */
export function memberOf(provider: Provider, record: MemberRecord, added?: AddedOptions): Member {
  const { cls, instance, prefix, access, tags = [], scopes = [], host } = provider;
  const { kind, key } = record;
  const where = `${cls.name}.${key}`;
  checkOptions(record, where, added);
  const methods = instance as Member['methods'];
  if (HOOKS.has(key)) throw startupError('DECORUM_RESERVED_MEMBER', where);
  if (typeof methods[key] !== 'function') throw startupError('DECORUM_NOT_A_METHOD', where, kind);
  checkParameters(cls, record, { method: declaredMethod({ cls, key, methods }), provided: host?.provides?.(key) });
  const member = { ...record, cls, prefix, access, tags, scopes, methods, where, ...(host && { host }) };
  if (member.kind !== 'resource') return member;
  return { ...member, options: { ...member.options, uri: placedUri(member.options.uri, provider) } };
}

/**
 * The schema of a handler's input: the `input` option, or else the emitted class of the first parameter; undefined for
 * a handler without parameters.
 * @throws {DecorumError} `DECORUM_MISSING_INPUT`, and errors in the schema
 */
export function inputShape(member: ListedMember): Shape | undefined {
  const { cls, key, where, host } = member;
  const declared = { method: declaredMethod(member), provided: host?.provides?.(key) };
  const source = member.options.input ?? inferredInput(cls, key, declared);
  if (source === undefined || source === NoInput) return undefined;
  const shape = compileShape(source, where);
  if (!(member.kind === 'tool' ? hasObjectRoot : hasFieldsAtRoot)(shape)) {
    const remedy = "Write `{ type: 'object', properties: { … } }`, or `z.object({ … })`";
    const problem = `arguments are named, so its root must have "type": "object". ${remedy}`;
    throw startupError('DECORUM_INVALID_SCHEMA', where, problem);
  }
  return shape;
}

/** Reads the class, because the instance may be a proxy, whose functions declare no parameters. */
const declaredMethod = ({ cls, key, methods }: Pick<Member, 'cls' | 'key' | 'methods'>): unknown =>
  (cls.prototype as Record<string, unknown>)[key] ?? methods[key];

/**
 * Rejects icons that clients don't load.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` for schemes other than http, https and data
 */
export function checkIcons(icons: readonly Icon[] = [], where: string): void {
  for (const icon of icons) {
    requireOptions(`${where} (icons)`, icon, ICON_OPTIONS);
    if (/^(?:https?|data):/i.test(icon.src)) continue;
    throw invalidOption(where, 'icons', `have the source "${icon.src}". Use an https, http or data URI`);
  }
}

const ICON_OPTIONS: OptionTypes<Icon> = { src: 'string', mimeType: 'string', sizes: 'array', theme: 'string' };

/**
 * Rejects invalid cache hints.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function checkCache(cache: CacheHint, where: string): void {
  requireOptions(`${where} (cache)`, cache, { ttlMs: true, scope: true } satisfies OptionTypes<CacheHint>);
  const { ttlMs, scope } = cache;
  if (Number.isInteger(ttlMs) && ttlMs >= 0 && (scope === 'public' || scope === 'private')) return;
  throw invalidOption(where, 'cache', 'must be { ttlMs: 0 or more, scope: "public" or "private" }');
}

/** Picks the members that are defined. */
export function given<T extends object, K extends keyof T & string>(from: T, names: readonly K[]): Pick<T, K> {
  return pick(from, names) as Pick<T, K>;
}

const NAME = /^[A-Za-z0-9_.-]{1,128}$/;

/** @throws {DecorumError} `DECORUM_INVALID_NAME` for a name of a tool or prompt that clients may reject */
export function requireName(name: string, where: string): void {
  if (!NAME.test(name)) throw startupError('DECORUM_INVALID_NAME', where, name);
}

/**
 * The fields that all list entries share.
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-names
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` for invalid icons and `_meta` keys, `DECORUM_INVALID_NAME` for names
 *   that clients may reject
 */
export function listedFields({ kind, key, options, prefix, where }: ListedMember): Omit<Prompt, 'arguments'> {
  const { name: called = key, icons, _meta } = options;
  checkIcons(icons, where);
  checkMeta(_meta, where);
  const name = prefix + called;
  // a resource is identified by its URI, so its name may be anything
  if (kind !== 'resource') requireName(name, where);
  const fields = { name, ...given(options, ['title', 'description', 'icons', '_meta']) };
  return deprecating(fields, deprecationOf(options.deprecated, where));
}

/**
 * The member's own access function; undefined if everybody may see and use the member.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` for anything but a function: a mistake must not make the member
 *   public
 */
export function accessOf({ options, access, where }: ListedMember): Access | undefined {
  if (!('access' in options)) return access;
  if (typeof options.access === 'function') return everyAccess([access, options.access]);
  throw invalidOption(where, 'access', 'is not a function. Write `access: (principal) => principal !== undefined`');
}

/** The conditions for seeing and using a member, what lists say of it, and how much it may return. */
export function guardsOf(
  member: ListedMember,
): Pick<Plan<unknown>, 'access' | 'need' | 'shown' | 'tags' | 'deprecated' | 'isUnlisted' | 'maxResultChars'> {
  const { host, key, kind, options, where } = member;
  return {
    access: accessOf(member),
    need: needOf(member),
    shown: host?.shown?.(key, kind),
    tags: tagsOf(member),
    deprecated: deprecationOf(options.deprecated, where),
    ...(options.listed === false && { isUnlisted: true }),
    maxResultChars: maxResultCharsOf(member),
  };
}

/** @throws {DecorumError} `DECORUM_INVALID_OPTION` for anything but a positive integer or `false` */
function maxResultCharsOf({ options: { maxResultChars }, where }: ListedMember): number | undefined {
  if (maxResultChars === false) return Number.POSITIVE_INFINITY;
  requireOptions(where, { maxResultChars }, RESULT_RANGE);
  return maxResultChars;
}

/** Characters that a result may have. */
export const RESULT_RANGE = { maxResultChars: [1, 1_000_000_000] } as const;

/** @throws {DecorumError} `DECORUM_INVALID_OPTION` for anything but an array of tags */
function tagsOf({ options, tags: shared = [], where }: ListedMember): readonly string[] | undefined {
  if ('tags' in options) requireTags(options.tags, where);
  const tags = [...new Set([...shared, ...(options.tags ?? [])])];
  return tags.length === 0 ? undefined : tags;
}

/**
 * The scopes that callers need, or `OPEN` if the member is public; undefined if it declares neither.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` for anything but a list of scopes: a mistake must not open the member
 */
export function needOf({ options, scopes: shared = [], where }: ListedMember): Need | undefined {
  const { scopes: own = [], public: isPublic = false } = options;
  if ('scopes' in options) requireScopes(options.scopes, where);
  const scopes = [...new Set([...shared, ...own])];
  if (scopes.length === 0) return isPublic ? OPEN : undefined;
  if (!isPublic) return { scopes, isPublic };
  const remedy = shared.length > 0 ? 'Remove it, or the `scopes` of its provider' : 'Remove one of them';
  throw invalidOption(where, 'public', `is true, but the member also has \`scopes\`. ${remedy}`);
}

/** @throws {DecorumError} `DECORUM_INVALID_OPTION` for anything but an array of scopes */
export function requireScopes(scopes: unknown, where: string): asserts scopes is readonly string[] {
  if (!Array.isArray(scopes)) throw invalidOption(where, 'scopes', "is not an array. Write `scopes: ['files:write']`");
  const index = scopes.findIndex((scope) => !isScope(scope));
  if (index === -1) return;
  const problem = `has ${excerpt(String(JSON.stringify(scopes[index])))}, which is not a scope. Use ASCII characters without spaces, '"' and "\\", one scope per string`;
  throw invalidOption(where, 'scopes', problem);
}

/** Leaves out what is invalid, if its provider wants to be told of it. */
export function tolerating({ onInvalid }: Provider, add: () => void): void {
  try {
    add();
  } catch (error) {
    if (onInvalid === undefined) throw error;
    onInvalid(error as Error);
  }
}

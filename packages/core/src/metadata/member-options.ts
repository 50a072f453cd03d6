import type { JsonObject, OptionTypes } from '@decorum/schema/internal';

import type { Annotations, Icon, ToolAnnotations } from '../protocol/model.js';
import type { CacheHint } from '../protocol/revisions/revision.js';
import type { Access } from '../protocol/wire.js';
import { POLICIES, type PolicyOptions } from './policy-options.js';
import type { PreviewOptions } from './preview-options.js';

/** Options that tools, prompts and resources share. `I` is the type of the schema source. */
export interface ListedOptions<I = unknown> extends PolicyOptions {
  /**
   * Name that clients use. Defaults to the method's name. Tools and prompts allow 1 to 128 characters from
   * `A–Z a–z 0–9 _ - .`.
   */
  readonly name?: string;
  /** Display name for the user. */
  readonly title?: string;
  /** Description for the model: what the member does and when to use it. */
  readonly description?: string;
  /** Icons that clients may show. */
  readonly icons?: readonly Icon[];
  /** Metadata, sent with the list entry. Keys follow the protocol's grammar, as in `example.com/rank`. */
  readonly _meta?: JsonObject;
  /** Decides who may see and use the member. Defaults to everybody. */
  readonly access?: Access;
  /**
   * Scopes that callers need to use the member, all of them, in addition to the scopes that the transport requires for
   * every request. By default, the member stays listed for callers without them.
   */
  readonly scopes?: readonly string[];
  /** Lets everybody use the member, even callers without credentials. Defaults to `false`. */
  readonly public?: boolean;
  /**
   * Labels by which `hiddenTags` and `ctx.visibility` hide the member from sessions: up to 64 characters each. Clients
   * don't see them. The member is hidden while any of its tags is.
   */
  readonly tags?: readonly string[];
  /**
   * Schema of the arguments: a DTO class, a Standard Schema or a JSON Schema. Defaults to the class of the first
   * parameter, if the compiler emits it (`emitDecoratorMetadata`). Arguments of prompts and templates arrive as
   * strings; numbers and booleans are parsed.
   */
  readonly input?: I;
  /**
   * Characters of text that a result may have, 1 to 1,000,000,000; longer text is cut. `false` switches off the server's default, which is
   * no limit.
   */
  readonly maxResultChars?: number | false;
  /** What to use in its place. Clients read it first in the description. `false` takes back what a base class says. */
  readonly deprecated?: string | false;
  /** Whether lists have the member. `false` leaves it out; clients that know it can still use it. Defaults to `true`. */
  readonly listed?: boolean;
}

/** A former name with an end. */
export interface TimedAlias {
  readonly name: string;
  /** The last day on which it is known, in UTC: an ISO 8601 date. By default, it has no end. */
  readonly until?: string;
}

/** Options of tools and prompts, which have names. */
export interface NamedOptions<I = unknown> extends ListedOptions<I> {
  /**
   * Other names under which it can be called, such as former ones. No list has them. With `until`, an alias is unknown
   * after that day (UTC), such as `2027-01-31`.
   */
  readonly aliases?: readonly (string | TimedAlias)[];
}

/** A function from a value to text. Method syntax makes it bivariant, so functions of narrower types are assignable. */
type TextOf<V> = { text(value: V): string }['text'];

/**
 * Options that extensions add to tools. Empty: each extension declares its own.
 * @example
 * ```ts
 * declare module '@decorum/core' {
 *   interface ExtensionToolOptions {
 *     readonly price?: number;
 *   }
 * }
 * ```
 */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type
export interface ExtensionToolOptions {}

/** How long outcomes of calls are kept, for calls that are repeated. */
export interface IdempotentOptions {
  /** How long: milliseconds, or a number with a unit, such as `'24h'`. Up to 30 days. */
  readonly ttl: number | string;
  /** `'arguments'` if calls without a key have the digest of their arguments as their key. */
  readonly key?: 'arguments';
  /** Bytes that an outcome may have to be kept. Defaults to 64 KiB. */
  readonly maxBytes?: number;
}

/** Options of `@Tool`. `V` is the type of the handler's result. */
export interface ToolOptions<I = unknown, O = unknown, V = unknown> extends NamedOptions<I>, ExtensionToolOptions {
  /** Hints to clients about what the tool changes. */
  readonly annotations?: ToolAnnotations;
  /**
   * Repairs arguments that have only one possible meaning, such as `"5"` for an integer, then validates them again.
   * Defaults to the server's `coerce`.
   */
  readonly coerce?: boolean;
  /**
   * Runs once for each idempotency key of a caller, and keeps the outcome for this time: a call that is repeated with the
   * same key gets it. Clients send the key in `_meta['dev.decorum/idempotency-key']` or in the HTTP header
   * `Idempotency-Key`. Calls without a key run as usual.
   */
  readonly idempotent?: string | number | IdempotentOptions;
  /** Schema of the result. It is published, and the handler's result is validated against it. */
  readonly output?: O;
  /**
   * What to do with fields of the result that `output` does not have, such as further columns of a database row: fail
   * the call (`'reject'`, the default) or leave them out (`'drop'`). Fields that `output` leaves open are kept.
   */
  readonly extraOutput?: 'reject' | 'drop';
  /**
   * The text that is sent along with the structured content of `output`: its JSON (`true`), none (`false`), a fixed
   * string, or the result of a function that gets the returned value. Defaults to the server's `text`, or else to the
   * JSON. Clients of revisions without structured content always get the JSON.
   */
  readonly text?: boolean | string | TextOf<V>;
  /**
   * Shows what a call would do, before it does it: the name of the method of this class that makes the plan. The first
   * call returns the plan with a ticket. A call with the ticket runs the tool, with the plan in `ctx.plan`.
   */
  readonly preview?: string | PreviewOptions;
}

/** Options of `@Resource`. */
export interface ResourceOptions<I = unknown> extends ListedOptions<I> {
  /**
   * Type of the content. Defaults to `text/plain`, to `application/json` for objects and to `application/octet-stream`
   * for bytes.
   */
  readonly mimeType?: string;
  /** Size in bytes. Not allowed for templates. */
  readonly size?: number;
  /** Hints for the client. */
  readonly annotations?: Annotations;
  /**
   * How long clients of stateless revisions may cache the content. Defaults to no caching. With `access` or `scopes`,
   * the cache scope must not be `public`.
   */
  readonly cache?: CacheHint;
  /**
   * For templates: name of the method that lists the existing resources, for `resources/list`. The method receives the
   * `Context` and returns (or resolves to, or yields) `ResourceListing`s or URIs.
   */
  readonly list?: string;
}

/** Options of `@Completion`. */
export interface CompletionOptions extends PolicyOptions {
  /** Names of the methods of this class to complete: prompts, and resources with a template. */
  readonly for: string | readonly string[];
  /** An argument of the prompt, or a variable of the template. */
  readonly argument: string;
}

/** The options of each method decorator. */
export interface MemberOptions {
  readonly tool: ToolOptions;
  readonly prompt: NamedOptions;
  readonly resource: ResourceOptions & { readonly uri: string };
  readonly completion: CompletionOptions;
  readonly hidden: Readonly<Record<string, never>>;
}

const LISTED = {
  name: 'string',
  title: 'string',
  description: 'string',
  icons: 'array',
  _meta: 'object',
  access: true,
  scopes: true,
  public: 'boolean',
  tags: true,
  input: true,
  maxResultChars: true,
  deprecated: true,
  listed: 'boolean',
  ...POLICIES,
} satisfies OptionTypes<ListedOptions>;

const NAMED = { ...LISTED, aliases: 'array' } satisfies OptionTypes<NamedOptions>;

/** Members allowed in `annotations`. Other members are rejected, because they would not be sent to clients. */
export const ANNOTATIONS = {
  tool: {
    title: 'string',
    readOnlyHint: 'boolean',
    destructiveHint: 'boolean',
    idempotentHint: 'boolean',
    openWorldHint: 'boolean',
  },
  resource: { audience: 'array', priority: 'number', lastModified: 'string' },
} satisfies { readonly tool: OptionTypes<ToolAnnotations>; readonly resource: OptionTypes<Annotations> };

/** All options with their types. A missing or unknown name is a compile error. */
export const OPTIONS = {
  tool: {
    ...NAMED,
    annotations: 'object',
    coerce: 'boolean',
    idempotent: true,
    output: true,
    extraOutput: 'string',
    text: true,
    preview: true,
  },
  prompt: NAMED,
  resource: {
    ...LISTED,
    uri: true,
    mimeType: 'string',
    size: true,
    annotations: 'object',
    cache: 'object',
    list: 'string',
  },
  completion: { for: true, argument: true, ...POLICIES },
  hidden: {},
} satisfies { readonly [Kind in keyof MemberOptions]: OptionTypes<MemberOptions[Kind]> };

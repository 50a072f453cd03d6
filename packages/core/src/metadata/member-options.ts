import type { Annotations, Icon, JsonObject, ToolAnnotations } from '../protocol/model.js';
import type { OptionTypes } from '../protocol/option-names.js';
import type { CacheHint } from '../protocol/revisions/revision.js';
import type { Access } from '../protocol/wire.js';

/** The options that tools, prompts and resources have in common. `I` is the type of the schema source. */
export interface ListedOptions<I = unknown> {
  /** By default the name of the method. Of tools and prompts: 1 to 128 characters out of `A–Z a–z 0–9 _ - .`. */
  readonly name?: string;
  /** For people. */
  readonly title?: string;
  /** For the model: what it is and when to use it. */
  readonly description?: string;
  readonly icons?: readonly Icon[];
  readonly _meta?: JsonObject;
  /** Who may see and use it. By default everybody. */
  readonly access?: Access;
  /**
   * Schema of the arguments: a DTO class, a Standard Schema or a JSON Schema. By default the class of the first
   * parameter, where the compiler emits it (`emitDecoratorMetadata`). Prompts and templates get strings from the wire;
   * numbers and booleans are read from their text.
   */
  readonly input?: I;
}

/** A function that words a value. As a method: those of narrower values may stand where any is expected. */
type Words<V> = { words(value: V): string }['words'];

/** Options of `@Tool`. `V` is the type of what the handler returns. */
export interface ToolOptions<I = unknown, O = unknown, V = unknown> extends ListedOptions<I> {
  readonly annotations?: ToolAnnotations;
  /**
   * Repairs wrong arguments that can only have been meant in one way, such as `"5"` for an integer, and checks them
   * again. By default what the server says.
   */
  readonly coerce?: boolean;
  /** Schema of the result: it is published, and what the handler returns is checked against it. */
  readonly output?: O;
  /**
   * What is sent as text beside the structured content of `output`, for clients that read structured content: its JSON
   * (`true`), nothing (`false`), this text, or what a function makes of the returned value. By default what the server's
   * option `text` says, else the JSON. Clients of revisions without structured content get the JSON in any case.
   */
  readonly text?: boolean | string | Words<V>;
}

/** Options of `@Resource`. */
export interface ResourceOptions<I = unknown> extends ListedOptions<I> {
  /** Of the content; by default `text/plain`, `application/json` for objects, `application/octet-stream` for bytes. */
  readonly mimeType?: string;
  /** Bytes. Not for templates. */
  readonly size?: number;
  readonly annotations?: Annotations;
  /** How long clients of stateless revisions may keep what they read. By default not at all. Not `public` with `access`. */
  readonly cache?: CacheHint;
  /**
   * Of a template: the method that enumerates what exists, so that `resources/list` shows it. It takes the `Context`
   * and returns (or resolves to, or yields) `ResourceListing`s or URIs.
   */
  readonly list?: string;
}

/** Options of `@Completion`. */
export interface CompletionOptions {
  /** The methods of this class whose argument is completed: prompts, and resources with a template. */
  readonly for: string | readonly string[];
  /** The argument of the prompt, or the variable of the template. */
  readonly argument: string;
}

/** What each decorator on a method writes down. */
export interface MemberOptions {
  readonly tool: ToolOptions;
  readonly prompt: ListedOptions;
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
  input: true,
} satisfies OptionTypes<ListedOptions>;

/** What `annotations` may have: what clients would not be sent has no effect. */
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

/** The options. One that is missing here, or that does not exist, does not compile. */
export const OPTIONS = {
  tool: { ...LISTED, annotations: 'object', coerce: 'boolean', output: true, text: true },
  prompt: LISTED,
  resource: {
    ...LISTED,
    uri: true,
    mimeType: 'string',
    size: true,
    annotations: 'object',
    cache: 'object',
    list: 'string',
  },
  completion: { for: true, argument: true },
  hidden: {},
} satisfies { readonly [Kind in keyof MemberOptions]: OptionTypes<MemberOptions[Kind]> };

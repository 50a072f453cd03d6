import type { Annotations, Prompt, Resource, ResourceTemplate, Tool } from '../protocol/model.js';
import type { MemberOptions } from './member-options.js';

/** The kinds of method decorators. */
export type MemberKind = keyof MemberOptions;

interface RecordOf<Kind extends MemberKind> {
  readonly kind: Kind;
  /** Property key of the method. */
  readonly key: string;
  /** Options passed to the decorator. */
  readonly options: MemberOptions[Kind];
}

/**
 * A method decorator's record. It holds the method's key, not the function, so it still applies to a method that is
 * overridden or wrapped.
 */
export type MemberRecord<Kind extends MemberKind = MemberKind> = { [K in Kind]: RecordOf<K> }[Kind];

/**
 * A member of another server, with its list entry as that server sends it. Its handler gets arguments as the client
 * sends them, or the URI of a resource, and returns the protocol's result. Neither is checked or converted.
 */
export type RelayedRecord = (
  | { readonly kind: 'tool'; readonly key: string; readonly entry: Tool }
  | { readonly kind: 'prompt'; readonly key: string; readonly entry: Prompt }
  | { readonly kind: 'resource'; readonly key: string; readonly entry: Resource | ResourceTemplate }
) & {
  /** Its tags, besides those of its source. */
  readonly tags?: readonly string[];
};

/**
 * Return type of completion methods. If there are more than 100 values, only the first 100 are sent, and the client is
 * told that there are more.
 */
export type CompletionValues =
  | readonly string[]
  | { readonly values: readonly string[]; readonly total?: number; readonly hasMore?: boolean };

/** A resource that a template's `list` method returns, identified by its variables or its URI. */
export type ResourceListing = ListedFields &
  (
    | {
        /** Values of the template's variables. */
        readonly variables: Readonly<Record<string, string | readonly string[]>>;
        readonly uri?: undefined;
      }
    | { readonly uri: string; readonly variables?: undefined }
  );

interface ListedFields {
  /** Defaults to the URI. */
  readonly name?: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  /** In bytes. */
  readonly size?: number;
  readonly annotations?: Annotations;
}

import type { Annotations } from '../protocol/model.js';
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

/** The options of `@Describe`. */
export interface FieldDescription {
  readonly title?: string;
  readonly description?: string;
  readonly examples?: readonly unknown[];
}

/** A decorator that sets the form of a field. `kind` is the decorator's name. */
export type FieldForm =
  | { readonly kind: 'ArrayOf' | 'RecordOf'; readonly of: unknown }
  | { readonly kind: 'Choices'; readonly titles: unknown; readonly each: boolean }
  | { readonly kind: 'DateOnly'; readonly each: boolean }
  | { readonly kind: 'Schema'; readonly schema: unknown };

/**
 * Facts from the decorators of a field: `@Describe`, `@McpHeader` (`header`), `@Nullable`, and at most one `FieldForm`
 * (`form`).
 */
export interface FieldFacts extends FieldDescription {
  readonly header?: string;
  readonly nullable?: true;
  readonly form?: FieldForm;
}

/** A field decorator's record. */
export interface FieldRecord {
  readonly key: string;
  readonly facts: FieldFacts;
}

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

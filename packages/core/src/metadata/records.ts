import type { Annotations } from '../protocol/model.js';
import type { MemberOptions } from './member-options.js';

/** What a decorator on a method announces. */
export type MemberKind = keyof MemberOptions;

interface RecordOf<Kind extends MemberKind> {
  readonly kind: Kind;
  /** The property key of the method. */
  readonly key: string;
  /** What the user gave the decorator. */
  readonly options: MemberOptions[Kind];
}

/** The facts one decorator wrote about one method. Never a function: overriding or wrapping the method keeps them. */
export type MemberRecord<Kind extends MemberKind = MemberKind> = { [K in Kind]: RecordOf<K> }[Kind];

/** What `@Describe` says of a field. */
export interface FieldDescription {
  readonly title?: string;
  readonly description?: string;
  readonly examples?: readonly unknown[];
}

/** What a decorator says of the values of a field. Its `kind` is the name of the decorator. */
export type FieldForm =
  | { readonly kind: 'ArrayOf' | 'RecordOf'; readonly of: unknown }
  | { readonly kind: 'Choices'; readonly titles: unknown; readonly each: boolean }
  | { readonly kind: 'DateOnly'; readonly each: boolean }
  | { readonly kind: 'Schema'; readonly schema: unknown };

/** What decorators on a field say: `@Describe`, `@McpHeader` its header, and one of those in `FieldForm` its form. */
export interface FieldFacts extends FieldDescription {
  readonly header?: string;
  readonly form?: FieldForm;
}

/** The facts a decorator wrote about one field. */
export interface FieldRecord {
  readonly key: string;
  readonly facts: FieldFacts;
}

/** What a completing method may return. With more than 100 values, the first 100 are sent and the client is told. */
export type CompletionValues =
  | readonly string[]
  | { readonly values: readonly string[]; readonly total?: number; readonly hasMore?: boolean };

/** One resource of a template, as its enumerating method returns it: by the values of the variables, or by its URI. */
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
  /** By default the URI. */
  readonly name?: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  /** Bytes. */
  readonly size?: number;
  readonly annotations?: Annotations;
}

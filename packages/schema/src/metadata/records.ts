import type { JsonObject } from '../values/json.js';

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
 * Facts from the decorators of a field: `@Describe`, `@Nullable`, at most one `FieldForm` (`form`), and keywords that
 * decorators of other packages add to the published schema.
 */
export interface FieldFacts extends FieldDescription {
  readonly keywords?: JsonObject;
  readonly nullable?: true;
  readonly form?: FieldForm;
}

/** A field decorator's record. */
export interface FieldRecord {
  readonly key: string;
  readonly facts: FieldFacts;
}

import type { FieldFacts } from '../metadata/records.js';
import { type Class, lineage } from '../metadata/store.js';
import type { JsonObject } from '../values/json.js';
import { enumValues, oneOf } from '../rules/constraints.js';

/**
 * Facts that `@ApiProperty` of @nestjs/swagger, or its compiler plugin, has recorded about a field. They are read from
 * where they are stored, so the library itself isn't loaded.
 */

/** What is known of a field besides its rules. */
export interface DocumentedFacts extends FieldFacts {
  /** The values of the field, or of each item. */
  readonly values?: readonly unknown[];
}

/** The options of `@ApiProperty` that are read. */
interface ApiProperty {
  readonly title?: unknown;
  readonly description?: unknown;
  readonly example?: unknown;
  readonly examples?: unknown;
  readonly enum?: unknown;
  readonly items?: { readonly enum?: unknown };
}

/** Where the decorator stores its options. */
const DECORATED = 'swagger/apiModelProperties';

/** The static method that the compiler plugin adds to classes. */
const COMPILED = '_OPENAPI_METADATA_FACTORY';

interface Compiled {
  readonly [COMPILED]: () => Readonly<Record<string, ApiProperty | undefined>>;
}

const asText = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

/** Examples may be a list, or named objects with a `value`. */
function examplesOf({ example, examples }: ApiProperty): readonly unknown[] | undefined {
  if (Array.isArray(examples)) return examples;
  if (typeof examples !== 'object' || examples === null) return example === undefined ? undefined : [example];
  return Object.values(examples).map((each: { readonly value?: unknown }) => each.value);
}

function valuesOf(property: ApiProperty): readonly unknown[] | undefined {
  const listed = property.enum ?? property.items?.enum;
  const found: unknown = typeof listed === 'function' ? (listed as () => unknown)() : listed;
  if (typeof found !== 'object' || found === null) return undefined;
  const values = (Array.isArray(found) ? found : enumValues(found)).filter((value) => Object(value) !== value);
  return values.length === 0 ? undefined : values;
}

function propertyOf(cls: Class, key: string): ApiProperty {
  const { getMetadata } = Reflect as unknown as { getMetadata(...of: unknown[]): ApiProperty | undefined };
  const compiled = lineage(cls).filter((each): each is Class & Compiled => Object.hasOwn(each, COMPILED));
  const properties = compiled.map((each) => each[COMPILED]()[key]);
  return Object.assign({}, ...properties, getMetadata(DECORATED, cls.prototype, key)) as ApiProperty;
}

/** What the decorators of @nestjs/swagger say about a field. */
export function swaggerFacts(cls: Class, key: string): DocumentedFacts {
  const property = propertyOf(cls, key);
  const facts = {
    title: asText(property.title),
    description: asText(property.description),
    examples: examplesOf(property),
    values: valuesOf(property),
  };
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined)) as DocumentedFacts;
}

/** What clients should send for a field whose rules check a transformed value. */
export function documentedSchema(
  { values, isList }: { readonly values: readonly unknown[] | undefined; readonly isList: boolean },
  ruled: JsonObject,
): JsonObject {
  if (values === undefined) return ruled;
  return isList ? { type: 'array', items: oneOf(values) } : oneOf(values);
}

import type { JsonObject } from '@decorum/core';

import { entriesOf, isObject, own } from './json.js';
import type { SchemaConverter } from './json-schema.js';
import type { OpenDocument } from './open-document.js';
import type { Operation } from './operation.js';
import { keywordsOf } from './schema-keywords.js';

/** How a body is written. */
export type BodyKind = 'json' | 'form' | 'multipart' | 'text' | 'binary';

/** A field of an object body. */
export interface BodyField {
  readonly name: string;
  readonly schema: JsonObject;
  readonly required: boolean;
}

/** How one field of a form is written. */
export interface FieldFormat {
  /** Whether the argument is base64. */
  readonly isBinary: boolean;
  readonly contentType: string | undefined;
  readonly style: string | undefined;
  readonly explode: boolean | undefined;
  readonly allowReserved: boolean;
}

/** The body of an operation. */
export interface BodyFormat {
  readonly kind: BodyKind;
  readonly mediaType: string;
  readonly required: boolean;
  readonly description: unknown;
  /** The fields that become arguments. Undefined if the whole body is one argument. */
  readonly fields: readonly BodyField[] | undefined;
  readonly schema: JsonObject;
  /** How a field of a form is written. */
  formatOf(field: string): FieldFormat;
}

/** Kinds of bodies by media type, the best first: models write JSON best. */
const KINDS: readonly (readonly [BodyKind, RegExp])[] = [
  ['json', /^(?:application\/json|[^;]*\+json|\*\/\*|application\/\*)(?:\s*;|$)/i],
  ['multipart', /^multipart\/form-data/i],
  ['form', /^application\/x-www-form-urlencoded/i],
  ['text', /^text\/|[/+](?:xml|yaml|x-yaml|x-ndjson|jsonl|graphql|javascript)(?:\s*;|$)/i],
  ['binary', /^/],
];

/** What a body is sent as if the document lets the client choose, as in `image/*`. */
const ANY: Partial<Record<BodyKind, string>> = {
  json: 'application/json',
  text: 'text/plain',
  binary: 'application/octet-stream',
};

/** What a header can carry. */
const MEDIA_TYPE = /^[\t\u0020-\u007E]+$/;

function chosenMedia(content: unknown): { kind: BodyKind; mediaType: string; media: unknown } | undefined {
  const entries = entriesOf(content).filter(([mediaType]) => MEDIA_TYPE.test(mediaType));
  for (const [kind, pattern] of KINDS) {
    const found = entries.find(([mediaType]) => pattern.test(mediaType));
    if (found !== undefined) return { kind, mediaType: found[0], media: found[1] };
  }
  return undefined;
}

/** The fields of an object, and which of them are required. */
interface Fields {
  readonly properties: Map<string, unknown>;
  readonly required: Set<unknown>;
}

const MAX_NESTED = 8;
/** A body with more fields is one argument, whose schema is cut. */
const MAX_FIELDS = 500;
const isOnlyRequired = (branch: unknown): boolean => Object.keys(Object(branch) as object).join() === 'required';

/** Whether the fields of an object say all about it. Alternatives that only require fields are left to the API. */
function isFlat(schema: JsonObject): boolean {
  const { type, nullable, additionalProperties: more, anyOf = [], oneOf = [] } = schema;
  if (nullable === true || (type !== undefined && [type].flat().join() !== 'object')) return false;
  const branches = [anyOf, oneOf].flat();
  return (
    (more === undefined || more === false) &&
    branches.every(isOnlyRequired) &&
    !['not', 'if', 'patternProperties', 'propertyNames', 'enum', 'const'].some((name) => name in schema)
  );
}

/** The fields of an object body. Undefined if they don't say all about it. */
function fieldsOf(schema: unknown, converter: SchemaConverter, depth = 0): Fields | undefined {
  const target = converter.resolved(schema);
  // the schemas that extend one with a discriminator have more fields
  const isExtended = depth === 0 && 'discriminator' in target;
  if (depth > MAX_NESTED || isExtended || !isFlat(target)) return undefined;
  const properties = new Map(entriesOf(target['properties']));
  const required = new Set<unknown>(Array.isArray(target['required']) ? target['required'] : []);
  for (const part of Array.isArray(target['allOf']) ? (target['allOf'] as unknown[]) : []) {
    if (isOnlyRequired(part)) {
      for (const name of own(part, 'required') as unknown[]) required.add(name);
      continue;
    }
    const more = fieldsOf(part, converter, depth + 1);
    if (more === undefined) return undefined;
    for (const [name, value] of more.properties) {
      if (properties.has(name)) return undefined;
      properties.set(name, value);
    }
    for (const name of more.required) required.add(name);
  }
  // a field may be required without a schema
  if (depth === 0) for (const name of required) if (!properties.has(String(name))) properties.set(String(name), {});
  return properties.size > 0 && properties.size <= MAX_FIELDS ? { properties, required } : undefined;
}

const TEXTUAL = /^text\/|[/+]json/i;

/** The schema that a schema is if it isn't null: `anyOf: [file, { type: 'null' }]` describes a file that may be left out. */
function presentForm(schema: unknown, converter: SchemaConverter): JsonObject {
  const target = converter.resolved(schema);
  const { anyOf = [], oneOf = [] } = target;
  const forms = [anyOf, oneOf].flat().map((form) => converter.resolved(form));
  const [form, ...others] = forms.filter(({ type }) => type !== 'null');
  return form === undefined || others.length > 0 ? target : form;
}

/** How a field of a form is written: by its schema, and by `encoding` of the media type. */
function formatReader(media: unknown, fields: Fields | undefined, converter: SchemaConverter) {
  return (field: string): FieldFormat => {
    const encoding = own(own(media, 'encoding'), field);
    const schema = presentForm(fields?.properties.get(field), converter);
    const items = schema['type'] === 'array' ? presentForm(schema['items'], converter) : schema;
    const { format, contentMediaType, contentEncoding } = items;
    const given = own(encoding, 'contentType') ?? contentMediaType;
    const contentType = typeof given === 'string' ? given.split(',')[0]?.trim() : undefined;
    const isText = items['type'] !== undefined && items['type'] !== 'string';
    const named = contentType !== undefined && !TEXTUAL.test(contentType) && !isText;
    const style = own(encoding, 'style');
    const explode = own(encoding, 'explode');
    return {
      isBinary: format === 'binary' || format === 'byte' || contentEncoding === 'base64' || named,
      contentType,
      style: typeof style === 'string' ? style : undefined,
      explode: typeof explode === 'boolean' ? explode : undefined,
      allowReserved: own(encoding, 'allowReserved') === true,
    };
  };
}

const BASE64: JsonObject = { type: 'string', contentEncoding: 'base64' };

/** The schema of a body that is one argument. */
function wholeSchema(kind: BodyKind, schema: unknown, converter: SchemaConverter): JsonObject {
  if (kind === 'binary') return BASE64;
  if (kind === 'text') return { type: 'string' };
  return converter.convert(schema);
}

/** The schema of a file, of files, or of what may also be null. */
function base64Schema(schema: JsonObject): JsonObject {
  const { title, description, type, items, anyOf } = schema;
  if ('$ref' in schema || type === 'null') return schema;
  if (Array.isArray(anyOf)) return { ...schema, anyOf: anyOf.map((form) => base64Schema(form as JsonObject)) };
  if (type === 'array') return isObject(items) ? { ...schema, items: base64Schema(items) } : schema;
  return { ...keywordsOf({ title, description }, 'input'), ...BASE64 };
}

/** A field of a form that carries a file is base64, however the document describes it. */
function fieldSchema(
  kind: BodyKind,
  schema: unknown,
  { format, converter }: { format: FieldFormat; converter: SchemaConverter },
) {
  const converted = converter.convert(schema);
  return kind === 'multipart' && format.isBinary ? base64Schema(converted) : converted;
}

/** The body of an operation; undefined if it has none. */
export function bodyOf(
  { method, definition }: Operation,
  { references }: OpenDocument,
  converter: SchemaConverter,
): BodyFormat | undefined {
  // HTTP gives a body of these methods no meaning
  if (!isObject(definition['requestBody']) || method === 'GET' || method === 'HEAD') return undefined;
  const { content, required, description } = references.follow(definition['requestBody']);
  const chosen = chosenMedia(content);
  if (chosen === undefined) return undefined;
  const { mediaType, media } = chosen;
  const schema = own(media, 'schema');
  const isAny = mediaType.includes('*');
  const kind = isAny && converter.resolved(schema)['format'] === 'binary' ? 'binary' : chosen.kind;
  const fields = kind === 'text' || kind === 'binary' ? undefined : fieldsOf(schema, converter);
  const formatOf = formatReader(media, fields, converter);
  return {
    kind,
    mediaType: (isAny && ANY[kind]) || mediaType,
    required: required === true,
    description,
    formatOf,
    schema: fields === undefined ? wholeSchema(kind, schema, converter) : {},
    fields:
      fields &&
      [...fields.properties]
        .filter(([, value]) => converter.resolved(value)['readOnly'] !== true)
        .map(([name, value]) => ({
          name,
          required: fields.required.has(name),
          schema: fieldSchema(kind, value, { format: formatOf(name), converter }),
        })),
  };
}

import type { JsonObject } from '@decorum/core';

import { entriesOf, isObject, own } from './json.js';
import { SchemaConverter, withDefinitions } from './json-schema.js';
import type { OpenDocument } from './open-document.js';
import type { Operation } from './operation.js';

/** The results of an operation. */
export interface Output {
  /** Undefined if the document promises no JSON, or different ones. */
  readonly schema: JsonObject | undefined;
  /** Whether the result is wrapped as `{ result }`. */
  readonly isWrapped: boolean;
  /** The media types of the answers, for the `Accept` header. */
  readonly accept: string;
}

const JSON_TYPE = /^(?:application\/json|[^;]*\+json)(?:\s*;|$)/i;
const MEDIA_TYPE = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+$/;

/** The contents of the answers that mean success. */
function successes({ definition }: Operation, { references }: OpenDocument): JsonObject[] {
  return (
    entriesOf(definition['responses'])
      .filter(([status]) => /^2(?:\d\d|XX)$/i.test(status))
      // whatever the document says, these have no content
      .map(([status, response]) => (/^20[45]$/.test(status) ? undefined : references.follow(response)['content']))
      .map((content) => (isObject(content) ? content : {}))
  );
}

/** The one schema of all successful answers. */
function commonSchema(contents: readonly JsonObject[]): unknown {
  const schemas = contents.map((content) => {
    const found = Object.keys(content).find((type) => JSON_TYPE.test(type));
    return found === undefined ? undefined : own(content[found], 'schema');
  });
  const [first] = schemas;
  const text = JSON.stringify(first);
  return schemas.every((each) => each !== undefined && JSON.stringify(each) === text) ? first : undefined;
}

const MAX_LOOKED_AT = 100;

function isObjectSchema(schema: JsonObject, converter: SchemaConverter, seen = new Set<JsonObject>()): boolean {
  if (seen.has(schema) || seen.size > MAX_LOOKED_AT) return false;
  seen.add(schema);
  const { type, nullable, properties, allOf } = schema;
  if (nullable === true) return false;
  if (type !== undefined) return [type].flat().join() === 'object';
  if (isObject(properties)) return true;
  return Array.isArray(allOf) && allOf.some((each) => isObjectSchema(converter.resolved(each), converter, seen));
}

/** The schema of an operation's results. */
export function outputOf(operation: Operation, document: OpenDocument, isPublished: boolean): Output {
  const contents = successes(operation, document);
  const types = contents.flatMap((content) => Object.keys(content)).filter((type) => MEDIA_TYPE.test(type));
  const accept = [...new Set([...types, types.length === 0 ? 'application/json' : '', '*/*;q=0.1'])].filter(Boolean);
  const source = isPublished ? commonSchema(contents) : undefined;
  const result = { accept: accept.slice(0, 20).join(', ') };
  if (source === undefined) return { ...result, schema: undefined, isWrapped: false };
  const converter = new SchemaConverter(document, 'output');
  if (isObjectSchema(converter.resolved(source), converter)) {
    const { required, ...root } = converter.convertRoot(source);
    const properties = isObject(root['properties']) ? root['properties'] : {};
    // a required field without a schema is allowed, but a common mistake in schemas that are written by hand
    const known = Array.isArray(required) ? required.filter((name) => Object.hasOwn(properties, String(name))) : [];
    const schema = { ...root, type: 'object', ...(known.length > 0 && { required: known }) };
    return { ...result, schema: withDefinitions(schema, converter), isWrapped: false };
  }
  const schema = { type: 'object', properties: { result: converter.convert(source) }, required: ['result'] };
  return { ...result, schema: withDefinitions(schema, converter), isWrapped: true };
}

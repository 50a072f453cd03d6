import type { JsonObject } from '@decorum/core';

import { SchemaConverter, withDefinitions } from './json-schema.js';
import type { OpenDocument } from './open-document.js';
import type { Operation, Parameter } from './operation.js';
import { type BodyFormat, bodyOf } from './body-format.js';

/** An argument of a tool, and where its value goes. */
export type Binding =
  | { readonly argument: string; readonly in: 'parameter'; readonly parameter: Parameter }
  /** A field of the body, or the whole body if `field` is undefined. */
  | { readonly argument: string; readonly in: 'body'; readonly field: string | undefined };

/** The arguments of a tool. */
export interface Input {
  readonly schema: JsonObject;
  readonly bindings: readonly Binding[];
  readonly body: BodyFormat | undefined;
}

/** Names of properties that the model APIs accept. */
const cleaned = (name: string): string =>
  name
    .replaceAll(/[^A-Za-z0-9_.-]+/g, '_')
    .slice(0, 64)
    .replaceAll(/^_+|_+$/g, '');

/** Collects arguments under names that don't clash. */
class Arguments {
  readonly properties: Record<string, JsonObject> = {};
  readonly required: string[] = [];
  readonly bindings: Binding[] = [];

  /** Adds an argument, and returns its name: the second one of a name gets its place before it. */
  add(place: string, name: string, { schema, required }: { schema: JsonObject; required: boolean }): string {
    // `__proto__` would be no member of the schema
    const base = name === '__proto__' ? 'proto' : /^[A-Za-z0-9_.-]{1,64}$/.test(name) ? name : cleaned(name) || place;
    let argument = Object.hasOwn(this.properties, base) ? `${place}_${base}` : base;
    for (let count = 2; Object.hasOwn(this.properties, argument); count += 1) argument = `${place}_${base}_${count}`;
    this.properties[argument] = schema;
    if (required) this.required.push(argument);
    return argument;
  }
}

/**
 * The arguments of an operation: its parameters, and the fields of its body.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` for references that lead nowhere
 */
export function inputOf(operation: Operation, document: OpenDocument): Input {
  const converter = new SchemaConverter(document, 'input');
  const found = new Arguments();
  for (const parameter of operation.parameters) {
    const converted = converter.convert(parameter.schema);
    const schema = described(parameter.in === 'path' ? notEmpty(converted) : converted, parameter, converter);
    const argument = found.add(parameter.in, parameter.name, { schema, required: parameter.required });
    found.bindings.push({ argument, in: 'parameter', parameter });
  }
  const body = bodyOf(operation, document, converter);
  if (body?.fields !== undefined) {
    for (const { name, schema, required } of body.fields) {
      const argument = found.add('body', name, { schema, required: required && body.required });
      found.bindings.push({ argument, in: 'body', field: name });
    }
  } else if (body !== undefined) {
    const schema = described(body.schema, body, converter);
    const argument = found.add('body', 'body', { schema, required: body.required });
    found.bindings.push({ argument, in: 'body', field: undefined });
  }
  const { properties, required, bindings } = found;
  const schema = {
    type: 'object',
    properties,
    ...(required.length > 0 && { required }),
    ...dependentFields(body, bindings),
    additionalProperties: false,
  };
  return { schema: withDefinitions(schema, converter), bindings, body };
}

/** An empty text in a path would name another resource. */
const notEmpty = (schema: JsonObject): JsonObject =>
  schema['type'] === 'string' && schema['enum'] === undefined ? { minLength: 1, ...schema } : schema;

const MAX_DEPENDENT = 1000;

/** An optional body is either left out, or has its required fields. */
function dependentFields(body: BodyFormat | undefined, bindings: readonly Binding[]): JsonObject {
  if (body?.fields === undefined || body.required) return {};
  const needed = new Set(body.fields.filter(({ required }) => required).map(({ name }) => name));
  const fields = bindings.filter((each) => each.in === 'body');
  const names = fields.filter(({ field }) => needed.has(String(field))).map(({ argument }) => argument);
  // each field names all the others: of many, the API says what is missing
  if (names.length === 0 || fields.length < 2 || names.length * fields.length > MAX_DEPENDENT) return {};
  const others = fields.map(({ argument }) => [argument, names.filter((name) => name !== argument)] as const);
  return { dependentRequired: Object.fromEntries(others.filter(([, list]) => list.length > 0)) };
}

/** Adds a description to a schema that has none of its own. */
function described(
  schema: JsonObject,
  { description }: { readonly description: unknown },
  converter: SchemaConverter,
): JsonObject {
  if (schema['description'] !== undefined && !('$ref' in schema)) return schema;
  return { ...schema, ...converter.text(description) };
}

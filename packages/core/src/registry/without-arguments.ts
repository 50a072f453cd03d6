import { isObject, type JsonObject } from '@decorum/schema/internal';

/** Keywords beside a root `$ref` that don't restrict values. */
const HARMLESS = new Set(['$ref', '$defs', 'definitions', '$schema', '$id', 'type', 'title', 'description']);

/** Keywords that may name arguments, besides `properties` and `required`. */
const NAMING = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentRequired', 'dependentSchemas'];

/** The definition of a schema that a reference names. */
export function referenced(schema: JsonObject, ref: string): JsonObject | undefined {
  const [, place = '', name = ''] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(ref) ?? [];
  const target = (schema[place] as JsonObject | undefined)?.[name.replaceAll('~1', '/').replaceAll('~0', '~')];
  return isObject(target) ? target : undefined;
}

/** Follows a root `$ref` to the definitions of the schema itself. */
export function rootOf(schema: JsonObject, depth = 0): JsonObject {
  const { $ref, $defs, definitions } = schema;
  if (typeof $ref !== 'string' || depth > 8) return schema;
  const target = referenced(schema, $ref);
  if (target === undefined || !Object.keys(schema).every((key) => HARMLESS.has(key))) return schema;
  const { $ref: _followed, ...rest } = schema;
  return rootOf(
    { ...rest, ...target, ...($defs !== undefined && { $defs }), ...(definitions !== undefined && { definitions }) },
    depth + 1,
  );
}

/** The schemas of a tool's arguments, also of a schema whose root is a reference. */
export function propertiesOf(schema: JsonObject): Readonly<Record<string, unknown>> {
  const { properties } = rootOf(schema);
  return isObject(properties) ? properties : {};
}

/**
 * The schema of a tool's arguments without some of them.
 * @param wrong creates the error for an argument that can't be removed
 */
export function withoutArguments(
  schema: JsonObject,
  names: readonly string[],
  wrong: (problem: string) => Error,
): JsonObject {
  const root = rootOf(schema);
  const properties = Object.entries(propertiesOf(schema)).filter(([name]) => !names.includes(name));
  const others = NAMING.filter((keyword) => keyword in root);
  for (const name of names) {
    // the name may also be a value there: better refused than a schema that no arguments can satisfy
    const other = others.find((keyword) => JSON.stringify(root[keyword]).includes(JSON.stringify(name)));
    if (other !== undefined)
      throw wrong(`has "${name}", which \`${other}\` of the schema may name too. Leave it to the client`);
  }
  const { required, ...rest } = root;
  const left = Array.isArray(required) ? required.filter((name) => !names.includes(name as string)) : [];
  return { ...rest, properties: Object.fromEntries(properties), ...(left.length > 0 && { required: left }) };
}

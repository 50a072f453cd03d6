import { isObject, type JsonObject } from '@decorum/schema/internal';

import { pick } from './fields.js';
import type { EncodedQuestion } from './revision.js';

interface Choice {
  readonly const: string;
  readonly title?: string;
}

const LIMITS = ['minLength', 'maxLength', 'minimum', 'maximum'];
const KEYWORDS = ['type', 'title', 'description', 'format', 'enum', 'enumNames', ...LIMITS];

const choicesOf = (schema: JsonObject): readonly Choice[] => {
  const titled = (schema['oneOf'] ?? schema['anyOf']) as readonly Choice[] | undefined;
  return titled ?? ((schema['enum'] ?? []) as string[]).map((value) => ({ const: value }));
};

/** Encodes titled choices as `enum` with `enumNames`. Only booleans keep their default. */
function encodeField(schema: JsonObject): JsonObject {
  const known = pick(schema, schema['type'] === 'boolean' ? [...KEYWORDS, 'default'] : KEYWORDS);
  if (!Array.isArray(schema['oneOf'])) return known;
  const choices = choicesOf(schema);
  return {
    ...known,
    enum: choices.map((choice) => choice.const),
    enumNames: choices.map((choice) => choice.title ?? choice.const),
  };
}

/**
 * Encodes a form for clients without `mode` and without multiple choice: a multiple-choice field becomes one boolean
 * per choice, and `restore` turns the answer back into a list.
 */
export function formWithoutChoices(params: JsonObject): EncodedQuestion {
  const { requestedSchema, message } = params as { requestedSchema: JsonObject; message: string };
  const properties: JsonObject = {};
  const several = new Map<string, readonly Choice[]>();
  for (const [name, schema] of Object.entries((requestedSchema['properties'] ?? {}) as Record<string, JsonObject>)) {
    if (schema['type'] !== 'array') {
      properties[name] = encodeField(schema);
      continue;
    }
    const choices = choicesOf((schema['items'] ?? {}) as JsonObject);
    several.set(name, choices);
    for (const choice of choices) {
      const title = `${String(schema['title'] ?? name)}: ${choice.title ?? choice.const}`;
      properties[`${name}: ${choice.const}`] = { type: 'boolean', title };
    }
  }
  const required = ((requestedSchema['required'] ?? []) as string[]).filter((name) => !several.has(name));
  return {
    params: { message, requestedSchema: { type: 'object', properties, ...(required.length > 0 && { required }) } },
    restore: (answer) =>
      isObject(answer['content']) ? { ...answer, content: gather(answer['content'], several) } : answer,
  };
}

function gather(content: JsonObject, several: ReadonlyMap<string, readonly Choice[]>): JsonObject {
  const gathered: JsonObject = { ...content };
  for (const [name, choices] of several) {
    const values = choices.map((choice) => choice.const);
    gathered[name] = values.flatMap((value) => {
      const chosen = content[`${name}: ${value}`] ?? false;
      if (typeof chosen !== 'boolean') return [null]; // an invalid value, which the form's validation will reject
      return chosen ? [value] : [];
    });
    for (const value of values) delete gathered[`${name}: ${value}`];
  }
  return gathered;
}

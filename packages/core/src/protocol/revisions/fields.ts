import type { JsonObject } from '../model.js';

/** The fields of an object that a revision knows, in their order; what it does not know is not sent. */
export function pick(object: object, fields: readonly string[]): JsonObject {
  const picked: JsonObject = {};
  for (const [name, value] of Object.entries(object)) {
    if (value !== undefined && fields.includes(name)) picked[name] = value;
  }
  return picked;
}

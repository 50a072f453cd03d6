/** A JSON object of unknown content. */
export type JsonObject = Record<string, unknown>;

/** Whether a value is an object, but not an array or null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

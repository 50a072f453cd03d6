/**
 * The JSON of a value with the keys of its objects sorted, so equal values have equal text (RFC 8785).
 * @param value a JSON value
 */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const members = value as Readonly<Record<string, unknown>>;
  const keys = Object.keys(members).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonicalJson(members[key])}`).join(',')}}`;
}

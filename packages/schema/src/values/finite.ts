type Members = Readonly<Record<string, unknown>>;

/** Thrown for a number that JSON lacks: NaN or an infinity. */
export class NotFinite extends Error {
  /** @param path path of the number, such as `rows[2].price`; empty for the value itself */
  constructor(path: string, number: number) {
    super(`${path === '' ? 'It' : path} is ${number}, which JSON has no number for. Use null, or leave it out.`);
  }
}

/**
 * Rejects NaN and infinities in a value, which `JSON.stringify` writes as null.
 * @param json the JSON of the value. Without a null, the value isn't searched, so that most values cost nothing
 * @throws {NotFinite}
 */
export function requireFinite(value: unknown, json: string): void {
  if (json.includes('null')) search(value, '');
}

function search(value: unknown, path: string): void {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new NotFinite(path, value);
  if (typeof value !== 'object' || value === null) return;
  if (typeof (value as Members)['toJSON'] === 'function')
    return search((value as { toJSON(): unknown }).toJSON(), path);
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at += 1) search(value[at], `${path}[${at}]`);
    return;
  }
  for (const key of Object.keys(value)) search((value as Members)[key], path === '' ? key : `${path}.${key}`);
}

import { createHash } from 'node:crypto';

/** Headers that the client sets itself, or that would change how the message is read. */
const OWN = new Set([
  'accept',
  'connection',
  'content-length',
  'content-type',
  'host',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'mcp-session-id',
  'transfer-encoding',
  'upgrade',
]);

// RFC 9110, 5.6.2 and 5.5
const NAME = /^[!#$%&'*+.^\x60|~\w-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Headers with lower-case names, in order. */
export type UpstreamHeaders = Readonly<Record<string, string>>;

/**
 * Checks what a `headers` function has returned. A line break in a value would smuggle other headers in.
 * @param where names the proxy in errors
 * @throws {TypeError} without the value, which may be secret
 */
export function checkedHeaders(where: string, given: unknown): UpstreamHeaders {
  if (typeof given !== 'object' || given === null) throw new TypeError(`${where}: \`headers\` returned no object.`);
  const entries = Object.entries(given).map(([name, value]: [string, unknown]) => {
    const key = name.toLowerCase();
    if (!NAME.test(name)) throw new TypeError(`${where}: \`headers\` returned a name that is no token (RFC 9110).`);
    if (OWN.has(key)) throw new TypeError(`${where}: \`headers\` must not set "${key}". The client does.`);
    if (typeof value !== 'string' || !VALUE.test(value)) {
      throw new TypeError(`${where}: \`headers\` returned a value for "${key}" that no header can have.`);
    }
    return [key, value] as const;
  });
  return Object.fromEntries(entries.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** Tells headers apart without keeping their values. */
export const digestOf = (headers: UpstreamHeaders): string =>
  createHash('sha256')
    .update(JSON.stringify(Object.entries(headers)))
    .digest('base64url');

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** Parses a URL. Undefined if it is invalid. */
export function parseUrl(url: string): URL | undefined {
  try {
    return new URL(url);
  } catch {
    return undefined;
  }
}

/** Whether a URL is `http` or `https` and can be an identifier: printable ASCII without a fragment or backslash. */
export function isWebUrl(url: string): boolean {
  return /^https?:\/\/[^\s#\\]+$/i.test(url) && /^[\x21-\x7e]+$/.test(url) && parseUrl(url) !== undefined;
}

/** The mistake in the URL of a server that must be authentic; undefined if there is none. */
export function issuerUrlMistake(url: unknown, allowLoopbackHttp: boolean): string | undefined {
  if (typeof url !== 'string' || !isWebUrl(url)) return 'must be a URL, such as "https://id.example.com"';
  const { protocol, hostname, username, password } = new URL(url);
  if (username !== '' || password !== '') return 'must not contain a user name or password';
  if (protocol === 'https:') return undefined;
  if (!LOOPBACK.test(hostname)) return 'must use https';
  return allowLoopbackHttp ? undefined : 'must use https. For tests on this machine, pass `allowLoopbackHttp: true`';
}

/** A web URL as RFC 3986 writes it, in which nothing is left to repair: scheme, host with port, path and query. */
const WRITTEN =
  /^(https?):\/\/([\w.~-]+|\[[\da-f:.]+\])(:\d+)?((?:\/[\w.~!$&'()*+,;=:@%-]*)*)(\?[\w.~!$&'()*+,;=:@%/?-]*)?$/i;

const DEFAULT_PORTS: Readonly<Record<string, string>> = { http: ':80', https: ':443' };

/**
 * The canonical form of a resource identifier: scheme and host in lower case, without the default port, and no slash
 * after a host without a path (RFC 3986, section 6.2; RFC 8707, section 2). All other identifiers stay as is. A URL parser
 * would repair them, so that others than the configured one seem to be the same: with a backslash, `/a/..` or `%2e`.
 */
export function canonicalResource(identifier: string): string {
  const [, scheme = '', host = '', port = '', path = '', query = ''] = WRITTEN.exec(identifier) ?? [];
  if (host === '') return identifier;
  const origin = `${scheme}://${host}`.toLowerCase() + (port === DEFAULT_PORTS[scheme.toLowerCase()] ? '' : port);
  return path === '/' && query === '' ? origin : origin + path + query;
}

/** A URL without the slash at its end. */
export const withoutSlash = (url: string): string => url.replace(/\/$/, '');

/** Whether two identifiers differ, but only by a slash at the end. */
export const isSlashAway = (one: unknown, other: string): boolean =>
  typeof one === 'string' && one !== other && withoutSlash(one) === withoutSlash(other);

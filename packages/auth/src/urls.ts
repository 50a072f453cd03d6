const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** Parses a URL. Undefined if it is invalid. */
export function parseUrl(url: string): URL | undefined {
  try {
    return new URL(url);
  } catch {
    return undefined;
  }
}

/** Whether a URL is `http` or `https` and can be an identifier: printable ASCII without a fragment. */
export function isWebUrl(url: string): boolean {
  return /^https?:\/\/[^\s#]+$/i.test(url) && /^[\x21-\x7e]+$/.test(url) && parseUrl(url) !== undefined;
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

/**
 * The canonical form of a resource identifier: scheme and host in lower case, and no slash after a host without a path
 * (RFC 3986, section 6.2). Identifiers that aren't web URLs, or have a user name or password, stay as is.
 */
export function canonicalResource(identifier: string): string {
  if (!isWebUrl(identifier)) return identifier;
  const { origin, pathname, search, username, password } = new URL(identifier);
  if (username !== '' || password !== '') return identifier;
  const written = /^https?:\/\/[^/?]*(.*)$/i.exec(identifier)?.[1] ?? '';
  // the path as written: its case matters, and dots in it may be part of a name
  return pathname === '/' && search === '' ? origin : `${origin}${written}`;
}

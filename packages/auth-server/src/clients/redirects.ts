import { parseUrl } from '@decorum/auth/internal';

import { ClientError } from './client-error.js';

const MAX_REDIRECTS = 20;
const MAX_LENGTH = 2000;

/** The loopback hosts of oidc-provider. It has no others, so `127.0.0.2` would get no free port. */
const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': ':80', 'https:': ':443' };

/** Schemes that no application owns: a redirect there would run a script, open a file, or leave over plain text. */
const UNOWNED_SCHEMES: ReadonlySet<string> = new Set(
  'http https ws wss ftp file javascript vbscript data blob about filesystem view-source intent mailto tel sms'.split(
    ' ',
  ),
);

/** Encoded control characters: the application behind a private scheme may decode them. */
const ENCODED_CONTROL = /%(?:[01][0-9a-f]|7f)/i;

/** A mistake in a list of redirect URIs. */
export interface RedirectMistake {
  /** The index of the wrong one, such as `[1]`; empty if the whole list is wrong. */
  readonly at: string;
  readonly problem: string;
}

/** Whether a name can be an allowed private-use scheme (RFC 8252, section 7.1). */
export const isPrivateScheme = (scheme: unknown): scheme is string =>
  typeof scheme === 'string' && /^[a-z][a-z0-9+.-]*$/.test(scheme) && !UNOWNED_SCHEMES.has(scheme);

/** Whether a redirect URI leads to this machine, where any program may listen. */
export const isLoopbackRedirect = (uri: string): boolean => {
  const { protocol, hostname } = new URL(uri);
  return (protocol === 'http:' || protocol === 'https:') && LOOPBACK_HOSTS.has(hostname);
};

const isPrivate = (uri: string): boolean => !/^https?:/.test(uri);
const isHttpsLoopback = (uri: string): boolean => uri.startsWith('https:') && isLoopbackRedirect(uri);

/**
 * How oidc-provider has to treat a client with these redirect URIs. Only for native clients, the port of a loopback
 * redirect is free and private schemes are possible. But it accepts no https loopback redirect of native clients, so
 * with one, the ports stay as registered.
 */
export function clientKind(uris: readonly string[]): 'native' | 'web' {
  if (uris.some(isHttpsLoopback)) return 'web';
  return uris.some((uri) => isPrivate(uri) || isLoopbackRedirect(uri)) ? 'native' : 'web';
}

/** The mistake in a list of redirect URIs; undefined if there is none. */
export function redirectsMistake(uris: unknown, schemes: readonly string[]): RedirectMistake | undefined {
  if (!Array.isArray(uris) || uris.length === 0) return { at: '', problem: 'must be a list with at least one URI' };
  if (uris.length > MAX_REDIRECTS) return { at: '', problem: `must have at most ${MAX_REDIRECTS} URIs` };
  // entries() also visits holes, which `every` and `map` skip
  for (const [index, uri] of (uris as unknown[]).entries()) {
    const problem = uriMistake(uri, schemes) ?? (uris.indexOf(uri) < index ? 'repeats an earlier one' : undefined);
    if (problem !== undefined) return { at: `[${index}]`, problem };
  }
  if (!uris.some(isPrivate) || !uris.some(isHttpsLoopback)) return undefined;
  return { at: '', problem: 'must not have both private schemes and https loopback URIs. Write the latter with http' };
}

/**
 * Checks the redirect URIs that a client sent.
 * @throws {ClientError} `invalid_redirect_uri`
 */
export function requireRedirects(uris: unknown, schemes: readonly string[]): readonly string[] {
  const mistake = redirectsMistake(uris, schemes);
  if (mistake === undefined) return uris as readonly string[];
  throw new ClientError('invalid_redirect_uri', `redirect_uris${mistake.at} ${mistake.problem}`);
}

function uriMistake(uri: unknown, schemes: readonly string[]): string | undefined {
  if (typeof uri !== 'string') return 'must be a string';
  if (uri.length > MAX_LENGTH) return `must have at most ${MAX_LENGTH} characters`;
  const url = parseUrl(uri);
  if (url === undefined) return 'must be an absolute URI';
  if (uri.includes('#')) return 'must not have a fragment';
  if (uri.includes('*')) return 'must not have a wildcard. Redirect URIs are compared exactly';
  if (url.username !== '' || url.password !== '') return 'must not have a user name or password';
  // browsers repair what they parse: spaces, backslashes, dot segments, other spellings of an address
  if (!isNormal(uri, url) || ENCODED_CONTROL.test(uri))
    return 'must be written in its normal form (RFC 3986, section 6)';
  return schemeMistake(url, schemes);
}

function schemeMistake({ protocol, hostname, pathname, host }: URL, schemes: readonly string[]): string | undefined {
  if (protocol === 'https:') return undefined;
  if (protocol === 'http:') {
    return LOOPBACK_HOSTS.has(hostname)
      ? undefined
      : 'must use https. Only localhost, 127.0.0.1 and [::1] may use http';
  }
  const scheme = protocol.slice(0, -1);
  if (!isPrivateScheme(scheme) || !schemes.includes(scheme)) return 'must use https, or http on a loopback host';
  return host !== '' || pathname.startsWith('/') ? undefined : 'must have a path';
}

/** Whether parsing changes nothing. A missing root path and a default port are no repairs: many clients write so. */
function isNormal(uri: string, { href, protocol, host, pathname, search }: URL): boolean {
  if (href === uri) return true;
  const port = DEFAULT_PORTS[protocol];
  if (port === undefined || host === '') return false;
  const origins = [`${protocol}//${host}`, `${protocol}//${host}${port}`];
  const rests = pathname === '/' ? [`/${search}`, search] : [`${pathname}${search}`];
  return origins.some((origin) => rests.some((rest) => origin + rest === uri));
}

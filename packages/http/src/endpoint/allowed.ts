import { startupError } from '../errors.js';

/** Host names of this machine. */
export const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Whether a listen address is reachable only from this machine. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.has(host) || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

const HOST = /^(\[[0-9a-f:.]+\]|[^\s/:@[\]?#*]+)(:\d+)?$/i;

const ORIGIN = /^([a-z][a-z0-9+.-]*):\/\/([^\s/?#@*]+)$/i;

const WILDCARD = 'Wildcards are not supported. List each one';

const isAscii = (value: string): boolean => /^[\x21-\x7e]+$/.test(value);

function parse(url: string): URL | undefined {
  try {
    return new URL(url);
  } catch {
    return undefined;
  }
}

/** Describes the mistake in a value of `allowedHosts` and its remedy. Returns undefined for a valid value. */
export function hostMistake(value: string): string | undefined {
  if (value.includes('*')) return `${WILDCARD}, such as "mcp.example.com"`;
  if (HOST.test(value) && isAscii(value)) return undefined;
  const meant = /^[0-9a-f.]*(?::[0-9a-f.]*){2,}$/i.test(value)
    ? `[${value}]`
    : parse(value.includes('://') ? value : `http://${value}`)?.host;
  return `A host has no scheme, path or query. Write "${meant || 'mcp.example.com'}"`;
}

/** Describes the mistake in a value of `allowedOrigins` and its remedy. Returns undefined for a valid value. */
function originMistake(value: string): string | undefined {
  if (value.includes('*')) return `${WILDCARD}, such as "https://app.example.com"`;
  if (!value.includes('://')) {
    const { host, hostname = '' } = (value === 'null' ? undefined : parse(`http://${value}`)) ?? {};
    const scheme = LOOPBACK.has(hostname) ? 'http' : 'https';
    return `An origin starts with a scheme. Write "${scheme}://${host || 'app.example.com'}"`;
  }
  const isWeb = /^https?:/i.test(value);
  const sent = isWeb ? parse(value)?.origin : ORIGIN.exec(value)?.[0].toLowerCase();
  if (sent === value.toLowerCase() && isAscii(value)) return undefined;
  return `An origin is a scheme and a host, as browsers send them. Write "${sent ?? 'https://app.example.com'}"`;
}

const MISTAKES = { allowedHosts: hostMistake, allowedOrigins: originMistake };

/**
 * Checks the values of an option and returns them in lower case.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` for a value that no request can match
 */
export function requireAllowed(option: keyof typeof MISTAKES, values: readonly string[]): ReadonlySet<string> {
  for (const value of values) {
    const mistake = MISTAKES[option](value);
    if (mistake === undefined) continue;
    throw startupError('DECORUM_INVALID_OPTION', '@decorum/http', option, `contains "${value}". ${mistake}`);
  }
  return new Set(values.map((value) => value.toLowerCase()));
}

/** Maximum number of characters of a rejected value to log. */
const MAX_LENGTH = 100;

/**
 * The log line for a rejected header value. It names the option that would allow the value.
 * @param value as sent. Clients choose it, and logs are read in terminals, so special characters are replaced.
 */
export function describeRejected(header: 'Host' | 'Origin', value: string): string {
  const shown = value.slice(0, MAX_LENGTH).replaceAll(/[^\x21-\x7e]|["'`\\]/g, '?');
  const rejected = `Rejected a request with the ${header} "${shown}" (403).`;
  const option = header === 'Host' ? 'allowedHosts' : 'allowedOrigins';
  const allowed = header === 'Host' ? hostToAllow(value.toLowerCase()) : value.toLowerCase();
  if (shown !== value || MISTAKES[option](allowed) !== undefined) return rejected;
  return `${rejected} If your clients use it, add it: \`${option}: ['${allowed}']\`.`;
}

/** Drops the port, except for loopback names, which are already accepted with the listening port. */
function hostToAllow(host: string): string {
  const [, name = host] = HOST.exec(host) ?? [];
  return LOOPBACK.has(name) ? host : name;
}

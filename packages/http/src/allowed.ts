import { startupError } from '@decorum/core/transport';

/** The names of this machine. */
export const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

const HOST = /^(\[[0-9a-f:.]+\]|[^\s/:@[\]?#*]+)(:\d+)?$/i;

/** A scheme, and a host with its port. */
export const ORIGIN = /^([a-z][a-z0-9+.-]*):\/\/([^\s/?#@*]+)$/i;

const WILDCARD = 'Wildcards are not supported. List each one';

const isAscii = (value: string): boolean => /^[\x21-\x7e]+$/.test(value);

function parse(url: string): URL | undefined {
  try {
    return new URL(url);
  } catch {
    return undefined;
  }
}

/** What is wrong with a value of `allowedHosts`, and what to write; undefined if nothing is. */
function hostMistake(value: string): string | undefined {
  if (value.includes('*')) return `${WILDCARD}, such as "mcp.example.com"`;
  if (HOST.test(value) && isAscii(value)) return undefined;
  const meant = /^[0-9a-f.]*(?::[0-9a-f.]*){2,}$/i.test(value)
    ? `[${value}]`
    : parse(value.includes('://') ? value : `http://${value}`)?.host;
  return `A host has no scheme, path or query. Write "${meant || 'mcp.example.com'}"`;
}

/** What is wrong with a value of `allowedOrigins`, and what to write; undefined if nothing is. */
function originMistake(value: string): string | undefined {
  if (value.includes('*')) return `${WILDCARD}, such as "https://app.example.com"`;
  if (!value.includes('://')) {
    const { host, hostname = '' } = (value === 'null' ? undefined : parse(`http://${value}`)) ?? {};
    const scheme = LOOPBACK.has(hostname) ? 'http' : 'https';
    return `An origin begins with a scheme. Write "${scheme}://${host || 'app.example.com'}"`;
  }
  const isWeb = /^https?:/i.test(value);
  const sent = isWeb ? parse(value)?.origin : ORIGIN.exec(value)?.[0].toLowerCase();
  if (sent === value.toLowerCase() && isAscii(value)) return undefined;
  return `An origin is a scheme and a host, as browsers send it. Write "${sent ?? 'https://app.example.com'}"`;
}

const MISTAKES = { allowedHosts: hostMistake, allowedOrigins: originMistake };

/**
 * The values of an option, in lower case.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` for a value that no request could have
 */
export function requireAllowed(option: keyof typeof MISTAKES, values: readonly string[]): ReadonlySet<string> {
  for (const value of values) {
    const mistake = MISTAKES[option](value);
    if (mistake === undefined) continue;
    throw startupError('DECORUM_INVALID_OPTION', '@decorum/http', option, `holds "${value}". ${mistake}`);
  }
  return new Set(values.map((value) => value.toLowerCase()));
}

/** How much of a refused value is logged. */
const MAX_LENGTH = 100;

/**
 * Says that a value of a header was refused, and which option would allow it.
 * @param value as it was sent: its sender chose it, and a log may be read in a terminal
 */
export function describeRefused(header: 'Host' | 'Origin', value: string): string {
  const shown = value.slice(0, MAX_LENGTH).replaceAll(/[^\x21-\x7e]|["'`\\]/g, '?');
  const refused = `A request with the ${header} "${shown}" was refused (403).`;
  const option = header === 'Host' ? 'allowedHosts' : 'allowedOrigins';
  const allowed = header === 'Host' ? hostToAllow(value.toLowerCase()) : value.toLowerCase();
  if (shown !== value || MISTAKES[option](allowed) !== undefined) return refused;
  return `${refused} If your clients send it, add it: \`${option}: ['${allowed}']\`.`;
}

/** Without the port, except for the names of this machine: they are served with the listening port anyway. */
function hostToAllow(host: string): string {
  const [, name = host] = HOST.exec(host) ?? [];
  return LOOPBACK.has(name) ? host : name;
}

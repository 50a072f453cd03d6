import type { IncomingHttpHeaders } from 'node:http';

const MIN_MS = 30_000;
const MAX_MS = 24 * 60 * 60_000;

/** How long a document may be used. Times are milliseconds since 1970. */
export interface Freshness {
  readonly freshUntil: number;
  /** Until when it may replace a document that can't be fetched. */
  readonly staleUntil: number;
}

/**
 * Reads how long a response may be cached (RFC 9111, section 4.2), within 30 seconds to 24 hours. The lower bound saves
 * the origin from one request for each step of each sign-in.
 */
export function freshnessOf(headers: IncomingHttpHeaders, now: number): Freshness {
  const directives = directivesOf(headers['cache-control'] ?? '');
  // `private`: all users of this server share the document
  const isUnkept = ['no-store', 'no-cache', 'private'].some((name) => directives.has(name));
  const lifetime = isUnkept ? 0 : (lifetimeOf(directives) ?? expiryOf(headers, now));
  const age = seconds(headers.age) ?? 0;
  const freshUntil = now + Math.min(MAX_MS, Math.max(MIN_MS, lifetime - age));
  const mayBeStale = !isUnkept && !directives.has('must-revalidate') && !directives.has('proxy-revalidate');
  return { freshUntil, staleUntil: mayBeStale ? now + MAX_MS : freshUntil };
}

function directivesOf(header: string): ReadonlyMap<string, string> {
  const directives = new Map<string, string>();
  for (const part of header.toLowerCase().split(',')) {
    const [, name = '', value = ''] = /^\s*([^\s=]+)\s*(?:=\s*"?([^"]*?)"?)?\s*$/.exec(part) ?? [];
    // of contradictory values, the first one counts
    if (name !== '' && !directives.has(name)) directives.set(name, value);
  }
  return directives;
}

/** `s-maxage` goes first: it is meant for caches that many users share. */
function lifetimeOf(directives: ReadonlyMap<string, string>): number | undefined {
  const value = directives.get('s-maxage') ?? directives.get('max-age');
  return value === undefined ? undefined : (seconds(value) ?? 0);
}

/** An invalid date, such as `0`, has expired. */
function expiryOf({ expires, date }: IncomingHttpHeaders, now: number): number {
  const sent = Date.parse(date ?? '');
  const lifetime = Date.parse(expires ?? '') - (Number.isNaN(sent) ? now : sent);
  return Number.isNaN(lifetime) ? 0 : lifetime;
}

/** A number of seconds as milliseconds; undefined if it is none. */
const seconds = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) * 1000 : undefined;

import { AUTH } from '@decorum/http';
import { afterEach } from '@jest/globals';
import type { AuthRefusal, RequestHead } from '@decorum/http';
import type { Principal } from '@decorum/core';

import { HostileIssuer, type Key } from '../../../test/auth/hostile-issuer.js';
import type { AuthEvent } from '../src/events.js';
import { OAuth } from '../src/oauth.js';
import type { OAuthOptions } from '../src/options.js';

export { createKey, HostileIssuer, type Key, sendJson } from '../../../test/auth/hostile-issuer.js';

/** The audience in the tests. */
export const AUDIENCE = 'https://mcp.example.com/mcp';

/** A request head with these headers. */
export function headWith(headers: Readonly<Record<string, string>> = {}, remoteAddress = '127.0.0.1'): RequestHead {
  const { authorization } = headers;
  const authorizations = authorization === undefined ? [] : [authorization];
  return { method: 'POST', url: '/mcp', headers, authorizations, remoteAddress };
}

/** A request head with a token. */
export const bearing = (token: string, from?: string): RequestHead =>
  headWith({ authorization: `Bearer ${token}` }, from);

const opened = new Set<HostileIssuer>();

afterEach(async () => {
  const issuers = [...opened];
  opened.clear();
  await Promise.all(issuers.map((issuer) => issuer.stop()));
});

/** Starts an issuer until the end of the test. */
export async function openIssuer(keys?: Key[], path?: string): Promise<HostileIssuer> {
  const issuer = await HostileIssuer.open(keys, path);
  opened.add(issuer);
  return issuer;
}

/** An `OAuth` under test, with its clock, events and log. */
export interface Fixture {
  readonly auth: OAuth;
  readonly events: AuthEvent[];
  readonly logged: string[];
  /** Milliseconds that have passed in addition to real time. */
  readonly clock: { ahead: number };
  /** Authenticates a request with this token, from an address. */
  enter(token: string, from?: string): Promise<Principal | AuthRefusal | undefined>;
}

/** Creates an `OAuth` that trusts issuers on this machine. */
export function createAuth(options: Partial<OAuthOptions>, fetcher: typeof fetch = fetch): Fixture {
  const events: AuthEvent[] = [];
  const logged: string[] = [];
  const clock = { ahead: 0 };
  const start = Date.now();
  const auth = new OAuth(
    { audience: AUDIENCE, allowLoopbackHttp: true, onEvent: (event) => void events.push(event), ...options },
    { now: () => start + clock.ahead, fetch: (url, init) => fetcher(url, init) },
  );
  auth[AUTH].opened((message) => void logged.push(message));
  const enter = async (...sent: [token: string, from?: string]) =>
    await auth[AUTH].authenticate(bearing(...sent), undefined);
  return { auth, events, logged, clock, enter };
}

/** The HTTP status of a result: 200 for a principal. */
export const statusOf = (found: Principal | AuthRefusal | undefined): number | undefined =>
  found === undefined ? undefined : 'status' in found ? found.status : 200;

import type { RequestHeaders } from './http-request.js';

/** What a server demands in a `WWW-Authenticate` header (RFC 9110, 11.6.1; RFC 6750, 3; RFC 9728, 5.1). */
export interface Challenge {
  /** The HTTP status: 401, or 403 if the token lacks scopes. */
  readonly status: number;
  /** The scheme in lower case, such as `bearer`; empty if the server sent no such header. */
  readonly scheme: string;
  /** The parameters, such as `resource_metadata`, `scope` and `error`. */
  readonly params: Readonly<Record<string, string>>;
}

/** Where the headers of requests come from. */
export interface HeaderSource {
  /** Gets the first credentials, which may wait for the user. Missing if there is nothing to wait for. */
  prepare?(): Promise<unknown>;
  /** The headers of the next request. */
  headers(): Promise<RequestHeaders>;
  /**
   * Gets other credentials after a refusal, which may wait for the user.
   * @param sent the `authorization` header that was refused
   * @returns whether there are any, so that the request is worth sending again
   */
  refused(challenge: Challenge, sent: string | undefined): Promise<boolean>;
}

/** Headers that never change. */
export const fixedHeaders = (headers: RequestHeaders): HeaderSource => ({
  headers: async () => headers,
  refused: async () => false,
});

/** Reads a `WWW-Authenticate` header. Prefers the `Bearer` challenge if there are several. */
export function challengeIn(status: number, header: string | undefined): Challenge {
  const bearer = /(?:^|,)\s*(bearer)(?=\s|,|$)/i.exec(header ?? '');
  const scheme = (bearer?.[1] ?? /^\s*([\w-]+)/.exec(header ?? '')?.[1] ?? '').toLowerCase();
  const rest = bearer ? (header ?? '').slice(bearer.index + bearer[0].length) : (header ?? '');
  const params: Record<string, string> = {};
  for (const [, name = '', quoted, token] of rest.matchAll(/([\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s",]+))/g)) {
    params[name.toLowerCase()] ??= quoted === undefined ? (token as string) : quoted.replaceAll(/\\(.)/g, '$1');
  }
  return { status, scheme, params };
}

import { inspect } from 'node:util';

import type { Principal } from '@decorum/core';
import { type OptionTypes, requireOptions } from '@decorum/core/plugin';

import { type CardOptions, requireCard } from '../card/card-option.js';
import type { Courier } from '../cluster/courier.js';
import { startupError } from '../errors.js';
import type { Auth, AuthOption } from '../auth/auth.js';
import { authMistake, authOf } from '../auth/auth-option.js';
import { checkedPrincipal } from '../auth/principal.js';
import { credentialHeaders, isHeaderName } from '../auth/credentials.js';
import { Guard } from './guard.js';
import { type EndpointLimits, LIMIT_RANGES, MAX_TIMER_MS, resolveLimits } from './limits.js';
import { sentPath } from './paths.js';
import { requireCourier, requireEventStore, requireSessionStore } from './store-options.js';
import type { EventStore } from '../streams/event-store.js';
import type { SessionStore } from '../sessions/session-store.js';

/** Default path of an endpoint. */
export const DEFAULT_PATH = '/mcp';

/** Paths of the two HTTP+SSE endpoints. */
export interface LegacyPaths {
  /** Path of the event stream. By default `/sse`. */
  readonly path?: string;
  /** Path that clients post messages to. By default `/messages`. */
  readonly messagesPath?: string;
}

/** Options of an MCP endpoint. `HostRequest` is the request type of the web framework. */
export interface EndpointOptions<HostRequest> {
  /** Path of the endpoint. By default `/mcp`; the node and fetch handlers serve every path by default. */
  readonly path?: string;
  /**
   * `Host` values to accept. `mcp.example.com` matches any port, `mcp.example.com:8443` only that port. `localhost`,
   * `127.0.0.1` and `[::1]` with the listening port are always accepted.
   */
  readonly allowedHosts?: readonly string[];
  /**
   * Origins of web pages that may call, such as `https://app.example.com`. Loopback origins with the listening port are
   * always accepted.
   */
  readonly allowedOrigins?: readonly string[];
  /**
   * Returns the caller that an earlier hook of your application has authenticated. A session can then be used only by
   * the principal that started it. By default callers are anonymous, and anyone who knows a session id can use it.
   */
  readonly principal?: (request: HostRequest) => Principal | undefined;
  /**
   * Verifies the credentials of each request before its body is read. Pass the result of `oauth()` from @decorum/auth,
   * or your own object. Can't be combined with `principal`.
   */
  readonly auth?: AuthOption<HostRequest>;
  /**
   * Case-insensitive names of more headers that hold credentials. They are left out of `ctx.transport.headers`, as are
   * `authorization`, `cookie`, `x-api-key` and other well-known headers.
   */
  readonly credentialHeaders?: readonly string[];
  /** Limits on what clients send, open and leave unread. */
  readonly limits?: EndpointLimits;
  /**
   * Milliseconds between keep-alive comments on quiet streams, and between sweeps for idle sessions. If a call sends
   * nothing for one to two intervals, its response becomes a stream. By default 15 seconds.
   */
  readonly keepAliveMs?: number;
  /** Milliseconds until a client reconnects to a stream that `ctx.closeStream()` closed. By default 1 second. */
  readonly retryMs?: number;
  /** Milliseconds that requests in flight get to finish when the application closes. By default 5 seconds. */
  readonly closeDeadlineMs?: number;
  /**
   * Stores the events of sessions, so that clients can resume a stream after losing their connection. By default,
   * events are stored in memory. With `false`, nothing is stored, and streams can't be resumed.
   */
  readonly events?: EventStore | false;
  /**
   * Stores the records of sessions, so that several processes can serve them. By default sessions live in the memory of
   * this process. `events`, `sessionStore` and `courier` take precedence over the `cluster` of the server.
   */
  readonly sessionStore?: SessionStore;
  /**
   * Reaches the process that has the open streams and running requests of a session. Without one, an answer or a
   * cancellation must reach the process that the request runs in. Needs `sessionStore`.
   */
  readonly courier?: Courier;
  /**
   * Milliseconds within which a store must answer. The request gets a 503 then, or up to an eighth of this time earlier.
   * By default 3 seconds.
   */
  readonly storeTimeoutMs?: number;
  /**
   * With `false`, each request is served on its own, even in revisions with sessions, so any of several processes can
   * serve it. Clients of those revisions then get no streams except those of their requests. They can't subscribe, get
   * no log messages and can't be asked questions. Stateless revisions work the same either way. By default `true`.
   */
  readonly sessions?: boolean;
  /** Also serves HTTP+SSE, the predecessor of Streamable HTTP, for old clients. By default `false`. */
  readonly legacySse?: boolean | LegacyPaths;
  /**
   * Serves a Server Card at the endpoint's path + `/server-card`, and lists it in `/.well-known/ai-catalog.json`. Both are
   * public, even with `auth`. By default `false`.
   */
  readonly card?: boolean | CardOptions;
}

/** Options with defaults applied. */
export interface ResolvedOptions<HostRequest>
  extends
    Required<
      Omit<
        EndpointOptions<HostRequest>,
        | 'principal'
        | 'auth'
        | 'legacySse'
        | 'sessionStore'
        | 'courier'
        | 'events'
        | 'credentialHeaders'
        | 'limits'
        | 'card'
      >
    >,
    Required<EndpointLimits> {
  readonly principal: EndpointOptions<HostRequest>['principal'];
  readonly auth: Auth<HostRequest> | undefined;
  /** The path of the endpoint from the root of the origin, as far as the host knows it. */
  readonly servedPath?: string | undefined;
  readonly sessionStore: SessionStore | undefined;
  readonly courier: Courier | undefined;
  /** Undefined if the option is not set. */
  readonly events: EventStore | false | undefined;
  /** Lower-case names of the headers that are hidden from handlers. */
  readonly credentials: ReadonlySet<string>;
  /** Built from `allowedHosts` and `allowedOrigins`. */
  readonly guard: Guard;
  readonly legacySse: Required<LegacyPaths> | undefined;
  readonly card: CardOptions | undefined;
  /** Whether the host may pass the caller with each request. */
  readonly callersByRequest?: boolean;
  /** Whether every response must end soon: clients can neither open streams nor subscribe. */
  readonly isBrief?: boolean;
}

/** Default and maximum of each option that is a whole number. */
const COUNTS = {
  keepAliveMs: [15_000, MAX_TIMER_MS],
  retryMs: [1000, MAX_TIMER_MS],
  closeDeadlineMs: [5000, MAX_TIMER_MS],
  storeTimeoutMs: [3000, MAX_TIMER_MS],
} as const;

/** Names of all options. The type makes the compiler report an option that is missing here. */
const OPTION_NAMES: OptionTypes<EndpointOptions<never>> = {
  path: true,
  allowedHosts: true,
  allowedOrigins: true,
  principal: true,
  auth: true,
  limits: LIMIT_RANGES,
  keepAliveMs: true,
  retryMs: true,
  closeDeadlineMs: true,
  events: true,
  sessionStore: true,
  courier: true,
  storeTimeoutMs: true,
  sessions: true,
  legacySse: true,
  card: true,
  credentialHeaders: true,
};

/**
 * Rejects unknown options.
 * @param others names of further options that `where` accepts
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function checkOptionNames(
  where: string,
  options: object,
  others: OptionTypes<Record<string, unknown>> = {},
): void {
  requireOptions(where, options, { ...OPTION_NAMES, ...others });
}

/**
 * Checks the options and applies the defaults.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function resolveOptions<HostRequest>(options: EndpointOptions<HostRequest>): ResolvedOptions<HostRequest> {
  const { sessions = true, path = DEFAULT_PATH, principal, sessionStore, courier } = options;
  const auth = options.auth && authOf(options.auth);
  const legacySse = legacyPaths(options.legacySse, path);
  requireFlag('sessions', sessions);
  if (legacySse && !sessions) throw invalid('legacySse', NEEDS_SESSIONS);
  if (principal !== undefined && typeof principal !== 'function') {
    throw invalid('principal', "must be a function that returns the caller's principal");
  }
  const mistake = options.auth === undefined ? undefined : authMistake(auth);
  if (mistake !== undefined) throw invalid('auth', mistake);
  if (auth && principal) throw invalid('auth', "can't be combined with `principal`. Pass only one");
  if (sessionStore && !sessions) throw invalid('sessionStore', 'needs sessions. Remove `sessions: false`');
  const counts = Object.entries(COUNTS).map(([name, [byDefault, max]]) => {
    const value = options[name as keyof typeof COUNTS] ?? byDefault;
    return [name, requireCount(name, value, max)] as const;
  });
  const { allowedHosts: hosts = [], allowedOrigins: origins = [] } = options;
  const allowedHosts = [...requireList('allowedHosts', hosts), ...(auth?.allowedHosts ?? [])];
  const allowedOrigins = requireList('allowedOrigins', origins);
  return {
    path: requirePath('path', path),
    allowedHosts,
    allowedOrigins,
    guard: new Guard({ allowedHosts, allowedOrigins }),
    events: options.events === undefined ? undefined : requireEventStore(options.events),
    sessionStore: requireSessionStore(sessionStore),
    courier: requireCourier(courier, sessionStore),
    credentials: credentialHeaders([
      ...requireHeaderNames(options.credentialHeaders ?? []),
      ...(auth?.credentialHeaders ?? []),
    ]),
    principal: principal && checkedPrincipal(principal),
    auth,
    sessions,
    legacySse,
    card: requireCard(options.card),
    ...(Object.fromEntries(counts) as Record<keyof typeof COUNTS, number>),
    ...resolveLimits(options.limits),
  };
}

const NEEDS_SESSIONS = 'needs sessions, because responses arrive on a separate stream. Remove `sessions: false`';

function legacyPaths(option: EndpointOptions<never>['legacySse'], mcpPath: string): Required<LegacyPaths> | undefined {
  if (option === undefined || option === false) return undefined;
  if (option !== true && (typeof option !== 'object' || option === null)) {
    throw invalid('legacySse', 'must be true, false or an object with `path` and `messagesPath`');
  }
  if (option !== true) requireOptions('legacySse', option, { path: true, messagesPath: true });
  const { path = '/sse', messagesPath = '/messages' } = option === true ? {} : option;
  for (const [name, given] of Object.entries({ path, messagesPath })) {
    requirePath(`legacySse.${name}`, given);
    const problem = `is "${given}", which is the path of Streamable HTTP. Choose another path`;
    if (given === mcpPath) throw invalid(`legacySse.${name}`, problem);
  }
  return { path, messagesPath };
}

const invalid = (option: string, problem: string) =>
  startupError('DECORUM_INVALID_OPTION', '@decorum/http', option, problem);

/** The empty path is valid: it means the prefix that the plugin is registered with. */
function requirePath(option: string, path: string): string {
  if (typeof path === 'string' && /^(?:\/[^?#\s]*)?$/.test(path)) return path;
  throw invalid(
    option,
    `is ${inspect(path)}, but must be a path that starts with "/", without "?" and "#". Write "/mcp"`,
  );
}

/**
 * Rejects paths that no client sends, for hosts that compare request paths with them. Fastify routes have their own
 * syntax.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function requireSentPaths({ path, legacySse }: Pick<ResolvedOptions<never>, 'path' | 'legacySse'>): void {
  const { path: streamPath, messagesPath } = legacySse ?? {};
  const paths = { path, 'legacySse.path': streamPath, 'legacySse.messagesPath': messagesPath };
  for (const [option, given = ''] of Object.entries(paths)) {
    const sent = sentPath(given);
    if (sent !== given) throw invalid(option, `is "${given}", but clients send "${sent}". Write "${sent}"`);
  }
}

function requireList(option: string, values: readonly string[]): readonly string[] {
  if (Array.isArray(values) && values.every((value) => typeof value === 'string')) return values;
  throw invalid(option, `is ${inspect(values)}, but must be an array of strings`);
}

function requireHeaderNames(names: readonly string[]): readonly string[] {
  const wrong = requireList('credentialHeaders', names).find((name) => !isHeaderName(name));
  if (wrong === undefined) return names;
  throw invalid('credentialHeaders', `contains ${inspect(wrong)}, but must list header names, such as 'x-my-token'`);
}

/**
 * Checks an option that is true or false.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function requireFlag(option: string, value: boolean): void {
  if (typeof value !== 'boolean') throw invalid(option, `is ${inspect(value)}, but must be true or false`);
}

/** Checks an option that is a whole number from 1 to `max`. */
function requireCount(option: string, value: number, max: number): number {
  if (Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw invalid(option, `is ${value}, but must be a whole number from 1 to ${max}`);
}

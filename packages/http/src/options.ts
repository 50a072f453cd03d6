import { inspect } from 'node:util';

import type { Principal } from '@decorum/core';
import { type OptionTypes, requireKnown, startupError } from '@decorum/core/transport';

import { type Authenticate, checkedPrincipal } from './authenticate.js';
import { credentialHeaders, isHeaderName } from './credentials.js';
import { Guard } from './guard.js';
import { type EventStore, MemoryEventStore } from './event-store.js';
import type { SessionStore } from './session-store.js';

/** Where an endpoint is unless it is told otherwise. */
export const DEFAULT_PATH = '/mcp';

/** Where the two endpoints of HTTP+SSE are. */
export interface LegacyPaths {
  /** Of the stream. By default `/sse`. */
  readonly path?: string;
  /** Of the messages to the server. By default `/messages`. */
  readonly messagesPath?: string;
}

/** Options of an MCP endpoint. `HostRequest` is the request of the web framework. */
export interface EndpointOptions<HostRequest> {
  /** Where the endpoint is. By default `/mcp`; the node and fetch handlers serve every path by default. */
  readonly path?: string;
  /**
   * Values of `Host` that are served beside `localhost`, `127.0.0.1` and `[::1]` with the listening port:
   * `mcp.example.com` with any port, `mcp.example.com:8443` with that one.
   */
  readonly allowedHosts?: readonly string[];
  /** Origins of web pages that may call, such as `https://app.example.com`, beside those of this machine and port. */
  readonly allowedOrigins?: readonly string[];
  /**
   * Who is calling, as an earlier hook of the application has established it. Sessions then belong to who began them.
   * By default nobody is known, and whoever knows the id of a session can use it.
   */
  readonly principal?: (request: HostRequest) => Principal | undefined;
  /**
   * Verifies the credentials of every request before its body is read: the full form of `principal`, beside which it
   * cannot be given. Answers with the principal, with a refusal, or with undefined for nobody. An error is a bug, and
   * masked.
   */
  readonly authenticate?: Authenticate<HostRequest>;
  /**
   * Names of headers that hold credentials, in any case. Handlers don't find them in `ctx.transport.headers`, from which
   * `authorization`, `cookie`, `x-api-key` and the like are left out anyway.
   */
  readonly credentialHeaders?: readonly string[];
  /** Bytes of a request's body. By default 4 MiB. */
  readonly bodyLimit?: number;
  /** Milliseconds within which the body of a request must have come. By default 20 seconds; up to a quarter more passes. */
  readonly bodyTimeoutMs?: number;
  /** Sessions at the same time. By default 10,000. */
  readonly maxSessions?: number;
  /** Milliseconds after which a session without a request under way or an open stream ends. By default 30 minutes. */
  readonly sessionIdleMs?: number;
  /** Streams of one session at the same time, those of its requests not counted. By default 8. */
  readonly maxStreams?: number;
  /**
   * Bytes that may wait for a slow reader before progress and log messages to it are dropped. Changes of lists and
   * resources may take as much again; the same one never waits twice. A session of HTTP+SSE, whose answers are all on one
   * stream, ends when 16 times as much waits. By default 1 MiB.
   */
  readonly maxBufferedBytes?: number;
  /**
   * Milliseconds between comments on quiet streams; idle sessions are looked for as often. A call that has sent nothing
   * for as long, at most twice as long, is answered with a stream. By default 15 seconds.
   */
  readonly keepAliveMs?: number;
  /** Milliseconds after which a client comes back to a stream that `ctx.closeStream()` ended. By default 1 second. */
  readonly retryMs?: number;
  /** Milliseconds that requests under way get when the application closes. By default 5 seconds. */
  readonly closeDeadlineMs?: number;
  /**
   * Keeps the events of sessions for clients that lose their connection. By default in memory; `false` keeps nothing,
   * so that streams cannot be resumed.
   */
  readonly events?: EventStore | false;
  /**
   * Shares sessions with other processes: each has its record kept there. By default they live in the memory of this
   * process.
   */
  readonly sessionStore?: SessionStore;
  /**
   * `false` keeps no sessions: each request of a session revision stands alone, so that any of several processes can
   * serve it. There are no streams beside those of requests then, nothing can be subscribed to or logged to clients, and
   * they cannot be asked anything. By default `true`. Stateless revisions are the same either way.
   */
  readonly sessions?: boolean;
  /** Serves the HTTP+SSE transport too, which Streamable HTTP replaces, for clients that know no other. By default not. */
  readonly legacySse?: boolean | LegacyPaths;
}

/** Options with their defaults filled in. */
export interface ResolvedOptions<HostRequest> extends Required<
  Omit<EndpointOptions<HostRequest>, 'principal' | 'authenticate' | 'legacySse' | 'sessionStore' | 'credentialHeaders'>
> {
  readonly principal: EndpointOptions<HostRequest>['principal'];
  readonly authenticate: EndpointOptions<HostRequest>['authenticate'];
  readonly sessionStore: SessionStore | undefined;
  /** Names of the headers that handlers don't see, in lower case. */
  readonly credentials: ReadonlySet<string>;
  /** Made of `allowedHosts` and `allowedOrigins`. */
  readonly guard: Guard;
  readonly legacySse: Required<LegacyPaths> | undefined;
}

/** The longest that a timer of Node.js takes. */
export const MAX_TIMER_MS = 2_147_483_647;

/** The options that are whole numbers: the default and the largest value of each. */
const COUNTS = {
  bodyLimit: [4_194_304, Number.MAX_SAFE_INTEGER],
  bodyTimeoutMs: [20_000, MAX_TIMER_MS],
  maxSessions: [10_000, 10_000_000],
  sessionIdleMs: [1_800_000, Number.MAX_SAFE_INTEGER],
  maxStreams: [8, 1000],
  maxBufferedBytes: [1_048_576, Number.MAX_SAFE_INTEGER],
  keepAliveMs: [15_000, MAX_TIMER_MS],
  retryMs: [1000, MAX_TIMER_MS],
  closeDeadlineMs: [5000, MAX_TIMER_MS],
} as const;

/** The names of the options: an option without a name here does not compile. */
const OPTION_NAMES: Readonly<Record<keyof EndpointOptions<never>, true>> = {
  path: true,
  allowedHosts: true,
  allowedOrigins: true,
  principal: true,
  authenticate: true,
  bodyLimit: true,
  bodyTimeoutMs: true,
  maxSessions: true,
  sessionIdleMs: true,
  maxStreams: true,
  maxBufferedBytes: true,
  keepAliveMs: true,
  retryMs: true,
  closeDeadlineMs: true,
  events: true,
  sessionStore: true,
  sessions: true,
  legacySse: true,
  credentialHeaders: true,
};

/**
 * Refuses options that an endpoint does not have.
 * @param others the names of options that are not the endpoint's
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function checkOptionNames(
  where: string,
  options: object,
  others: OptionTypes<Record<string, unknown>> = {},
): void {
  requireKnown(where, options, { ...OPTION_NAMES, ...others });
}

/**
 * Fills in the defaults.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function resolveOptions<HostRequest>(options: EndpointOptions<HostRequest>): ResolvedOptions<HostRequest> {
  const { sessions = true, path = DEFAULT_PATH, principal, authenticate, sessionStore } = options;
  const legacySse = legacyPaths(options.legacySse, path);
  requireFlag('sessions', sessions);
  if (legacySse && !sessions) throw invalid('legacySse', NEEDS_SESSIONS);
  if (principal !== undefined && typeof principal !== 'function') {
    throw invalid('principal', 'is not a function that says who is calling');
  }
  if (authenticate !== undefined && typeof authenticate !== 'function') {
    throw invalid('authenticate', 'is not a function that says who is calling');
  }
  if (authenticate && principal) throw invalid('authenticate', 'cannot be given with `principal`. Pass one of them');
  if (sessionStore && !sessions) throw invalid('sessionStore', 'needs sessions. Take `sessions: false` away');
  const counts = Object.entries(COUNTS).map(([name, [byDefault, max]]) => {
    const value = options[name as keyof typeof COUNTS] ?? byDefault;
    return [name, requireCount(name, value, max)] as const;
  });
  const { allowedHosts: hosts = [], allowedOrigins: origins = [] } = options;
  const allowedHosts = requireList('allowedHosts', hosts);
  const allowedOrigins = requireList('allowedOrigins', origins);
  return {
    path: requirePath('path', path),
    allowedHosts,
    allowedOrigins,
    guard: new Guard({ allowedHosts, allowedOrigins }),
    events: requireEventStore(options.events ?? new MemoryEventStore()),
    sessionStore: requireSessionStore(sessionStore),
    credentials: credentialHeaders(requireHeaderNames(options.credentialHeaders ?? [])),
    principal: principal && checkedPrincipal(principal),
    authenticate,
    sessions,
    legacySse,
    ...(Object.fromEntries(counts) as Record<keyof typeof COUNTS, number>),
  };
}

const NEEDS_SESSIONS = 'needs sessions, because its answers come on a stream of their own';

function legacyPaths(option: EndpointOptions<never>['legacySse'], mcpPath: string): Required<LegacyPaths> | undefined {
  if (option === undefined || option === false) return undefined;
  if (option !== true && (typeof option !== 'object' || option === null)) {
    throw invalid('legacySse', 'is neither true nor false nor an object with `path` and `messagesPath`');
  }
  if (option !== true) requireKnown('legacySse', option, { path: true, messagesPath: true });
  const { path = '/sse', messagesPath = '/messages' } = option === true ? {} : option;
  requirePath('legacySse.path', path);
  requirePath('legacySse.messagesPath', messagesPath);
  if (path === mcpPath) throw invalid('legacySse.path', `is "${path}", where Streamable HTTP is. Give it another path`);
  return { path, messagesPath };
}

const invalid = (option: string, problem: string) =>
  startupError('DECORUM_INVALID_OPTION', '@decorum/http', option, problem);

/** An empty path is that of the prefix that the plugin is registered with. */
function requirePath(option: string, path: string): string {
  if (typeof path === 'string' && /^(?:\/[^?#\s]*)?$/.test(path)) return path;
  throw invalid(
    option,
    `is ${inspect(path)}, but must be a path that begins with "/", without "?" and "#". Write "/mcp"`,
  );
}

function requireList(option: string, values: readonly string[]): readonly string[] {
  if (Array.isArray(values) && values.every((value) => typeof value === 'string')) return values;
  throw invalid(option, `is ${inspect(values)}, but must be an array of strings`);
}

function requireHeaderNames(names: readonly string[]): readonly string[] {
  const wrong = requireList('credentialHeaders', names).find((name) => !isHeaderName(name));
  if (wrong === undefined) return names;
  throw invalid('credentialHeaders', `holds ${inspect(wrong)}, but must list names of headers, such as 'x-my-token'`);
}

function requireEventStore(events: EventStore | false): EventStore | false {
  const { append, read } = (events || {}) as Partial<EventStore>;
  if (events === false || (typeof append === 'function' && typeof read === 'function')) return events;
  throw invalid('events', 'is neither false nor a store with the methods `append` and `read`');
}

function requireSessionStore(store: SessionStore | undefined): SessionStore | undefined {
  const { get, set, touch, delete: remove } = (store ?? {}) as Partial<SessionStore>;
  if (store === undefined || [get, set, touch, remove].every((method) => typeof method === 'function')) return store;
  throw invalid('sessionStore', 'is not a store with the methods `get`, `set`, `touch` and `delete`');
}

/**
 * Looks at an option that is true or false.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function requireFlag(option: string, value: boolean): void {
  if (typeof value !== 'boolean') throw invalid(option, `is ${inspect(value)}, but must be true or false`);
}

/**
 * Looks at an option that is a whole number from 1.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function requireCount(option: string, value: number, max: number): number {
  if (Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw invalid(option, `is ${value}, but must be a whole number from 1 to ${max}`);
}

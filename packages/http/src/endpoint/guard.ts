import { describeRejected, LOOPBACK, requireAllowed } from './allowed.js';
import type { AnswerHeaders, Headers } from './http-context.js';
import { HttpError } from './http-error.js';

/** The hosts and origins that the guard accepts in addition to loopback. */
export interface GuardOptions {
  /** `Host` values. A value without a port matches any port. */
  readonly allowedHosts: readonly string[];
  /** `Origin` values, exactly as browsers send them. */
  readonly allowedOrigins: readonly string[];
}

const ALLOWED_HEADER =
  /^(content-type|accept|authorization|last-event-id|idempotency-key|decorum-tools|mcp-(session-id|protocol-version|method|name|param-[!#$%&'*+.^_`|~0-9a-z-]+))$/i;

/** Cap on logged values, so that a client can't flood the log by sending different values. */
const MAX_LOGGED = 20;

/**
 * Rejects requests whose `Host` or `Origin` isn't allowed. This prevents DNS rebinding, because web pages can't forge
 * either header. `X-Forwarded-*` headers are ignored, because anyone can send them.
 */
export class Guard {
  private readonly hosts: ReadonlySet<string>;
  private readonly origins: ReadonlySet<string>;
  // fast path: clients keep sending the same host
  private servedHost: string | undefined;
  private servedPort: number | undefined;
  private readonly logged = new Set<string>();
  /** Logs each rejected value once, up to a limit. */
  warn: ((message: string) => void) | undefined;

  /** @throws {DecorumError} `DECORUM_INVALID_OPTION` */
  constructor({ allowedHosts, allowedOrigins }: GuardOptions) {
    this.hosts = requireAllowed('allowedHosts', allowedHosts);
    this.origins = requireAllowed('allowedOrigins', allowedOrigins);
  }

  /**
   * Checks a request before its body is read.
   * @param port local port of the connection; undefined if there is none
   * @throws {HttpError} 403
   */
  check(headers: Headers, port: number | undefined): void {
    const { host, origin } = headers;
    if (host === undefined || host !== this.servedHost || port !== this.servedPort) this.checkHost(headers, port);
    if (origin !== undefined) this.checkOrigin(headers, port);
  }

  /**
   * Checks only the origin of a request.
   * @throws {HttpError} 403
   */
  checkOrigin({ origin }: Headers, port: number | undefined): void {
    if (origin === undefined || this.allowsOrigin(origin.toLowerCase(), port)) return;
    throw this.reject('Origin', origin);
  }

  /**
   * Checks only the host of a request.
   * @throws {HttpError} 403
   */
  checkHost({ host }: Headers, port: number | undefined): void {
    if (!this.allowsHostOf({ host }, port)) throw this.reject('Host', host);
    this.servedHost = host;
    this.servedPort = port;
  }

  /** Whether the host of a request is allowed. */
  allowsHostOf({ host }: Headers, port: number | undefined): boolean {
    return host !== undefined && this.allowsHost(host.toLowerCase(), port);
  }

  private reject(header: 'Host' | 'Origin', value = ''): HttpError {
    if (value !== '' && this.logged.size < MAX_LOGGED) this.logOnce(describeRejected(header, value));
    // the unread body makes the connection unusable for further requests
    return new HttpError(403, `This ${header} is not allowed.`, { connection: 'close' });
  }

  private logOnce(line: string): void {
    const { logged } = this;
    if (logged.has(line)) return;
    logged.add(line);
    this.warn?.(logged.size < MAX_LOGGED ? line : `${line} Further rejected values are not logged.`);
  }

  private allowsHost(host: string, port: number | undefined): boolean {
    const colon = host.endsWith(']') ? -1 : host.lastIndexOf(':');
    const name = colon === -1 ? host : host.slice(0, colon);
    // without a port, the request came from this process or through a Unix socket, which web pages can't reach
    if (LOOPBACK.has(name)) {
      if (port === undefined || (colon === -1 ? port === 80 : host.slice(colon + 1) === String(port))) return true;
    }
    return this.hosts.has(host) || this.hosts.has(name);
  }

  private allowsOrigin(origin: string, port: number | undefined): boolean {
    if (this.origins.has(origin)) return true;
    const usual = origin.startsWith('http://') ? 80 : origin.startsWith('https://') ? 443 : undefined;
    if (usual === undefined) return false;
    const host = origin.slice(origin.indexOf('//') + 2);
    return LOOPBACK.has(host) ? port === usual : isLoopbackOf(host, port);
  }
}

function isLoopbackOf(host: string, port: number | undefined): boolean {
  const suffix = `:${port}`;
  return host.endsWith(suffix) && LOOPBACK.has(host.slice(0, -suffix.length));
}

/**
 * CORS headers of a response to a page of an allowed origin (https://fetch.spec.whatwg.org/#http-cors-protocol).
 * @param vary the `Vary` header that the response already has
 */
export function corsHeaders(origin: string, vary?: string): AnswerHeaders {
  return {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': 'Mcp-Session-Id, WWW-Authenticate',
    vary: vary === undefined ? 'Origin' : `${vary}, Origin`,
  };
}

/**
 * CORS headers of the response to a preflight request for the headers in `requested`.
 * @param credentials names of further headers that callers may send
 */
export function preflightHeaders(requested: string | undefined, credentials: readonly string[] = []): AnswerHeaders {
  const allowed = new Set(credentials.map((name) => name.toLowerCase()));
  const names = requested?.split(',').map((name) => name.trim()) ?? [];
  return {
    'access-control-allow-methods': 'GET, POST, DELETE, OPTIONS',
    'access-control-allow-headers': names
      .filter((name) => ALLOWED_HEADER.test(name) || allowed.has(name.toLowerCase()))
      .join(', '),
    'access-control-max-age': '7200',
  };
}

import { describeRefused, LOOPBACK, ORIGIN, requireAllowed } from './allowed.js';
import type { AnswerHeaders, Headers } from './http-context.js';
import { HttpError } from './http-error.js';

/** Whom the guard lets through. */
export interface GuardOptions {
  /** Values of `Host` beside the loopback names: with a port only that, without one any. */
  readonly allowedHosts: readonly string[];
  /** Values of `Origin` beside the loopback origins, exactly as browsers send them. */
  readonly allowedOrigins: readonly string[];
}

const ALLOWED_HEADER =
  /^(content-type|accept|authorization|last-event-id|mcp-(session-id|protocol-version|method|name|param-[!#$%&'*+.^_`|~0-9a-z-]+))$/i;

/** Whether an address to listen on can be reached only from the same machine. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.has(host) || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

/** Values that are logged: whoever sends others on purpose must not fill the log. */
const MAX_LOGGED = 20;

/**
 * Refuses requests that were meant for another host, or come from a page of another origin. Browsers send both headers
 * truthfully, so that this ends DNS rebinding. Forwarded headers, which anyone can send, are not looked at.
 */
export class Guard {
  private readonly hosts: ReadonlySet<string>;
  private readonly origins: ReadonlySet<string>;
  // clients keep to one host, which need not be looked at again
  private servedHost: string | undefined;
  private servedPort: number | undefined;
  private readonly logged = new Set<string>();
  /** Takes a line for the log, once for each value that was refused, up to a limit. */
  warn: ((message: string) => void) | undefined;

  /** @throws {DecorumError} `DECORUM_INVALID_OPTION` */
  constructor({ allowedHosts, allowedOrigins }: GuardOptions) {
    this.hosts = requireAllowed('allowedHosts', allowedHosts);
    this.origins = requireAllowed('allowedOrigins', allowedOrigins);
  }

  /**
   * Looks at a request before its body is read.
   * @param port the one that the request came in on; undefined where there is none
   * @throws {HttpError} 403
   */
  check({ host, origin }: Headers, port: number | undefined): void {
    if (host === undefined || host !== this.servedHost || port !== this.servedPort) {
      if (host === undefined || !this.allowsHost(host.toLowerCase(), port)) throw this.refuse('Host', host);
      this.servedHost = host;
      this.servedPort = port;
    }
    if (origin !== undefined && !this.allowsOrigin(origin.toLowerCase(), port)) {
      throw this.refuse('Origin', origin);
    }
  }

  private refuse(header: 'Host' | 'Origin', value = ''): HttpError {
    if (value !== '' && this.logged.size < MAX_LOGGED) this.logOnce(describeRefused(header, value));
    // the body was not read, so that nothing can follow on this connection
    return new HttpError(403, `This ${header} is not allowed here.`, { connection: 'close' });
  }

  private logOnce(line: string): void {
    const { logged } = this;
    if (logged.has(line)) return;
    logged.add(line);
    this.warn?.(logged.size < MAX_LOGGED ? line : `${line} Further refused values are not logged.`);
  }

  private allowsHost(host: string, port: number | undefined): boolean {
    const colon = host.endsWith(']') ? -1 : host.lastIndexOf(':');
    const name = colon === -1 ? host : host.slice(0, colon);
    // without a port it came from this process or through a local socket, where no web page can be
    if (LOOPBACK.has(name)) {
      if (port === undefined || (colon === -1 ? port === 80 : host.slice(colon + 1) === String(port))) return true;
    }
    return this.hosts.size > 0 && (this.hosts.has(host) || this.hosts.has(name));
  }

  private allowsOrigin(origin: string, port: number | undefined): boolean {
    if (this.origins.has(origin)) return true;
    const [, scheme, host] = ORIGIN.exec(origin) ?? [];
    if (host === undefined || (scheme !== 'http' && scheme !== 'https')) return false;
    return LOOPBACK.has(host) ? port === (scheme === 'http' ? 80 : 443) : isLoopbackOf(host, port);
  }
}

function isLoopbackOf(host: string, port: number | undefined): boolean {
  const suffix = `:${port}`;
  return host.endsWith(suffix) && LOOPBACK.has(host.slice(0, -suffix.length));
}

/**
 * CORS headers of an answer to a page of an allowed origin (https://fetch.spec.whatwg.org/#http-cors-protocol).
 * @param vary the value of `Vary` that the answer has already
 */
export function corsHeaders(origin: string, vary?: string): AnswerHeaders {
  return {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': 'Mcp-Session-Id, WWW-Authenticate',
    vary: vary === undefined ? 'Origin' : `${vary}, Origin`,
  };
}

/** CORS headers of the answer to a preflight, which asks whether a request with certain headers may follow. */
export function preflightHeaders(requested: string | undefined): AnswerHeaders {
  const names = (requested ?? '').split(',').map((name) => name.trim());
  return {
    'access-control-allow-methods': 'GET, POST, DELETE, OPTIONS',
    'access-control-allow-headers': names.filter((name) => ALLOWED_HEADER.test(name)).join(', '),
    'access-control-max-age': '7200',
  };
}

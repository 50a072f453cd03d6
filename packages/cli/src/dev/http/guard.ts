import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);
const EVERY_ADDRESS = new Set(['0.0.0.0', '::']);
/** Cap on the accepted values of each header. */
const MAX_ACCEPTED = 100;

const nameOf = (host: string): string => host.replace(/:\d*$/, '');

/**
 * Decides which requests the relay may answer by itself. While a program serves, the program decides. The relay's own
 * answers tell of errors and files, and a web page could read them by DNS rebinding, but it can't forge `Host` or
 * `Origin`.
 */
export class Guard {
  private readonly hosts: Set<string>;
  private readonly acceptedHosts = new Set<string>();
  private readonly acceptedOrigins = new Set<string>();
  private port = 0;

  /** @param allowed host names that the user allows, with or without a port */
  constructor(allowed: readonly string[]) {
    this.hosts = new Set(allowed.map((host) => host.toLowerCase()));
  }

  /** Allows the address that the relay listens on. */
  listens(port: number, host: string): void {
    this.port = port;
    if (!EVERY_ADDRESS.has(host)) this.hosts.add(isIP(host) === 6 ? `[${host}]` : host.toLowerCase());
  }

  /** Allows the headers of a request that a program has answered as MCP: it has its own guard. */
  accept({ host, origin }: IncomingHttpHeaders): void {
    if (host !== undefined && this.acceptedHosts.size < MAX_ACCEPTED) this.acceptedHosts.add(host.toLowerCase());
    if (origin !== undefined && this.acceptedOrigins.size < MAX_ACCEPTED)
      this.acceptedOrigins.add(origin.toLowerCase());
  }

  /** Whether the relay may answer a request with these headers. */
  allows({ host, origin }: IncomingHttpHeaders): boolean {
    const own = host?.toLowerCase();
    return (
      own !== undefined &&
      this.allowsHost(own) &&
      (origin === undefined || this.allowsOrigin(origin.toLowerCase(), own))
    );
  }

  private allowsHost(host: string): boolean {
    const name = nameOf(host);
    return LOOPBACK.has(name) || this.hosts.has(host) || this.hosts.has(name) || this.acceptedHosts.has(host);
  }

  private allowsOrigin(origin: string, host: string): boolean {
    if (this.acceptedOrigins.has(origin)) return true;
    const [scheme, own] = origin.split('://');
    if (own === undefined || (scheme !== 'http' && scheme !== 'https')) return false;
    return own === host || (LOOPBACK.has(nameOf(own)) && own === `${nameOf(own)}:${this.port}`);
  }
}

import { type Host, type HostPort, hostOf, startupError } from '@decorum/core/transport';

import type { Endpoint } from './endpoint.js';
import { type Opened, openEndpoint } from './open-endpoint.js';
import type { ResolvedOptions } from './options.js';

/**
 * Rejects anything but a server. If a program passes the function itself to a framework, it is called with a request.
 * @param where the function that creates the handler
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function requireServer(server: Host, where: string): void {
  const isRequest = typeof server === 'object' && server !== null && 'headers' in server && 'method' in server;
  if (!isRequest) return void hostOf(server, where);
  const problem = `is a request. Call \`${where}\` once with the server, and pass on its result: \`${where}(server)\``;
  throw startupError('DECORUM_INVALID_OPTION', where, 'server', problem);
}

/** How a handler tells the application of what no client may see, and what plugins serve. */
export function portOf(server: Host): Pick<HostPort, 'report' | 'warn' | 'routes'> {
  const host = hostOf(server);
  const { routes } = host;
  return { report: (error) => host.report(error), warn: (message) => host.warn(message), routes };
}

/** The endpoint of a handler. The handler exists at once; the endpoint follows when its server has started. */
export class LateEndpoint<HostRequest> {
  /** The endpoint, once its server has started. */
  endpoint: Endpoint<HostRequest> | undefined;
  /** Resolves when the server has started. */
  readonly ready: Promise<void>;
  private opened: Opened<HostRequest> | undefined;
  private closed: Promise<void> | undefined;

  constructor(
    server: Host,
    private readonly settings: ResolvedOptions<HostRequest>,
  ) {
    const host = hostOf(server);
    this.ready = this.start(server);
    // programs that don't await `ready` see the error in the log, and their clients get a 500
    this.ready.catch((error: unknown) => host.report(error));
  }

  /** Closes the endpoint, but not its server. */
  close(): Promise<void> {
    return (this.closed ??= this.end());
  }

  private async start(server: Host): Promise<void> {
    this.opened = await openEndpoint(server, this.settings);
    this.endpoint = this.opened.endpoint;
  }

  private async end(): Promise<void> {
    await this.ready.catch(() => {});
    if (this.opened === undefined) return;
    const { endpoint, detach } = this.opened;
    const began = performance.now();
    detach();
    await endpoint.close();
    await endpoint.delivered(Math.max(0, this.settings.closeDeadlineMs - (performance.now() - began)));
  }
}

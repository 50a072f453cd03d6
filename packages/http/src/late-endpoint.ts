import { type Host, hostOf, startupError } from '@decorum/core/transport';

import { type Endpoint, type Opened, openEndpoint } from './endpoint.js';
import type { ResolvedOptions } from './options.js';

/**
 * Refuses anything but a server. A framework that was given the function itself calls it with a request.
 * @param where the function that makes the handler
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function requireServer(server: Host, where: string): void {
  const isRequest = typeof server === 'object' && server !== null && 'headers' in server && 'method' in server;
  if (!isRequest) return void hostOf(server, where);
  const problem = `is a request. Call \`${where}\` once with the server, and pass on what it returns: \`${where}(server)\``;
  throw startupError('DECORUM_INVALID_OPTION', where, 'server', problem);
}

/** An endpoint of a handler, which is there at once, while its server still starts. */
export class LateEndpoint<HostRequest> {
  /** The endpoint, once its server has started. */
  endpoint: Endpoint<HostRequest> | undefined;
  /** Resolves when the endpoint is there. */
  readonly ready: Promise<void>;
  private opened: Opened<HostRequest> | undefined;
  private closed: Promise<void> | undefined;

  constructor(
    server: Host,
    private readonly settings: ResolvedOptions<HostRequest>,
  ) {
    const host = hostOf(server);
    this.ready = this.start(server);
    // whoever doesn't wait for it learns it from the log, and from the answers
    this.ready.catch((error: unknown) => host.report(error));
  }

  /** Ends the endpoint, but not its server. */
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

import { clearTimeout, setTimeout } from 'node:timers';

import { DecorumError, type Host } from '@decorum/core';
import { type HostPort, hostOf, startupError } from '@decorum/core/transport';

import { errorAnswer } from './answer.js';
import type { Endpoint } from './endpoint.js';
import type { Responder } from './http-context.js';
import { closing } from './http-error.js';
import { type Opened, openEndpoint } from './open-endpoint.js';
import type { ResolvedOptions } from './options.js';

/**
 * Throws unless `server` is a server. A common mistake is to pass `nodeHandler` itself to a framework instead of
 * `nodeHandler(server)`; the framework then calls it with a request.
 * @param where name of the function that creates the handler
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function requireServer(server: Host, where: string): void {
  const isRequest = typeof server === 'object' && server !== null && 'headers' in server && 'method' in server;
  if (!isRequest) return void hostOf(server, where);
  const problem = `is a request. Call \`${where}\` once with the server, and pass on its result: \`${where}(server)\``;
  throw startupError('DECORUM_INVALID_OPTION', where, 'server', problem);
}

/** Lets a handler report errors and warnings to the application, and find the routes of plugins. */
export function portOf(server: Host): Pick<HostPort, 'report' | 'warn' | 'routes'> {
  const host = hostOf(server);
  const { routes } = host;
  return { report: (error) => host.report(error), warn: (message) => host.warn(message), routes };
}

/** Answers a request that waited for the server to start, after the start has failed. */
export const refusing = (context: Pick<Responder, 'answer' | 'drop'>) => (error: unknown) => {
  const isClosed = error instanceof DecorumError && error.code === 'DECORUM_SERVER_CLOSED';
  const { status, body, headers } = errorAnswer(isClosed ? closing() : undefined, () => {});
  try {
    context.answer(status, body, headers);
  } catch {
    // something else has answered meanwhile, such as the application's timeout
    context.drop();
  }
};

/** The endpoint of a handler. The handler exists immediately; the endpoint is opened when its server has started. */
export class LateEndpoint<HostRequest> {
  /** The endpoint, once its server has started. */
  endpoint: Endpoint<HostRequest> | undefined;
  /** Resolves when the server has started. */
  readonly ready: Promise<void>;
  private opened: Opened<HostRequest> | undefined;
  private closed: Promise<void> | undefined;
  /** Fails a start that is still in progress. */
  private giveUp!: () => void;
  private hasGivenUp = false;

  constructor(
    server: Host,
    private readonly settings: ResolvedOptions<HostRequest>,
  ) {
    const host = hostOf(server);
    this.ready = new Promise((resolve, reject) => {
      this.giveUp = () => {
        this.hasGivenUp = true;
        reject(startupError('DECORUM_SERVER_CLOSED'));
      };
      this.start(server).then(resolve, reject);
    });
    // programs that don't await `ready` see the error in the log, and their clients get a 500
    this.ready.catch((error: unknown) => host.report(error));
  }

  /** Closes the endpoint, but not its server. */
  close(): Promise<void> {
    return (this.closed ??= this.end());
  }

  private async start(server: Host): Promise<void> {
    const opened = await openEndpoint(server, this.settings);
    if (this.hasGivenUp) {
      opened.detach();
      return await opened.endpoint.close(0);
    }
    this.opened = opened;
    this.endpoint = opened.endpoint;
  }

  /** Gives up on a start that takes longer than `closeDeadlineMs`, because its hooks may never end. */
  private async end(): Promise<void> {
    const { closeDeadlineMs } = this.settings;
    const began = performance.now();
    const timer = setTimeout(this.giveUp, closeDeadlineMs);
    await this.ready.catch(() => {});
    clearTimeout(timer);
    if (this.opened === undefined) return;
    const { endpoint, detach } = this.opened;
    const left = () => Math.max(0, closeDeadlineMs - (performance.now() - began));
    detach();
    await endpoint.close(left());
    await endpoint.delivered(left());
  }
}

import { clearTimeout, setTimeout } from 'node:timers';

import { DecorumError } from '@decorum/core';
import type { Host } from '@decorum/core/transport';
import type { OwnedRoute } from '@decorum/core/internal';
import { type HostPort, hostOf } from '@decorum/core/transport';

import { HandlerCards } from '../card/handler-cards.js';
import { startupError } from '../errors.js';
import { errorAnswer } from './answer.js';
import type { Responder } from './http-context.js';
import { closing } from './http-error.js';
import { type Opened, openEndpoint } from './open-endpoint.js';
import {
  checkOptionNames,
  type EndpointOptions,
  type ResolvedOptions,
  requireSentPaths,
  resolveOptions,
} from './options.js';
import type { Pipeline, PipelineContext } from './pipeline.js';
import { requireFreeRoutes } from './routes.js';

/** Answers a request that waited for the server to start, after the start has failed. */
const refusing = (context: Pick<Responder, 'answer' | 'drop'>) => (error: unknown) => {
  const isClosed = error instanceof DecorumError && error.code === 'DECORUM_SERVER_CLOSED';
  const { status, body, headers } = errorAnswer(isClosed ? closing() : undefined, () => {});
  try {
    context.answer(status, body, headers);
  } catch {
    // something else has answered meanwhile, such as the application's timeout
    context.drop();
  }
};

/**
 * Throws unless `server` is a server. A common mistake is to pass `nodeHandler` itself to a framework instead of
 * `nodeHandler(server)`; the framework then calls it with a request.
 * @param where name of the function that creates the handler
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function requireServer(server: Host, where: string): void {
  const isObject = typeof server === 'object' && server !== null;
  const isRequest = isObject && 'headers' in server && ('method' in server || 'requestContext' in server);
  if (!isRequest) return void hostOf(server, where);
  const problem = `is a request. Call \`${where}\` once with the server, and pass on its result: \`${where}(server)\``;
  throw startupError('DECORUM_INVALID_OPTION', where, 'server', problem);
}

const NEEDS_NODE =
  'has a `mount`, which needs the requests of Node.js. Serve with `listen`, `mcp` in Fastify, or `nodeHandler`';

/** How a function creates a handler. */
interface Creation {
  /** Its name. */
  readonly where: 'nodeHandler' | 'fetchHandler' | 'lambdaHandler' | 'streamingLambdaHandler';
  /** Whether callers may come with each request. */
  readonly callersByRequest?: boolean;
  /** Whether every response must end soon. */
  readonly isBrief?: boolean;
}

/** The endpoint of a handler. The handler exists immediately; the endpoint is opened when its server has started. */
export class LateEndpoint<HostRequest> {
  /** The pipeline of the endpoint, once its server has started. */
  pipeline: Pipeline<HostRequest> | undefined;
  /** Resolves when the server has started. */
  readonly ready: Promise<void>;
  readonly settings: ResolvedOptions<HostRequest>;
  /** The Server Card, if there is one. */
  readonly cards: HandlerCards | undefined;
  private readonly host: HostPort;
  private opened: Opened<HostRequest> | undefined;
  private closed: Promise<void> | undefined;
  /** Fails a start that is still in progress. */
  private giveUp!: () => void;
  private hasGivenUp = false;

  /** @throws {DecorumError} `DECORUM_INVALID_OPTION` or `DECORUM_DUPLICATE_ROUTE` */
  constructor(server: Host, options: EndpointOptions<HostRequest>, { where, ...more }: Creation) {
    requireServer(server, where);
    checkOptionNames(where, options);
    const { path } = options;
    this.settings = { ...resolveOptions(options), ...more, servedPath: path };
    requireSentPaths(this.settings);
    if (where !== 'nodeHandler' && this.settings.auth?.mount !== undefined)
      throw startupError('DECORUM_INVALID_OPTION', where, 'auth', NEEDS_NODE);
    this.host = hostOf(server);
    requireFreeRoutes(this.host, this.settings, path === undefined);
    this.cards = HandlerCards.of(this.settings, this.host);
    this.ready = new Promise((resolve, reject) => {
      this.giveUp = () => {
        this.hasGivenUp = true;
        reject(startupError('DECORUM_SERVER_CLOSED'));
      };
      this.start(server).then(resolve, reject);
    });
    // programs that don't await `ready` see the error in the log, and their clients get a 500
    this.ready.catch((error: unknown) => this.host.report(error));
  }

  /** Reports an error to the application. */
  readonly report = (error: unknown): void => this.host.report(error);

  /** Tells the application about a likely mistake. */
  warn(message: string): void {
    this.host.warn(message);
  }

  /** The plugin routes at the path of a URL; undefined if there are none. */
  routesAt(url: string): readonly OwnedRoute[] | undefined {
    const { routes } = this.host;
    if (routes.length === 0) return undefined;
    const [path] = url.split('?', 1);
    const found = routes.filter((route) => route.path === path);
    return found.length === 0 ? undefined : found;
  }

  /**
   * Whether the endpoint serves a URL. Compares the exact spelling, as Express does. Otherwise, another spelling could
   * bypass middleware mounted at the same path.
   * @param url path and query of the request
   * @param path path of the endpoint; undefined if it serves every path
   */
  serves(url: string, path = this.settings.servedPath): boolean {
    if (path === undefined) return true;
    const [found] = url.split('?', 1);
    if (found === path || (path === '' && found === '/')) return true;
    const { legacySse } = this.settings;
    return legacySse !== undefined && (found === legacySse.path || found === legacySse.messagesPath);
  }

  /** Serves a request once the server has started. */
  serve(context: PipelineContext<HostRequest>): void {
    if (this.pipeline !== undefined) return this.pipeline.run(context);
    this.ready.then(() => this.serve(context), refusing(context));
  }

  /** Cancels what runs for a request, because its host gives it no more time. */
  cancelOverdue(context: PipelineContext<HostRequest>): void {
    this.pipeline?.endpoint.cancelOverdue(context);
  }

  /** Closes the endpoint, but not its server. */
  close(): Promise<void> {
    return (this.closed ??= this.end());
  }

  private async start(server: Host): Promise<void> {
    const opened = await openEndpoint(server, this.settings);
    if (this.hasGivenUp) {
      opened.detach();
      await opened.pipeline.endpoint.close(0);
      return await opened.tellClosed();
    }
    this.opened = opened;
    this.pipeline = opened.pipeline;
  }

  /** Gives up on a start that takes longer than `closeDeadlineMs`, because its hooks may never end. */
  private async end(): Promise<void> {
    const { closeDeadlineMs } = this.settings;
    const began = performance.now();
    const timer = setTimeout(this.giveUp, closeDeadlineMs);
    await this.ready.catch(() => {});
    clearTimeout(timer);
    if (this.opened === undefined) return;
    const { pipeline, detach, tellClosed } = this.opened;
    detach();
    await pipeline.endpoint.drain(Math.max(0, closeDeadlineMs - (performance.now() - began)));
    await tellClosed();
  }
}

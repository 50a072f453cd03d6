import type { Host } from '@decorum/core';
import { excerpt } from '@decorum/core/transport';

import { internalError } from '../../endpoint/answer.js';
import { checkedPrincipal } from '../../auth/authenticate.js';
import { documentAt, serveDocument } from '../../auth/documents.js';
import { LateEndpoint, portOf, requireServer, refusing } from '../../endpoint/late-endpoint.js';
import { checkOptionNames, type EndpointOptions, requireSentPaths, resolveOptions } from '../../endpoint/options.js';
import { isServed, Pipeline } from '../../endpoint/pipeline.js';
import { HttpError, MaskedError, noEndpoint } from '../../endpoint/http-error.js';
import { requireFreeRoutes, routesAt, serveRoute } from '../../endpoint/routes.js';
import { type ConnectionInfo, FetchContext } from './context.js';

/** Options of the handler for web requests. */
export type FetchHandlerOptions = EndpointOptions<Request>;

/** Handles web requests, in Deno, Bun, Hono, Next.js and other hosts. */
export interface FetchHandler {
  /** Resolves with the response as soon as its headers are known. Rejects only if `request` isn't a web `Request`. */
  (request: Request, info?: ConnectionInfo): Promise<Response>;
  /** Resolves when the server has started. Earlier requests wait for it. */
  readonly ready: Promise<void>;
  /** Waits for requests in flight and answers new ones with 503. The server itself stays open for other transports. */
  close(): Promise<void>;
}

/**
 * Serves MCP over Streamable HTTP on any host with web `Request` and `Response`: `Deno.serve(fetchHandler(server))`.
 * `ready` rejects with `DECORUM_SERVER_CLOSED` or with the error that one of the server's hooks has thrown.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 * @example
 * ```ts
 * // app/mcp/route.ts of a Next.js application
 * import { fetchHandler } from '@decorum/http/fetch';
 *
 * const handler = fetchHandler(server, { allowedHosts: ['mcp.example.com'] });
 * export { handler as DELETE, handler as GET, handler as POST };
 * ```
 */
export function fetchHandler(server: Host, options: FetchHandlerOptions = {}): FetchHandler {
  requireServer(server, 'fetchHandler');
  checkOptionNames('fetchHandler', options);
  const settings = { ...resolveOptions(options), callersByRequest: true };
  requireSentPaths(settings);
  const { path } = options;
  const port = portOf(server);
  requireFreeRoutes(port, settings, path === undefined);
  const late = new LateEndpoint(server, { ...settings, servedPath: path });
  const { report, warn } = port;
  // a wrong `path` shows in the first request
  let mayWarn = path !== undefined;
  const serve = (context: FetchContext, request: Request): void => {
    const document = documentAt(settings.auth, context.url);
    if (document) return serveDocument(document, { head: context.head, responder: context, report });
    const routes = routesAt(port, context.url);
    if (!routes && !isServed(settings, path, context.url)) {
      if (mayWarn) warn(unserved(context.url, path));
      mayWarn = false;
      return context.answer(404, noEndpoint().body());
    }
    mayWarn = false;
    if (late.endpoint && routes) return serveRoute(routes, context, late.endpoint);
    if (late.endpoint) return new Pipeline(late.endpoint, context, request).run();
    late.ready.then(() => serve(context, request), refusing(context));
  };
  const identify = checkedPrincipal<ConnectionInfo>(({ principal }) => {
    if (principal === undefined || (settings.auth ?? settings.principal) === undefined) return principal;
    throw new TypeError(`\`principal\` of a request can't be combined with the options \`auth\` and \`principal\``);
  });
  const handle = (request: Request, info: ConnectionInfo = {}): Promise<Response> =>
    new Promise((resolve) => {
      requireRequest(request);
      const context = new FetchContext(request, info, resolve);
      try {
        context.principal = identify(info);
      } catch (error) {
        if (error instanceof HttpError) return context.answer(error.status, error.body(), error.headers);
        report(error instanceof MaskedError ? error.cause : error);
        return context.answer(500, internalError());
      }
      serve(context, request);
    });
  return Object.assign(handle, { ready: late.ready, close: () => late.close() });
}

const unserved = (url: string, path = '') =>
  `The first request, for "${excerpt(url)}", got 404, because fetchHandler has the path "${path}". If a router chooses the path, ` +
  'leave out `path`.';

/** Catches the request objects of frameworks, which are not web requests. */
function requireRequest(request: Partial<Request> | undefined): void {
  if (typeof request?.url === 'string' && typeof request.headers?.get === 'function') return;
  throw new TypeError('The handler of `fetchHandler` takes a web Request. In Hono, pass `c.req.raw`.');
}

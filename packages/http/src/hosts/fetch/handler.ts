import type { Host } from '@decorum/core/transport';

import { checkedPrincipal } from '../../auth/principal.js';
import { internalError } from '../../endpoint/answer.js';
import { HttpError, MaskedError } from '../../endpoint/http-error.js';
import { LateEndpoint } from '../../endpoint/late-endpoint.js';
import type { EndpointOptions } from '../../endpoint/options.js';
import { serving } from '../../endpoint/serving.js';
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
  const late = new LateEndpoint(server, options, { where: 'fetchHandler', callersByRequest: true });
  const { report, settings } = late;
  const serve = serving(late, 'fetchHandler');
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
      serve(context);
    });
  return Object.assign(handle, { ready: late.ready, close: () => late.close() });
}

/** Catches the request objects of frameworks, which are not web requests. */
function requireRequest(request: Partial<Request> | undefined): void {
  if (typeof request?.url === 'string' && typeof request.headers?.get === 'function') return;
  throw new TypeError('The handler of `fetchHandler` takes a web Request. In Hono, pass `c.req.raw`.');
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';

import type { Host } from '@decorum/core/transport';
import { excerpt } from '@decorum/core/internal';

import { documentAt, serveDocument } from '../../auth/documents.js';
import { mountAt, MountHosts } from '../../auth/mount.js';
import { noEndpoint } from '../../endpoint/http-error.js';
import { LateEndpoint } from '../../endpoint/late-endpoint.js';
import type { EndpointOptions } from '../../endpoint/options.js';
import { isFlooding } from './answers.js';
import { NodeContext } from './context.js';
import { type NodeRequest, originForm, sentUrl } from './head.js';
import { serveMount } from './mount.js';

/** Options of the handler for Node. */
export type NodeHandlerOptions = EndpointOptions<IncomingMessage>;

/** Handles requests from `http.createServer`, `http2.createServer`, Express or Connect. */
export interface NodeHandler {
  /** @param next called for requests to other paths; without it, they get a 404 */
  (
    request: IncomingMessage | Http2ServerRequest,
    response: ServerResponse | Http2ServerResponse,
    next?: (error?: unknown) => void,
  ): void;
  /** Resolves when the server has started. Earlier requests wait for it. */
  readonly ready: Promise<void>;
  /** Waits for requests in flight and answers new ones with 503. The server itself stays open for other transports. */
  close(): Promise<void>;
}

const MOUNTED =
  'nodeHandler is mounted at a path, so clients may not find what `auth` serves at the root. Unless something else ' +
  "serves them, mount it at the root: `app.use(nodeHandler(server, { auth, path: '/mcp' }))`.";

const hiddenPath = (mountedAt: string, path = '') =>
  `nodeHandler is mounted at a path and has the path "${path}", so a request for "${excerpt(mountedAt)}" is not for it. Leave ` +
  'out `path`, because the mount point is the path of the endpoint.';

/**
 * Serves MCP over Streamable HTTP on Node's HTTP server, `http.createServer(nodeHandler(server))`, or in Express,
 * `app.use('/mcp', nodeHandler(server))`. `ready` rejects with `DECORUM_SERVER_CLOSED` or with the error that one of
 * the server's hooks has thrown.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 * @example
 * ```ts
 * import { nodeHandler } from '@decorum/http/node';
 * import express from 'express';
 *
 * const app = express();
 * app.use('/mcp', nodeHandler(server));
 * app.listen(3000, '127.0.0.1');
 * ```
 */
export function nodeHandler(server: Host, options: NodeHandlerOptions = {}): NodeHandler {
  const late = new LateEndpoint(server, options, { where: 'nodeHandler' });
  const { report, settings, cards } = late;
  const { path } = options;
  const { auth } = settings;
  const hosts = new MountHosts(settings);
  let mayWarn = (auth?.documents ?? []).length > 0 || auth?.mount !== undefined;
  let mayWarnOfPath = path !== undefined;
  const handle = (request: IncomingMessage, response: ServerResponse, next?: (error?: unknown) => void): void => {
    // Express removes the mount path of a handler from `url`
    const url = originForm(request.url);
    const originalUrl = sentUrl(request);
    const document = documentAt(auth, originalUrl);
    const mount = document ? undefined : mountAt(auth, originalUrl);
    if (mount) return serveMount(mount, { request, response, url: originalUrl, hosts, report });
    if (document === undefined && mayWarn && originalUrl !== url) {
      mayWarn = false;
      late.warn(MOUNTED);
    }
    const card = cards?.at(url, originalUrl);
    const routes = late.routesAt(url) ?? late.routesAt(originalUrl);
    if (document ?? card ?? routes ?? (late.serves(url) || late.serves(originalUrl))) {
      if (response.socket === null && isFlooding(response)) return;
      const context = new NodeContext<NodeRequest>(request, response, request);
      if (card) return card(context);
      context.routes = routes;
      if (document === undefined) return late.serve(context);
      return serveDocument(document, { head: context.head, responder: context, report });
    }
    // the request is for the mount point itself, so it isn't meant for another handler
    if (mayWarnOfPath && originalUrl !== url && late.serves(url, '')) {
      mayWarnOfPath = false;
      late.warn(hiddenPath(originalUrl, path));
    }
    if (next) next();
    else new NodeContext<NodeRequest>(request, response, request).answer(404, noEndpoint().body());
  };
  return Object.assign(handle as NodeHandler, { ready: late.ready, close: () => late.close() });
}

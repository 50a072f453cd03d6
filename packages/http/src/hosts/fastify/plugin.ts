import type { IncomingMessage } from 'node:http';

import type { Host, Principal } from '@decorum/core';
import { HOST, hostOf, isPromise, startupError } from '@decorum/core/transport';
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';

import type { Answer } from '../../endpoint/answer.js';
import {
  type AnswerHeaders,
  type HttpContext,
  type Headers,
  JSON_TYPE,
  type Sink,
} from '../../endpoint/http-context.js';
import type { Endpoint } from '../../endpoint/endpoint.js';
import { corsHeaders } from '../../endpoint/guard.js';
import type { LegacySse } from '../../exchange/legacy-sse.js';
import { openEndpoint } from '../../endpoint/open-endpoint.js';
import { checkOptionNames, type EndpointOptions, type LegacyPaths, resolveOptions } from '../../endpoint/options.js';
import { type SlowReaders, UNCOUNTED_BYTES } from '../../endpoint/slow-readers.js';
import { isFlooding, noteUnread, postInOrder } from '../node/answers.js';
import { type Arrived, NodeBody, TOGETHER } from '../node/body.js';
import { headersOf, NodeHead, withoutClose } from '../node/head.js';
import { NodeSink } from '../node/sink.js';
import { channelOf, clientOn, isUnread, onSocketClose, portAt, versionOf } from '../node/socket.js';
import { UNDOCUMENTED } from './undocumented.js';
import { addPluginRoutes } from './plugin-routes.js';
import { requireHosts } from './required-hosts.js';
import { requireRoutes } from './required-routes.js';

/** Options of an MCP endpoint in Fastify. */
export type HttpOptions<HostRequest = FastifyRequest> = EndpointOptions<HostRequest>;

/** Options of the Fastify plugin. */
export interface McpPluginOptions extends HttpOptions {
  /** The server to expose: an `McpServer`. */
  readonly server: Host;
}

/** Options in addition to those of the endpoint. All but `server` are Fastify's, which passes them on to plugins. */
const PLUGIN_OPTIONS = { server: true, prefix: true, logLevel: true, logSerializers: true } as const;

/** A Fastify request and its reply. Complete responses go through the application's hooks; streams bypass them. */
export class FastifyContext implements HttpContext {
  readonly headers: Headers;
  principal: Principal | undefined;
  readers: SlowReaders | undefined;

  constructor(
    readonly request: FastifyRequest,
    private readonly reply: FastifyReply,
    principal: Principal | undefined,
  ) {
    this.headers = headersOf(request.raw);
    this.principal = principal;
    this.readers = undefined;
  }

  get method(): string {
    return this.request.method;
  }

  get localPort(): number | undefined {
    return this.request.raw.socket.localPort;
  }

  get remoteAddress(): string | undefined {
    return this.request.ip;
  }

  get remotePort(): number | undefined {
    return portAt(this.remoteAddress, this.request.raw.socket);
  }

  get httpVersion(): string {
    return versionOf(this.request.raw);
  }

  get gone(): boolean {
    return channelOf(this.request.raw).destroyed;
  }

  onClose(callback: () => void): () => void {
    return onSocketClose(channelOf(this.request.raw), callback);
  }

  preset(headers: AnswerHeaders): void {
    this.reply.headers(headers);
  }

  answer(status: number, body?: string, headers?: AnswerHeaders): void {
    const { reply } = this;
    if (status !== 200) reply.code(status);
    if (body !== undefined) reply.type(JSON_TYPE);
    const isFirst = this.request.raw.httpVersionMajor === 1;
    if (headers) reply.headers(isFirst ? headers : withoutClose(headers));
    reply.send(body);
    const { readers } = this;
    if (readers === undefined || body === undefined || !isFirst) return;
    const { raw } = reply;
    // if the headers are not sent yet, the application's hooks still hold the answer
    if (raw.writableLength > UNCOUNTED_BYTES || !raw.headersSent) noteUnread(raw, body, readers);
  }

  open(headers: AnswerHeaders): Sink {
    const { raw } = this.reply.hijack();
    const close = isUnread(this.request.raw) ? { connection: 'close' } : undefined;
    raw.writeHead(200, { ...(this.reply.getHeaders() as Record<string, string>), ...headers, ...close });
    return new NodeSink(raw);
  }

  drop(): void {
    channelOf(this.request.raw).destroy();
  }

  forgetBody(): void {
    this.request.body = undefined;
  }
}

/**
 * Serves MCP over Streamable HTTP in a Fastify application: `app.register(mcp, { server })`. The plugin's body parser,
 * hooks and error handler apply only to its own routes.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` or `DECORUM_SERVER_CLOSED`
 * @example
 * ```ts
 * import { mcp } from '@decorum/http';
 * import { fastify } from 'fastify';
 *
 * const app = fastify();
 * await app.register(mcp, { server });
 * await app.listen({ port: 3000 });
 * ```
 */
export const mcp: FastifyPluginAsync<McpPluginOptions> = Object.assign(
  async (app: FastifyInstance, options: McpPluginOptions): Promise<void> => {
    // the program has registered `mcp(server)` or the server itself
    if (typeof options !== 'object' || HOST in options) {
      throw startupError(
        'DECORUM_INVALID_OPTION',
        'mcp',
        'options',
        'are missing. Write `app.register(mcp, { server })`',
      );
    }
    checkOptionNames('mcp', options, PLUGIN_OPTIONS);
    const { routes } = hostOf(options.server, 'mcp');
    const settings = resolveOptions(options);
    requireHosts(app, settings.allowedHosts);
    requireRoutes(app, settings.auth);
    const servedPath = app.prefix + settings.path;
    const { endpoint, detach } = await openEndpoint(options.server, { ...settings, servedPath });
    app.addHook('preClose', async () => {
      detach();
      const began = performance.now();
      await endpoint.close();
      await endpoint.delivered(Math.max(0, settings.closeDeadlineMs - (performance.now() - began)));
    });
    await addPluginRoutes(app, { routes, endpoint, contextFor: plainContext });
    // in its own scope, so that the endpoint's hooks don't run for plugin routes
    await app.register(async (scope) => addEndpoint(scope, endpoint));
  },
  // Fastify reads the plugin's name and the supported version from these
  {
    [Symbol.for('fastify.display-name')]: '@decorum/http',
    [Symbol.for('plugin-meta')]: { name: '@decorum/http', fastify: '5.x' },
  },
);

/** The context of a request without a caller. */
export const plainContext = (request: FastifyRequest, reply: FastifyReply): FastifyContext =>
  new FastifyContext(request, reply, undefined);

/** Adds the routes of an endpoint to an application. Each step of the endpoint runs in the matching Fastify hook. */
function addEndpoint(app: FastifyInstance, endpoint: Endpoint<FastifyRequest>): void {
  const { path, legacySse, principal } = endpoint.settings;
  addGuard(app, endpoint);
  app.setErrorHandler((error, { raw, ip }, reply) => {
    const { [PRINCIPAL]: known } = raw as Authenticated;
    const answer = endpoint.errorResponse(error, { principal: known, remoteAddress: ip });
    sendError(answer, reply);
  });
  addParser(app, endpoint);
  const contextFor = (request: FastifyRequest, reply: FastifyReply) =>
    new FastifyContext(
      request,
      reply,
      principal === undefined ? (request.raw as Authenticated)[PRINCIPAL] : principal(request),
    );
  app.post(path, UNDOCUMENTED, (request, reply) => {
    const { raw: response } = reply;
    const isPipelined = response.socket === null || (request.raw as Arrived)[TOGETHER];
    if (!isPipelined) return endpoint.post(request.body, contextFor(request, reply));
    postInOrder(endpoint, { message: request.body, context: contextFor(request, reply), response });
  });
  app.get(path, { ...UNDOCUMENTED, exposeHeadRoute: false }, async (request, reply) => {
    await endpoint.get(contextFor(request, reply));
    return reply;
  });
  app.delete(path, UNDOCUMENTED, async (request, reply) => {
    await endpoint.delete(contextFor(request, reply));
    return reply;
  });
  const preflight = (...args: Parameters<typeof plainContext>) => endpoint.preflight(plainContext(...args));
  app.options(path, UNDOCUMENTED, preflight);
  // the guard rejects these methods, but it only runs on routes that exist
  app.route({ ...UNDOCUMENTED, method: ['HEAD', 'PUT', 'PATCH'], url: path, handler: () => {} });
  if (legacySse === undefined) return;
  for (const each of new Set([legacySse.path, legacySse.messagesPath])) app.options(each, UNDOCUMENTED, preflight);
  addLegacyRoutes(app, { legacy: endpoint.legacy as LegacySse, contextFor, ...legacySse });
}

interface LegacyRoutes extends Required<LegacyPaths> {
  readonly legacy: LegacySse;
  readonly contextFor: (request: FastifyRequest, reply: FastifyReply) => HttpContext;
}

/** Adds the two routes of HTTP+SSE. */
function addLegacyRoutes(app: FastifyInstance, { path, messagesPath, legacy, contextFor }: LegacyRoutes): void {
  app.get(path, { ...UNDOCUMENTED, exposeHeadRoute: false }, async (request, reply) => {
    legacy.open(contextFor(request, reply));
    return reply;
  });
  app.post(messagesPath, UNDOCUMENTED, async (request, reply) => {
    legacy.post(request.body, contextFor(request, reply), request.raw.url ?? '');
    return reply;
  });
}

/** The principal of a request, from the `authenticate` step. */
const PRINCIPAL = Symbol('principal');

type Authenticated = IncomingMessage & { [PRINCIPAL]?: Principal };

/** The `guard` and `authenticate` steps, before the body is read. */
function addGuard(app: FastifyInstance, endpoint: Endpoint<FastifyRequest>): void {
  const { gate } = endpoint;
  app.addHook('onRequest', (request, reply, done) => {
    const { socket, method = '' } = request.raw;
    const headers = headersOf(request.raw);
    if (reply.raw.socket === null && isFlooding(reply.raw)) return;
    endpoint.guard.check(headers, socket.localPort);
    if (headers.origin !== undefined) {
      const vary = reply.getHeader('vary');
      reply.headers(corsHeaders(headers.origin, vary === undefined ? undefined : String(vary)));
    }
    if (method !== 'POST') endpoint.requireMethod(method);
    if (gate === undefined) return done();
    const admit = (principal: Principal | undefined) => {
      if (principal) (request.raw as Authenticated)[PRINCIPAL] = principal;
      done();
    };
    const principal = gate.enter(new NodeHead(request.raw, request), request, clientOn(channelOf(request.raw)));
    if (isPromise(principal)) principal.then(admit, done);
    else admit(principal);
  });
}

/** The `body` step. Replaces Fastify's own reader, which copies even a body that arrives in a single chunk. */
function addParser(app: FastifyInstance, { bodies }: Endpoint<FastifyRequest>): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', (request, payload, done) => {
    const { raw } = request;
    const head = { method: request.method, headers: headersOf(raw) };
    const receiver = { body: done as (error: unknown, message?: unknown) => void };
    new NodeBody({ bodies, raw, payload, request }, head, receiver).read();
  });
}

/** Sends errors from the endpoint, Fastify and the application's hooks. */
export function sendError({ status, body, headers }: Answer, reply: FastifyReply): void {
  reply.header('content-type', JSON_TYPE);
  const { method, raw } = reply.request;
  // over HTTP/2, connection headers are invalid, and Node would send a body even in response to HEAD
  if (raw.httpVersionMajor !== 1) {
    reply.code(status).headers(withoutClose(headers));
    return void reply.send(method === 'HEAD' ? undefined : body);
  }
  // without this header, Node would wait for the rest of the body
  if (isUnread(reply.request.raw)) reply.header('connection', 'close');
  reply.code(status).headers(headers).send(body);
}

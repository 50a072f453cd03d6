import { isUtf8 } from 'node:buffer';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

import { type Host, McpError, type Principal } from '@decorum/core';
import { errorFrame, excerpt, FAILURES, parseMessage, startupError } from '@decorum/core/transport';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';

import type { Carrier, Headers } from './carrier.js';
import { Endpoint } from './endpoint.js';
import { PostExchange } from './exchange.js';
import { corsHeaders, Guard, isLoopback, preflightHeaders } from './guard.js';
import { KEY, LegacySse } from './legacy.js';
import { DEFAULT_PATH, type HttpOptions, type LegacyPaths, type ResolvedOptions, resolveOptions } from './options.js';
import { Refusal } from './refusal.js';

/** Options of the Fastify plugin. */
export interface McpPluginOptions extends HttpOptions {
  /** What is served. */
  readonly server: Host;
}

type BodyLimits = Pick<ResolvedOptions, 'bodyLimit' | 'bodyTimeoutMs'>;

/** JSON is UTF-8 (RFC 8259, section 8.1), whatever a client says. */
const OTHER_CHARSET = /charset=(?!"?utf-8)/i;
const JSON_TYPE = 'application/json; charset=utf-8';

/** A Fastify request and its reply. Answers at once pass the hooks of the application; streams do not. */
class FastifyCarrier implements Carrier {
  readonly headers: Headers;
  readonly socket: Socket;

  constructor(
    private readonly request: FastifyRequest,
    private readonly reply: FastifyReply,
    readonly principal: Principal | undefined,
  ) {
    this.headers = request.headers as Headers;
    this.socket = request.raw.socket;
  }

  get remoteAddress(): string | undefined {
    return this.request.ip;
  }

  answer(status: number, body?: string, headers?: OutgoingHttpHeaders): void {
    const { reply } = this;
    reply.code(status);
    if (headers) reply.headers(headers);
    if (body !== undefined) reply.header('content-type', JSON_TYPE);
    reply.send(body);
  }

  stream(headers: OutgoingHttpHeaders): ServerResponse {
    const { raw } = this.reply.hijack();
    const close = isUnread(this.request) ? { connection: 'close' } : {};
    return raw.writeHead(200, { ...(this.reply.getHeaders() as OutgoingHttpHeaders), ...headers, ...close });
  }
}

/**
 * Serves MCP over Streamable HTTP in a Fastify application: `app.register(mcp, { server })`. What it needs of Fastify –
 * the parser of bodies, hooks, the form of errors – applies to its own routes only.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` or `DECORUM_SERVER_CLOSED`
 */
export const mcp = fastifyPlugin(
  async function mcp(app: FastifyInstance, options: McpPluginOptions): Promise<void> {
    const { server } = options;
    const settings = resolveOptions(options);
    const report = (error: unknown) => server.report(error);
    app.setErrorHandler((error, _request, reply) => answerError(error, reply, report));
    requireHosts(app, settings.allowedHosts);
    addGuard(app, new Guard(settings));
    const refuseBodies = addParser(app, settings);
    // the server has waited for running requests by then
    const close = () => endpoint.close(0);
    const endpoint = new Endpoint(await server.open(close), { ...settings, report });
    app.addHook('preClose', async () => {
      server.detach(close);
      const began = performance.now();
      await endpoint.close();
      refuseBodies(new Refusal(503, 'The server is closing.'));
      await endpoint.delivered(Math.max(0, settings.closeDeadlineMs - (performance.now() - began)));
    });
    addRoutes(app, endpoint, options);
    refuseOthers(app, settings);
    if (settings.legacySse) addLegacyRoutes(app, endpoint, { ...settings.legacySse, principal: options.principal });
  },
  { name: '@decorum/http', fastify: '5.x', encapsulate: true },
);

/** Those that are about to be closed. */
const unsafe = new WeakSet<object>();

/**
 * Where an application listens is known only when it does. Closes it at once where others could reach it that the guard
 * would refuse; `app.listen` rejects.
 */
function requireHosts({ server }: FastifyInstance, allowedHosts: readonly string[]): void {
  if (allowedHosts.length > 0) return;
  server.on('listening', () => {
    const address = server.address();
    if (unsafe.has(server) || address === null || typeof address === 'string') return;
    if (isLoopback(address.address)) return;
    unsafe.add(server);
    // not before the other listeners have run, which look at the address; nothing connects in between
    process.nextTick(() => {
      server.close();
      unsafe.delete(server);
    });
    server.emit('error', startupError('DECORUM_UNSAFE_HOST', address.address));
  });
}

/** Runs before the body is read. */
function addGuard(app: FastifyInstance, guard: Guard): void {
  // clients keep to one host, which need not be looked at again
  let servedHost: string | undefined;
  let servedPort: number | undefined;
  app.addHook('onRequest', (request, reply, done) => {
    const { headers, socket } = request.raw;
    const { host, origin } = headers;
    const port = socket.localPort;
    if (origin !== undefined || host === undefined || host !== servedHost || port !== servedPort) {
      guard.check(headers as Headers, port);
      servedHost = host;
      servedPort = port;
    }
    if (origin !== undefined) allowOrigin(reply, origin);
    done();
  });
}

/**
 * Takes JSON and nothing else; a page of another origin can send anything else without asking.
 * @returns refuses the bodies that are still under way
 */
function addParser(app: FastifyInstance, { bodyLimit, bodyTimeoutMs }: BodyLimits): (error: Error) => void {
  /** The bodies under way, by what refuses them: how many looks at them they have lasted. */
  const reading = new Map<(error: Error) => void, number>();
  // by looking at times, so that a body which comes at once needs no timer
  const timer = setInterval(() => refuseSlow(reading), Math.ceil(bodyTimeoutMs / LOOKS)).unref();
  app.addHook('onClose', async () => clearInterval(timer));
  app.removeAllContentTypeParsers();
  // by hand: Fastify's own reader copies a body that came in one piece
  app.addContentTypeParser('application/json', (request, payload, done) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const refuse = (error: Error) => {
      if (!reading.delete(refuse)) return;
      payload.removeListener('data', take);
      payload.removeListener('end', finish);
      payload.resume();
      done(error);
    };
    const take = (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size > bodyLimit) refuse(tooLarge());
    };
    const finish = () => {
      reading.delete(refuse);
      // a type says nothing where there is no body, but clients send it with DELETE too
      if (size === 0 && request.method === 'DELETE') return done(null);
      try {
        done(null, readJson(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks), request));
      } catch (error) {
        done(error as Error);
      }
    };
    reading.set(refuse, 0);
    if (Number(request.headers['content-length'] ?? 0) > bodyLimit) return refuse(tooLarge());
    payload.on('data', take);
    payload.once('end', finish);
    // that a client has gone is no failure, and nobody hears of this
    payload.once('error', (error) => refuse(request.raw.destroyed ? new Refusal(400, 'The body has no end.') : error));
  });
  return (error) => {
    for (const refuse of reading.keys()) refuse(error);
  };
}

/** How often a body is looked at until its time is over. */
const LOOKS = 4;

function refuseSlow(reading: Map<(error: Error) => void, number>): void {
  for (const [refuse, looks] of reading) {
    if (looks < LOOKS) reading.set(refuse, looks + 1);
    else refuse(new Refusal(408, 'The body did not arrive in time.', { connection: 'close' }));
  }
}

const tooLarge = () => Object.assign(new Error('The body is too large.'), { statusCode: 413 });

function readJson(body: Buffer, { headers }: FastifyRequest): unknown {
  const type = headers['content-type'];
  if (!isUtf8(body) || (type !== 'application/json' && OTHER_CHARSET.test(type ?? ''))) {
    throw new McpError('parse-error', 'The message is not UTF-8.');
  }
  return parseMessage(body.toString());
}

function addRoutes(
  app: FastifyInstance,
  endpoint: Endpoint,
  { path = DEFAULT_PATH, principal }: McpPluginOptions,
): void {
  app.post(path, (request, reply) => {
    const carrier = new FastifyCarrier(request, reply, principal?.(request));
    void new PostExchange(request.body, carrier, endpoint.parts).run();
  });
  app.get(path, { exposeHeadRoute: false }, async (request, reply) => {
    await endpoint.get(new FastifyCarrier(request, reply, principal?.(request)));
    return reply;
  });
  app.delete(path, (request, reply) => endpoint.delete(new FastifyCarrier(request, reply, principal?.(request))));
  app.options(path, answerPreflight);
}

/** Tells those who use another method which there are, without reading what they send. */
function refuseOthers(app: FastifyInstance, { path, sessions }: ResolvedOptions): void {
  const allow = sessions ? 'GET, POST, DELETE' : 'POST';
  const onRequest = async () => {
    throw new Refusal(405, 'The endpoint has no such method.', { allow });
  };
  app.route({ method: ['HEAD', 'PUT', 'PATCH'], url: path, onRequest, handler: onRequest });
}

/** The two routes of HTTP+SSE, beside those of Streamable HTTP. */
function addLegacyRoutes(
  app: FastifyInstance,
  { parts }: Endpoint,
  { path, messagesPath, principal }: Required<LegacyPaths> & { principal: HttpOptions['principal'] },
): void {
  const legacy = new LegacySse(parts, { path, messagesPath });
  app.get(path, { exposeHeadRoute: false }, async (request, reply) => {
    legacy.open(new FastifyCarrier(request, reply, principal?.(request)));
    return reply;
  });
  app.post(messagesPath, async (request, reply) => {
    legacy.post(
      request.body,
      new FastifyCarrier(request, reply, principal?.(request)),
      (request.query as { readonly [KEY]?: unknown })[KEY],
    );
    return reply;
  });
  for (const each of new Set([path, messagesPath])) app.options(each, answerPreflight);
}

function answerPreflight(request: FastifyRequest, reply: FastifyReply): void {
  reply.code(204).headers(preflightHeaders(request.headers['access-control-request-headers'])).send();
}

function allowOrigin(reply: FastifyReply, origin: string): void {
  const vary = reply.getHeader('vary');
  reply.headers({ ...corsHeaders(origin), vary: vary === undefined ? 'Origin' : `${String(vary)}, Origin` });
}

/** Whether a request has a body that was not read to its end, so that no other can follow on its connection. */
function isUnread({ raw }: FastifyRequest): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = raw.headers;
  return !raw.readableEnded && (length !== '0' || encoding !== undefined);
}

/** Words errors as JSON-RPC: those of this package, of Fastify, and of the application's hooks. */
function answerError(error: unknown, reply: FastifyReply, report: (error: unknown) => void): void {
  reply.header('content-type', JSON_TYPE);
  // Node closes the connection after an answer that says so, and waits for the rest of the body else
  if (isUnread(reply.request)) reply.header('connection', 'close');
  if (error instanceof Refusal) return void reply.code(error.status).headers(error.headers).send(error.body());
  if (error instanceof McpError) return void reply.code(400).send(errorFrame(undefined, error));
  const { statusCode, message } = error as { statusCode?: number; message: string };
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return void reply.code(statusCode).send(new Refusal(statusCode, excerpt(message)).body());
  }
  report(error);
  reply.code(500).send(errorFrame(undefined, { code: FAILURES['internal-error'], message: 'Internal error' }));
}

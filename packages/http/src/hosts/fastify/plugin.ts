import type { Host } from '@decorum/core/transport';
import { HOST, hostOf } from '@decorum/core/transport';
import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify';

import { startupError } from '../../errors.js';
import { cardOf } from '../../card/card.js';
import type { Bodies } from '../../endpoint/body.js';
import { openEndpoint } from '../../endpoint/open-endpoint.js';
import { checkOptionNames, type EndpointOptions, resolveOptions } from '../../endpoint/options.js';
import type { Pipeline } from '../../endpoint/pipeline.js';
import { isFlooding } from '../node/answers.js';
import { NodeBody } from '../node/body.js';
import { beginContext, contextOf, FastifyContext } from './context.js';
import { addCardRoutes } from './card-routes.js';
import { addPluginRoutes } from './plugin-routes.js';
import { requireHosts } from './required-hosts.js';
import { requireRoutes } from './required-routes.js';
import { METHODS, UNDOCUMENTED } from './route-options.js';

/** Options of an MCP endpoint in Fastify. */
export type HttpOptions<HostRequest = FastifyRequest> = EndpointOptions<HostRequest>;

/** Options of the Fastify plugin. */
export interface McpPluginOptions extends HttpOptions {
  /** The server to expose: an `McpServer`. */
  readonly server: Host;
}

/** Options in addition to those of the endpoint. All but `server` are Fastify's, which passes them on to plugins. */
const PLUGIN_OPTIONS = { server: true, prefix: true, logLevel: true, logSerializers: true } as const;

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
    const host = hostOf(options.server, 'mcp');
    const settings = resolveOptions(options);
    requireHosts(app, settings.allowedHosts);
    requireRoutes(app, settings);
    const served = { ...settings, servedPath: app.prefix + settings.path };
    const card = cardOf(served, host);
    const { pipeline, detach, tellClosed } = await openEndpoint(options.server, served);
    app.addHook('preClose', async () => {
      detach();
      await pipeline.endpoint.drain();
    });
    // the connections have ended, too
    app.addHook('onClose', tellClosed);
    await addPluginRoutes(app, pipeline, host.routes);
    if (card) await addCardRoutes(app, { card, path: settings.path, host });
    // in its own scope, so that the endpoint's hooks don't run for plugin routes
    await app.register(async (scope) => await addEndpoint(scope, pipeline));
  },
  // Fastify reads the plugin's name and the supported version from these
  {
    [Symbol.for('fastify.display-name')]: '@decorum/http',
    [Symbol.for('plugin-meta')]: { name: '@decorum/http', fastify: '5.x' },
  },
);

/** Adds the routes of an endpoint to an application. The steps before and after the body run in Fastify's hooks. */
async function addEndpoint(app: FastifyInstance, pipeline: Pipeline<FastifyRequest>): Promise<void> {
  const { path, legacySse } = pipeline.endpoint.settings;
  app.setErrorHandler((error, request, reply) => {
    pipeline.fail(contextOf(request) ?? new FastifyContext(request, reply, path), error);
  });
  addParser(app, pipeline.endpoint.parts.bodies);
  await addRoute(app, pipeline, { url: path, method: METHODS });
  if (legacySse === undefined) return;
  for (const url of new Set([legacySse.path, legacySse.messagesPath])) {
    const method = ['OPTIONS'];
    if (url === legacySse.path) method.push('GET');
    if (url === legacySse.messagesPath) method.push('POST');
    await addRoute(app, pipeline, { url, method });
  }
}

/**
 * Adds a route, in its own scope. `admit` runs before Fastify reads the body: in a hook of the scope, because an
 * application may overwrite those of a route.
 */
async function addRoute(
  app: FastifyInstance,
  pipeline: Pipeline<FastifyRequest>,
  { url, method }: { readonly url: string; readonly method: readonly string[] },
): Promise<void> {
  await app.register(async (scope) => {
    scope.addHook('onRequest', (request, reply, done) => {
      if (reply.raw.socket === null && isFlooding(reply.raw)) return;
      const waiting = pipeline.admit(beginContext(request, reply, url));
      const proceed = () => done();
      if (waiting === undefined) proceed();
      else waiting.then(proceed, done);
    });
    scope.route({
      ...UNDOCUMENTED,
      url,
      method: [...method],
      exposeHeadRoute: false,
      handler: (request, reply) => {
        const answered = pipeline.receive(contextOf(request) as FastifyContext, request.body);
        return answered?.then(() => reply);
      },
    });
  });
}

/** Replaces Fastify's own body reader, which copies even a body that arrives in a single chunk. */
function addParser(app: FastifyInstance, bodies: Bodies): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', (request, payload, done) => {
    const { raw } = request;
    const receiver = { body: done as (error: unknown, message?: unknown) => void };
    new NodeBody({ bodies, raw, payload, request }, contextOf(request) as FastifyContext, receiver).read();
  });
}

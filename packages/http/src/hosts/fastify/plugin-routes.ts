import { type OwnedRoute, startupError } from '@decorum/core/transport';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import type { Endpoint } from '../../endpoint/endpoint.js';
import type { HttpContext } from '../../endpoint/http-context.js';
import { serveRoute } from '../../endpoint/routes.js';
import { isFlooding } from '../node/answers.js';
import { routeOf } from './required-routes.js';
import { UNDOCUMENTED } from './undocumented.js';

const METHODS = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** The routes of plugins, and the endpoint that serves them. */
export interface PluginRoutes<HostRequest> {
  readonly routes: readonly OwnedRoute[];
  readonly endpoint: Endpoint<HostRequest>;
  readonly contextFor: (request: FastifyRequest, reply: FastifyReply) => HttpContext;
}

/**
 * Adds the routes of plugins to an application, in a scope of their own, because they need no credentials.
 * @throws {DecorumError} `DECORUM_DUPLICATE_ROUTE`
 */
export async function addPluginRoutes<HostRequest>(
  app: FastifyInstance,
  { routes, endpoint, contextFor }: PluginRoutes<HostRequest>,
): Promise<void> {
  if (routes.length === 0) return;
  await app.register(async (scope) => {
    for (const path of new Set(routes.map((route) => route.path))) {
      const here = routes.filter((route) => route.path === path);
      const url = routeOf(path);
      for (const { method, plugin } of here) {
        if (!scope.hasRoute({ method, url: scope.prefix + url })) continue;
        const owners = ['the application', `the plugin "${plugin}"`] as const;
        throw startupError('DECORUM_DUPLICATE_ROUTE', `${method} ${scope.prefix}${path}`, owners);
      }
      // before the body is read, because none is expected
      const onRequest = (request: FastifyRequest, reply: FastifyReply, _done: () => void): void => {
        if (reply.raw.socket === null && isFlooding(reply.raw)) return;
        const vary = reply.getHeader('vary');
        const more = { url: request.raw.url ?? '', vary: vary === undefined ? undefined : String(vary) };
        serveRoute(here, Object.assign(contextFor(request, reply), more), endpoint);
      };
      const method = METHODS.filter((each) => !scope.hasRoute({ method: each, url: scope.prefix + url }));
      scope.route({ ...UNDOCUMENTED, method, url, exposeHeadRoute: false, onRequest, handler: () => {} });
    }
  });
}

import type { OwnedRoute } from '@decorum/core/internal';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { startupError } from '../../errors.js';
import type { Pipeline } from '../../endpoint/pipeline.js';
import { isFlooding } from '../node/answers.js';
import { FastifyContext } from './context.js';
import { routeOf } from './required-routes.js';
import { METHODS, UNDOCUMENTED } from './route-options.js';

/**
 * Adds the routes of plugins to an application, in a scope of their own, because they need no credentials.
 * @throws {DecorumError} `DECORUM_DUPLICATE_ROUTE`
 */
export async function addPluginRoutes<HostRequest>(
  app: FastifyInstance,
  pipeline: Pipeline<HostRequest>,
  routes: readonly OwnedRoute[],
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
        const context = new FastifyContext(request, reply);
        context.routes = here;
        // no step looks at the host's request: a route needs no caller
        (pipeline as Pipeline<unknown>).run(context);
      };
      const method = METHODS.filter((each) => !scope.hasRoute({ method: each, url: scope.prefix + url }));
      scope.route({ ...UNDOCUMENTED, method, url, exposeHeadRoute: false, onRequest, handler: () => {} });
    }
  });
}

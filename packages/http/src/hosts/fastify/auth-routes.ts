import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';

import { startupError } from '../../errors.js';
import type { AuthOption } from '../../auth/auth.js';
import { authMistake, authOf } from '../../auth/auth-option.js';
import { serveDocument } from '../../auth/documents.js';
import { isFlooding } from '../node/answers.js';
import { FastifyContext } from './context.js';
import { routeOf } from './required-routes.js';
import { METHODS, UNDOCUMENTED } from './route-options.js';

/**
 * A Fastify plugin that serves the documents of `auth`: `app.register(authRoutes(auth))`. Register it without a prefix,
 * because clients look for the documents at the root of the origin. `listen` registers it automatically. If the
 * application already serves one of the paths, its own route is kept.
 * @param report called with errors that must not reach clients. By default, they are logged with the request
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 * @example
 * ```ts
 * import { authRoutes, mcp } from '@decorum/http';
 * import { fastify } from 'fastify';
 *
 * const app = fastify();
 * await app.register(authRoutes(auth));
 * await app.register(mcp, { server, auth });
 * ```
 */
export function authRoutes(option: AuthOption<never>, report?: (error: unknown) => void): FastifyPluginAsync {
  const auth = authOf(option);
  const mistake = authMistake(auth);
  if (mistake !== undefined) throw startupError('DECORUM_INVALID_OPTION', 'authRoutes', 'auth', mistake);
  const routes = async (app: FastifyInstance): Promise<void> => {
    for (const document of auth.documents ?? []) {
      const url = routeOf(document.path);
      // with several endpoints, the first one serves the document at the root
      if (app.hasRoute({ method: 'GET', url })) continue;
      // before the body is read, because none is expected
      const onRequest = (request: FastifyRequest, reply: FastifyReply, _done: () => void): void => {
        if (reply.raw.socket === null && isFlooding(reply.raw)) return;
        const context = new FastifyContext(request, reply);
        const log = report ?? ((error: unknown) => request.log.error(error));
        serveDocument(document, { head: context.head, responder: context, report: log });
      };
      app.route({ ...UNDOCUMENTED, method: METHODS, url, exposeHeadRoute: false, onRequest, handler: () => {} });
    }
  };
  return Object.assign(routes, { [Symbol.for('fastify.display-name')]: '@decorum/http auth' });
}

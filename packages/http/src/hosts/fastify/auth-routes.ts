import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';

import { startupError } from '../../errors.js';
import type { Auth, AuthOption } from '../../auth/auth.js';
import { authMistake, authOf } from '../../auth/auth-option.js';
import { serveDocument } from '../../auth/documents.js';
import { MountHosts } from '../../auth/mount.js';
import { isFlooding } from '../node/answers.js';
import { originForm } from '../node/head.js';
import { serveMount } from '../node/mount.js';
import { FastifyContext } from './context.js';
import { hostsOf, noteServed, routeOf } from './required-routes.js';
import { METHODS, UNDOCUMENTED } from './route-options.js';

type Report = (error: unknown) => void;

/**
 * A Fastify plugin that serves the documents and the mount of `auth`: `app.register(authRoutes(auth))`. Register it without a prefix,
 * because clients look for them at the root of the origin. `listen` registers it automatically. If the
 * application already serves a document, its own route is kept.
 * @param report called with errors that must not reach clients. By default, they are logged with the request
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`, and `DECORUM_DUPLICATE_ROUTE` when it is registered
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
    addDocuments(app, auth, report);
    await addMount(app, auth, report);
  };
  return Object.assign(routes, { [Symbol.for('fastify.display-name')]: '@decorum/http auth' });
}

/** Adds the routes of documents. */
export function addDocuments(app: FastifyInstance, { documents = [] }: Auth<never>, report?: Report): void {
  for (const document of documents) {
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
}

/** Adds the routes of a mount, in a scope of their own. Several endpoints may share them. */
async function addMount(app: FastifyInstance, auth: Auth<never>, report: Report | undefined): Promise<void> {
  const { mount } = auth;
  if (mount === undefined || hostsOf(mount, app)) return;
  const hosts = new MountHosts(auth);
  noteServed(mount, hosts, app);
  await app.register(async (scope) => {
    // the scope's own, because an application may overwrite the hooks of a route; the body stays unread
    scope.addHook('onRequest', (request, reply, _done) => {
      reply.hijack();
      const { raw } = request;
      const log = report ?? ((error: unknown) => request.log.error(error));
      serveMount(mount, { request: raw, response: reply.raw, url: originForm(raw.url), hosts, report: log });
    });
    for (const path of mount.paths) {
      const url = routeOf(path) + (path.endsWith('/') ? '*' : '');
      const taken = METHODS.find((method) => scope.hasRoute({ method, url: scope.prefix + url }));
      if (taken !== undefined)
        throw startupError('DECORUM_DUPLICATE_ROUTE', `${taken} ${path}`, ['the application', '`auth`']);
      scope.route({ ...UNDOCUMENTED, method: METHODS, url, exposeHeadRoute: false, handler: () => {} });
    }
  });
}

import type { FastifyInstance } from 'fastify';

import { startupError } from '../../errors.js';
import type { Auth } from '../../auth/auth.js';

/** Converts a path to a Fastify route: Fastify decodes paths, and a single colon would start a parameter. */
export const routeOf = (path: string): string => decodeURI(path).replaceAll(':', '::');

/**
 * Fails startup if the application doesn't serve the documents of `auth`, because clients couldn't find out where to
 * get a token.
 */
export function requireRoutes(app: FastifyInstance, auth: Auth<never> | undefined): void {
  if (auth?.documents === undefined) return;
  const paths = auth.documents.map(({ path }) => path);
  app.addHook('onReady', async () => {
    const missing = paths.find((path) => !app.hasRoute({ method: 'GET', url: routeOf(path) }));
    if (missing === undefined) return;
    const remedy = 'Register them at the root of the application: `await app.register(authRoutes(auth))`';
    throw startupError(
      'DECORUM_INVALID_OPTION',
      'mcp',
      'auth',
      `has documents that no route serves, such as ${missing}. ${remedy}`,
    );
  });
}

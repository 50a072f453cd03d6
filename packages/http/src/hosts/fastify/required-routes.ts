import type { FastifyInstance } from 'fastify';

import { startupError } from '../../errors.js';
import type { MountHosts } from '../../auth/mount.js';
import type { ResolvedOptions } from '../../endpoint/options.js';
import type { AuthMount } from '../node/auth-mount.js';

/** Converts a path to a Fastify route: Fastify decodes paths, and a single colon would start a parameter. */
export const routeOf = (path: string): string => decodeURI(path).replaceAll(':', '::');

/** The mounts of each application, with their hosts. */
const served = new WeakMap<object, Map<AuthMount, MountHosts>>();

/** The hosts of a mount; undefined if the application doesn't serve it. */
export function hostsOf(mount: AuthMount, { server }: FastifyInstance): MountHosts | undefined {
  return served.get(server)?.get(mount);
}

/** Notes that an application serves a mount. */
export function noteServed(mount: AuthMount, hosts: MountHosts, { server }: FastifyInstance): void {
  served.set(server, (served.get(server) ?? new Map<AuthMount, MountHosts>()).set(mount, hosts));
}

/**
 * Fails startup if the application doesn't serve the documents and the mount of `auth`, because clients couldn't get a
 * token. Lets the mount accept the hosts of the endpoint.
 */
export function requireRoutes(app: FastifyInstance, settings: ResolvedOptions<never>): void {
  const { documents = [], mount } = settings.auth ?? {};
  if (documents.length === 0 && mount === undefined) return;
  app.addHook('onReady', async () => {
    const hosts = mount && hostsOf(mount, app);
    hosts?.add(settings);
    const missing =
      documents.find(({ path }) => !app.hasRoute({ method: 'GET', url: routeOf(path) }))?.path ??
      (hosts ? undefined : mount?.paths[0]);
    if (missing === undefined) return;
    const remedy = 'Register them at the root of the application: `await app.register(authRoutes(auth))`';
    throw startupError(
      'DECORUM_INVALID_OPTION',
      'mcp',
      'auth',
      `has paths that no route serves, such as ${missing}. ${remedy}`,
    );
  });
}

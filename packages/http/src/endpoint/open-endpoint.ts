import type { Host } from '@decorum/core/transport';
import { hostOf, requireNoScopes, type Transport } from '@decorum/core/transport';

import type { AuthEndpoint } from '../auth/auth.js';
import { sharedOptions } from '../cluster/shared.js';
import { Endpoint, knowsCallers } from './endpoint.js';
import type { ResolvedOptions } from './options.js';
import { Pipeline } from './pipeline.js';
import { requireFreeRoutes } from './routes.js';

const REMEDY = 'Pass `auth`, such as `oauth({ issuer, audience })` of @decorum/auth';

/** An endpoint that is open on a server. */
export interface Opened<HostRequest> extends Transport {
  readonly pipeline: Pipeline<HostRequest>;
  /** Unregisters the endpoint from the server. Call it before closing the endpoint on its own. */
  detach(): void;
  /** Tells `auth` that the endpoint has closed. Never rejects. */
  tellClosed(): Promise<void>;
}

/**
 * Opens an endpoint on a server. When the server closes, it closes the endpoint too.
 * @param end closes the resources around the endpoint, after the endpoint itself, and calls `tellClosed`
 * @throws {DecorumError} `DECORUM_SERVER_CLOSED`, `DECORUM_NO_AUTHORIZATION`, `DECORUM_DUPLICATE_ROUTE`, or the error
 * of one of the server's hooks
 */
export async function openEndpoint<HostRequest>(
  server: Host,
  settings: ResolvedOptions<HostRequest>,
  end?: () => Promise<void>,
): Promise<Opened<HostRequest>> {
  const host = hostOf(server);
  const { auth, guard, servedPath } = settings;
  const warn = (message: string) => host.warn(message);
  guard.warn = warn;
  requireFreeRoutes(host, settings);
  const shared = sharedOptions(settings, host);
  let revoke: AuthEndpoint['revoke'] = () => {};
  const own: AuthEndpoint = { revoke: (isRevoked) => revoke(isRevoked) };
  let told: Promise<void> | undefined;
  const tellClosed = () =>
    (told ??= Promise.resolve(own)
      .then((it) => auth?.closed?.(it))
      .catch((error: unknown) => host.report(error)));
  // `auth` may write to its store, which is not for a server that is only constructed
  await host.opening?.();
  await auth?.opened?.(warn, servedPath, own);
  try {
    return await host.open((kernel) => {
      if (!knowsCallers(settings)) requireNoScopes(kernel, '@decorum/http', REMEDY);
      const endpoint = new Endpoint(kernel, shared, host);
      revoke = (isRevoked) => endpoint.revoke(isRevoked);
      const opened: Opened<HostRequest> = {
        pipeline: new Pipeline(endpoint),
        stop: () => endpoint.stop(),
        async close() {
          // the server has already waited for requests in flight
          await endpoint.close(0);
          await (end ?? tellClosed)();
        },
        detach: () => host.detach(opened),
        tellClosed,
      };
      return opened;
    });
  } catch (error) {
    await tellClosed();
    throw error;
  }
}

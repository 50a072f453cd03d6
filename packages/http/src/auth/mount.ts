import { Guard } from '../endpoint/guard.js';
import type { Headers } from '../endpoint/http-context.js';
import type { AuthMount } from '../hosts/node/auth-mount.js';
import type { Auth } from './auth.js';

/** Whether one of a mount's paths covers `path`. Compares the spelling, as Express does. */
export const covers = ({ paths }: AuthMount, path: string): boolean =>
  paths.some((each) => (each.endsWith('/') ? path.startsWith(each) : path === each));

/** The mount at the path of a URL, if there is one. */
export function mountAt(auth: Auth<never> | undefined, url: string): AuthMount | undefined {
  if (auth?.mount === undefined) return undefined;
  const query = url.indexOf('?');
  return covers(auth.mount, query === -1 ? url : url.slice(0, query)) ? auth.mount : undefined;
}

/** The hosts of a mount: those of its `auth`, and of each endpoint that it belongs to. */
export class MountHosts {
  private readonly guards: Guard[];

  /** @param from an `auth`, or the options of an endpoint */
  constructor(from: { readonly guard: Guard } | Pick<Auth, 'allowedHosts'>) {
    this.guards = [
      'guard' in from ? from.guard : new Guard({ allowedHosts: from.allowedHosts ?? [], allowedOrigins: [] }),
    ];
  }

  /** Also allows the hosts of an endpoint. */
  add({ guard }: { readonly guard: Guard }): void {
    this.guards.push(guard);
  }

  /**
   * Checks the host of a request, but not its origin: a mount decides itself which pages may call.
   * @param port local port of the connection
   * @throws {HttpError} 403
   */
  check(headers: Headers, port: number | undefined): void {
    if (this.guards.some((guard) => guard.allowsHostOf(headers, port))) return;
    // the guard of an endpoint also logs the host
    this.guards.at(-1)?.checkHost(headers, port);
  }
}

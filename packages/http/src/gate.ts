import type { Principal } from '@decorum/core';
import { isPromise } from '@decorum/core/transport';

import type { Auth, RequestHead } from './auth.js';
import { authenticate } from './authenticate.js';
import { denied } from './challenge.js';
import type { PendingCallbacks } from './pending-callbacks.js';

/** The `authenticate` step of an endpoint with the option `auth`, before the body is read. */
export class Gate<HostRequest> {
  /** @param pending rejects requests that still wait when the endpoint closes */
  constructor(
    private readonly auth: Auth<HostRequest>,
    private readonly pending: PendingCallbacks,
  ) {}

  /**
   * Finds the principal of a request. Skips preflight requests, which never have credentials.
   * @throws {HttpError} the refusal of `authenticate`, or the challenge for a request without credentials
   * @throws {MaskedError} when `authenticate` throws or returns something invalid
   */
  enter(head: RequestHead, request: HostRequest): Principal | undefined | Promise<Principal | undefined> {
    if (head.method === 'OPTIONS') return undefined;
    const found = authenticate(this.auth, head, request);
    if (!isPromise(found)) return this.admit(found, head);
    return this.pending.until(found).then((late) => this.admit(late, head));
  }

  private admit(principal: Principal | undefined, { headers }: RequestHead): Principal | undefined {
    if (principal !== undefined) return principal;
    const { auth } = this;
    const inSession = headers['mcp-session-id'] !== undefined;
    throw denied({ reason: 'unauthorized', scopes: auth.scopes ?? [], principal, inSession }, auth);
  }
}

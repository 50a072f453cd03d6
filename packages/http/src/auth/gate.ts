import type { Principal } from '@decorum/core';
import { hasAll, isPromise } from '@decorum/core/internal';
import type { Authorization, Kernel } from '@decorum/core/transport';

import type { Auth, RequestHead } from './auth.js';
import { authenticate } from './authenticate.js';
import { challengeOf, denied } from './challenge.js';
import { Revocations } from './revocations.js';
import type { PendingCallbacks, Waiting } from '../endpoint/pending-callbacks.js';

/** The parts of an endpoint that a gate needs. */
export interface GateParts {
  readonly kernel: Pick<Kernel, 'hasPublic'>;
  /** Rejects requests that are still waiting when the endpoint closes. */
  readonly pending: PendingCallbacks;
  /** Milliseconds that a body may take to arrive. */
  readonly bodyTimeoutMs: number;
}

/** The `authenticate` step of an endpoint with the option `auth`, before the body is read. */
export class Gate<HostRequest> {
  /** The authorization that every request needs. */
  readonly authorization: Authorization;
  readonly revocations: Revocations;

  constructor(
    readonly auth: Auth<HostRequest>,
    private readonly parts: GateParts,
  ) {
    const { scopes = [], toolSignIn = false } = auth;
    this.revocations = new Revocations(parts.bodyTimeoutMs);
    const requestedScope = (scope: string) => auth.requestedScope?.(scope) ?? scope;
    this.authorization = toolSignIn ? { scopes, toolChallenge: inResult(auth), requestedScope } : { scopes };
  }

  /**
   * Finds the principal of a request. Skips preflight requests, which never have credentials. Gives up when the client
   * disconnects or the endpoint closes, because the application may never answer.
   * @throws {HttpError} the refusal of `authenticate`, or the challenge for a request without credentials
   * @throws {MaskedError} when `authenticate` throws or returns something invalid
   */
  enter(
    head: RequestHead,
    request: HostRequest,
    client: Waiting,
  ): Principal | undefined | Promise<Principal | undefined> {
    if (head.method === 'OPTIONS') return undefined;
    const found = authenticate(this.auth, head, request);
    if (!isPromise(found)) return this.admit(found, head);
    return this.parts.pending.until(found, client).then((principal) => this.admit(principal, head));
  }

  /**
   * Checks the caller if the body is unread, or holds a notification or response, which the kernel doesn't judge.
   * @throws {HttpError} the challenge, if the caller lacks the authorization that every request needs
   */
  requireBase(principal: Principal | undefined, inSession: boolean): void {
    // public members need no authorization
    if (this.parts.kernel.hasPublic) return;
    const { scopes } = this.authorization;
    if (principal !== undefined && hasAll(principal, scopes)) return;
    const reason = principal === undefined ? 'unauthorized' : 'insufficient-scope';
    throw denied({ reason, scopes, principal, inSession }, this.auth);
  }

  /**
   * Checks a caller again whose credentials may have been revoked since.
   * @throws {HttpError} the challenge
   */
  requireUnrevoked(principal: Principal | undefined, inSession: boolean): void {
    if (!this.revocations.includes(principal)) return;
    const { scopes } = this.authorization;
    throw denied({ reason: 'unauthorized', scopes, principal: undefined, inSession }, this.auth);
  }

  private admit(principal: Principal | undefined, { method, headers }: RequestHead): Principal | undefined {
    // the kernel judges a POST, so that the challenge names all scopes that the message needs, or is a tool's result
    if (method !== 'POST' || (principal === undefined && this.auth.toolSignIn !== true)) {
      this.requireBase(principal, headers['mcp-session-id'] !== undefined);
    }
    return principal;
  }
}

/** Creates the challenges for the results of denied tool calls. */
const inResult =
  (auth: Auth<never>): NonNullable<Authorization['toolChallenge']> =>
  (denial, caller) =>
    challengeOf(denial, { ...caller, inResult: true }, auth).headers['www-authenticate'];

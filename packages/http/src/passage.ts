import type { Principal } from '@decorum/core';
import { isPromise } from '@decorum/core/transport';

import { type Bodies, type BodyReceiver, expectsBody } from './body.js';
import type { Carrier } from './carrier.js';
import type { Endpoint } from './endpoint.js';
import { corsHeaders } from './guard.js';
import type { ResolvedOptions } from './options.js';
import { MaskedError, Refusal } from './refusal.js';

/** A request whose body is still to be read. */
export interface UnreadCarrier extends Carrier {
  /** Path and query. */
  readonly url: string;
  /** Whether a body follows, as far as the host can say. */
  readonly hasBody: boolean;
  /** The `Vary` that the answer has already. */
  readonly vary: string | undefined;
  /** Reads the body. */
  read(bodies: Bodies, receiver: BodyReceiver): void;
}

/**
 * Whether a path is one of the endpoint's.
 * @param path of the endpoint; undefined where it has every path
 * @param url path and query of a request
 */
export function isServed({ legacySse }: ResolvedOptions<never>, path: string | undefined, url: string): boolean {
  if (path === undefined) return true;
  const found = pathOf(url);
  if (found === path || (path === '' && found === '/')) return true;
  return legacySse !== undefined && (found === legacySse.path || found === legacySse.messagesPath);
}

function pathOf(url: string): string {
  const query = url.indexOf('?');
  return query === -1 ? url : url.slice(0, query);
}

/**
 * One request on its way through all steps of an endpoint, for hosts that have no places of their own for them:
 * guard → authenticate → body → admit → dispatch → answer. Without a promise, unless a step has one.
 */
export class Passage<HostRequest> implements BodyReceiver {
  constructor(
    private readonly endpoint: Endpoint<HostRequest>,
    private readonly carrier: UnreadCarrier,
    private readonly request: HostRequest,
  ) {}

  /** Answers the request. Never throws. */
  run(): void {
    try {
      this.guard();
      const principal = this.authenticate();
      if (isPromise(principal)) {
        const fail = (error: unknown) => this.fail(error);
        void principal.then((found) => this.read(found)).catch(fail);
      } else this.read(principal);
    } catch (error) {
      this.fail(error);
    }
  }

  /** Takes what was read. Never throws. */
  body(failure: unknown, message?: unknown): void {
    if (failure !== null) return this.fail(failure);
    try {
      const answered = this.dispatch(message);
      if (answered) void answered.catch((error: unknown) => this.fail(error));
    } catch (error) {
      this.fail(error);
    }
  }

  private guard(): void {
    const { endpoint, carrier } = this;
    const { method, headers } = carrier;
    endpoint.guard.check(headers, carrier.localPort);
    if (headers.origin !== undefined) carrier.preset(corsHeaders(headers.origin, carrier.vary));
    endpoint.requireMethod(method);
  }

  private authenticate(): Principal | undefined | Promise<Principal | undefined> {
    const { endpoint, carrier, request } = this;
    if (!endpoint.authenticates) return undefined;
    const { method, headers, remoteAddress } = carrier;
    return endpoint.authenticate({ method, headers, remoteAddress }, request);
  }

  private read(principal: Principal | undefined): void {
    const { carrier, endpoint } = this;
    carrier.principal = principal;
    if (expectsBody(carrier, carrier.hasBody)) carrier.read(endpoint.bodies, this);
    else this.body(null);
  }

  private dispatch(message: unknown): void | Promise<void> {
    const { endpoint, carrier, request } = this;
    const { method } = carrier;
    const { principal, legacySse } = endpoint.settings;
    if (method === 'OPTIONS') return endpoint.preflight(carrier);
    if (principal !== undefined) carrier.principal = principal(request);
    if (legacySse !== undefined) {
      const path = pathOf(carrier.url);
      if (path === legacySse.path || path === legacySse.messagesPath) return this.dispatchLegacy(path, message);
    }
    if (method === 'POST') return endpoint.post(message, carrier);
    return method === 'GET' ? endpoint.get(carrier) : endpoint.delete(carrier);
  }

  private dispatchLegacy(path: string, message: unknown): void {
    const { endpoint, carrier } = this;
    const { path: streamPath, messagesPath } = endpoint.settings.legacySse ?? {};
    if (path === streamPath && carrier.method === 'GET') return endpoint.legacy?.open(carrier);
    if (path === messagesPath && carrier.method === 'POST') return endpoint.legacy?.post(message, carrier, carrier.url);
    const allow = [...(path === streamPath ? ['GET'] : []), ...(path === messagesPath ? ['POST'] : [])].join(', ');
    throw new Refusal(405, 'The endpoint has no such method.', { allow });
  }

  private fail(error: unknown): void {
    const { endpoint, carrier } = this;
    try {
      const { status, body, headers } = endpoint.refusal(error);
      carrier.answer(status, body, headers);
    } catch (unsent) {
      // somebody else has answered, such as a timeout of the application: nothing is left but to let the connection go
      endpoint.refusal(new MaskedError(unsent));
      carrier.drop();
    }
  }
}

import type { Principal, RequestHeaders, TransportInfo } from '@decorum/core';
import { hostRequest } from '@decorum/http/node';

/** Stands in for the HTTP request over other transports: what `@Inject(REQUEST)` and `switchToHttp()` give over stdio. */
export class McpRequest {
  /** No headers, so that guards that look for one find none. */
  readonly headers: RequestHeaders = {};
  readonly transport: TransportInfo;
  /** The caller that the transport knows. */
  readonly principal: Principal | undefined;

  /** Internal. */
  constructor(transport: TransportInfo, principal: Principal | undefined) {
    this.transport = transport;
    this.principal = principal;
  }
}

/** The request of Express or Fastify that a call came with, or what stands in for it. */
export function requestOf(transport: TransportInfo, principal: Principal | undefined): object {
  return (hostRequest(transport) as object | undefined) ?? new McpRequest(transport, principal);
}

/** What the inert response answers to code that reads from it. */
const READ: Readonly<Record<string, unknown>> = {
  statusCode: 200,
  headersSent: false,
  sent: false,
  writableEnded: false,
  toString: () => '',
};

/**
 * The HTTP response as guards, interceptors and filters see it. A call is one message of an MCP response, so they must
 * not write to it: whatever they do with it is a no-op.
 */
export const INERT_RESPONSE: object = new Proxy(() => {}, {
  get: (_target, key) => {
    // not a promise
    if (typeof key === 'symbol' || key === 'then') return undefined;
    return key in READ ? READ[key] : INERT_RESPONSE;
  },
  apply: () => INERT_RESPONSE,
  set: () => true,
});

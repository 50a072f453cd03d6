import type { Principal, RequestHeaders, TransportInfo } from '@decorum/core';
import { hostRequest } from '@decorum/http';

/** Stands in for the HTTP request. Over stdio, `@Inject(REQUEST)` and `switchToHttp()` provide it instead. */
export class McpRequest {
  /** Empty, so that guards that look for a header find none. */
  readonly headers: RequestHeaders = {};
  readonly transport: TransportInfo;
  /** The caller, if the transport knows it. */
  readonly principal: Principal | undefined;

  /** Internal. */
  constructor(transport: TransportInfo, principal: Principal | undefined) {
    this.transport = transport;
    this.principal = principal;
  }
}

/** The Express or Fastify request that a call came with; an `McpRequest` over other transports. */
export function requestFor(transport: TransportInfo, principal: Principal | undefined): object {
  return (hostRequest(transport) as object | undefined) ?? new McpRequest(transport, principal);
}

/**
 * The request of Express or Fastify that a call came with, and with it what guards and middleware put there.
 * @param context the second parameter of a method, or `ctx` of an interceptor of Decorum
 * @returns undefined over stdio and in memory, where there is no HTTP request
 * @example
 * ```ts
 * import { requestOf } from '@decorum/nestjs';
 *
 * class Shop {
 *   @Tool({ description: 'Tells who is signed in' })
 *   whoami(_input: NoInput, ctx: Context) {
 *     return requestOf<{ user?: { name: string } }>(ctx)?.user?.name ?? 'nobody';
 *   }
 * }
 * ```
 */
export const requestOf = <R extends object = object>({ transport }: { readonly transport: TransportInfo }) =>
  hostRequest(transport) as R | undefined;

/** The properties of the inert response, for code that reads from it. A filter may return it. */
const READ: Readonly<Record<string, unknown>> = {
  statusCode: 200,
  headersSent: false,
  sent: false,
  writableEnded: false,
  getHeader: () => undefined,
  hasHeader: () => false,
  toString: () => '',
};

/** What promises, observables, streams and schedulers have: Nest and RxJS would wait for the response. */
const LACKING: ReadonlySet<string> = new Set(['then', 'subscribe', 'lift', 'getReader', 'schedule']);

const isLacking = (key: string | symbol): boolean => typeof key === 'symbol' || LACKING.has(key);

/**
 * The HTTP response that guards, interceptors and filters get. Everything they do with it is a no-op, because a call's
 * result is only one message of the actual response.
 */
export const INERT_RESPONSE: object = new Proxy(() => {}, {
  get: (_target, key) => {
    if (isLacking(key)) return undefined;
    return Object.hasOwn(READ, key) ? READ[key as string] : INERT_RESPONSE;
  },
  // Nest's adapter for Fastify takes a response without `status` for that of Node.js, and wraps it
  has: (_target, key) => !isLacking(key),
  apply: () => INERT_RESPONSE,
  set: () => true,
});

import { invalidOption } from '@decorum/schema/internal';

import type { Sharing } from '../kernel/cluster.js';
import type { Kernel } from '../kernel/kernel.js';
import type { Follower } from '../kernel/source-links.js';
import { startupError } from '../protocol/errors.js';
import type { ReachedLimit } from '../protocol/limits.js';
import type { Implementation } from '../protocol/model.js';
import { isScope } from '../protocol/scopes.js';
import type { Principal } from '../protocol/wire.js';
import { isExpiry } from './expiry.js';
import type { OwnedRoute } from './route.js';

/**
 * The key of a server's `HostPort`. A symbol leaves all member names to the user. It is registered, so two copies of
 * the package share it.
 */
export const HOST: unique symbol = Symbol.for('decorum:host') as never;

/** The methods that a server calls on its open transports. */
export interface Transport {
  /** Stops accepting requests. Requests in flight continue. Must not throw. */
  stop(): void;
  /** Closes the transport, after the requests in flight have ended. */
  close(): void | Promise<void>;
}

/** The methods that a transport calls on its server. */
export interface HostPort {
  /**
   * Runs the server's `onStart` hooks once and opens a transport. Closing the server stops and closes the transport.
   * @param create creates a transport that can be stopped and closed right away: the server may close before this
   *   resolves
   * @returns the transport that `create` returned
   * @throws {DecorumError} `DECORUM_SERVER_CLOSED`, and whatever a hook or `create` throws
   */
  open<T extends Transport>(create: (kernel: Kernel) => T): Promise<T>;
  /** Awaited before an endpoint opens its `auth`. A tool that only constructs the server never lets it resolve. */
  opening?(): Promise<void>;
  /** Name, version and the other details that clients see. */
  readonly info: Implementation;
  /** Routes of plugins, which HTTP transports serve next to the endpoint. */
  readonly routes: readonly OwnedRoute[];
  /** Removes a transport that has closed itself. */
  detach(transport: Transport): void;
  /**
   * Reports an error, which no client sees, to the logger and to `onError`.
   * @param message log message that says what failed. Defaults to one for errors outside of a request
   */
  report(error: unknown, message?: string): void;
  /** Tells the server's `onLimit` which limit a client has reached. Never throws. */
  hit(hit: ReachedLimit): void;
  /** Makes the default logger write errors with their stacks, as it does on a terminal. For tests. */
  showStacks?(): void;
  /** Adds a source of members that wants to know which resources clients follow. */
  follow(follower: Follower): void;
  /** Adds a text to the server's instructions. It is asked for each time; undefined adds nothing. */
  instruct(text: () => string | undefined): void;
  /** Logs a warning for the operator. */
  warn(message: string): void;
  /** What the server shares with other processes. */
  readonly sharing: Sharing;
}

/** A server that transports can be opened on. `McpServer` is one. */
export interface Host {
  readonly [HOST]: HostPort;
}

/**
 * Returns the server's port for transports.
 * @param where the function that was called with the server, such as `listen`
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` for anything but a server
 * @example
 * ```ts
 * import { McpError } from '@decorum/core';
 * import { errorFrame, type Host, hostOf, parseMessage, requireNoScopes, type Wire } from '@decorum/core/transport';
 *
 * async function servePort(server: Host, port: MessagePort) {
 *   const host = hostOf(server, 'servePort');
 *   await host.open((kernel) => {
 *     requireNoScopes(kernel, 'servePort', 'Pass a principal');
 *     const transport = { kind: 'port' };
 *     const connection = { stop: () => kernel.inFlight.stop(connection), close: () => port.close() };
 *     const send: Wire['send'] = ({ text }) => port.postMessage(text);
 *     const session = kernel.openSession({}, { push: send, transport });
 *     const wire = { transport, principal: undefined, owner: connection, send };
 *     port.onmessage = async ({ data }) => {
 *       try {
 *         const { text } = await kernel.handle(parseMessage(data), wire, session);
 *         if (text !== undefined) port.postMessage(text);
 *       } catch (error) {
 *         if (error instanceof McpError) port.postMessage(errorFrame(session.revision.unreadableId, error));
 *         else host.report(error);
 *       }
 *     };
 *     port.addEventListener('close', () => {
 *       host.detach(connection);
 *       kernel.closeSession(session);
 *     });
 *     return connection;
 *   });
 * }
 * ```
 */
export function hostOf(server: Host, where = 'transport'): HostPort {
  const host = (server as Partial<Host> | undefined)?.[HOST];
  if (host !== undefined) return host;
  const problem = 'is not an McpServer. Pass what `new McpServer({ … })` returns';
  throw invalidOption(where, 'server', problem);
}

/**
 * Rejects a server with scopes on a transport that can't identify callers: it could only deny their calls.
 * @param where the function that opens the transport, such as `listen`
 * @param remedy what to pass to that function, for the error message
 * @throws {DecorumError} `DECORUM_NO_AUTHORIZATION`
 */
export function requireNoScopes({ scopedMember }: Kernel, where: string, remedy: string): void {
  if (scopedMember !== undefined) throw startupError('DECORUM_NO_AUTHORIZATION', where, scopedMember, remedy);
}

/**
 * Rejects a principal whose subject doesn't identify a caller, or whose scopes or expiry are invalid.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 * @example requirePrincipal({ subject: 'ada', scopes: ['files:write'] }, 'serveTcp');
 */
export function requirePrincipal(principal: Principal | undefined, where: string): void {
  if (principal === undefined) return;
  const { subject, scopes = [], expiresAt }: Partial<Principal> = principal;
  const wrong = (option: string, problem: string) =>
    invalidOption(where, option, `${problem}. Write \`{ subject: 'ada', scopes: ['files:write'] }\``);
  if (typeof subject !== 'string' || subject === '')
    throw wrong('principal.subject', 'is not the id of a user or client');
  if (!Array.isArray(scopes) || !scopes.every(isScope)) throw wrong('principal.scopes', 'is not an array of scopes');
  if (isExpiry(expiresAt)) return;
  const problem = `is ${String(expiresAt)}, but must be in milliseconds since 1970. Multiply the \`exp\` of a token by 1000`;
  throw invalidOption(where, 'principal.expiresAt', problem);
}

/** A server that transports can close when the process ends. `McpServer` is one. */
export interface ClosableHost extends Host {
  /**
   * Closes the server and all its transports.
   * @param options.deadlineMs milliseconds after which calls in flight are cancelled
   */
  close(options?: { readonly deadlineMs?: number }): Promise<void>;
}

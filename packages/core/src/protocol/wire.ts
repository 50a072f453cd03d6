import type { JsonObject } from '@decorum/schema/internal';

import type { AccessCaller } from './access-caller.js';
import type { Effect } from './effects.js';
import type { McpError } from './errors.js';
import type { Frame } from './frame.js';

/** An authenticated caller. */
export interface Principal {
  /** A stable id of the user or client, unique within its issuer. Must not be empty. */
  readonly subject: string;
  /** The authorization server that named the subject. Two principals with different issuers are never the same. */
  readonly issuer?: string | undefined;
  /** The OAuth client that acts for the subject. */
  readonly clientId?: string | undefined;
  /** Whether the caller is a user, a client that acts for itself, or the holder of an API key. */
  readonly kind?: 'user' | 'client' | 'apiKey' | undefined;
  /** The granted scopes, including the scopes that they imply. */
  readonly scopes?: readonly string[];
  /** When the credentials expire, in milliseconds since 1970. */
  readonly expiresAt?: number | undefined;
  /** Further claims from the verifier. */
  readonly claims?: JsonObject;
}

/** Headers of an HTTP request, with lower-case names (as in Node). */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** An argument that clients mirror in a header, for proxies to route by. */
export interface MirroredArgument {
  /** The header name in lower case, such as `mcp-param-region`. */
  readonly header: string;
  /** Path to the argument through nested objects. */
  readonly path: readonly string[];
  readonly type: 'string' | 'integer' | 'boolean';
}

/** Transport details that handlers may see. */
export interface TransportInfo {
  /** `stdio`, `http`, `memory`, or the name of somebody else's transport. */
  readonly kind: 'stdio' | 'http' | 'memory' | (string & {});
  /** HTTP only. Headers with credentials are removed, such as `authorization`, `cookie` and `x-api-key`. */
  readonly headers?: RequestHeaders;
  /** HTTP only: the client's IP address, or the one that a trusted proxy reports. Undefined if it is unknown. */
  readonly remoteAddress?: string | undefined;
  /** HTTP only: the client's port. Undefined if it is unknown, such as behind a proxy. */
  readonly remotePort?: number | undefined;
  /** HTTP only: the HTTP version, such as `1.1` or `2`. Undefined if the host doesn't report it. */
  readonly httpVersion?: string | undefined;
}

/**
 * Decides who may see and use a tool, resource or prompt. Only `true` grants access. If the function throws or rejects,
 * access is denied.
 * @param principal the caller, if authenticated
 * @param transport the transport that the request came over
 * @param caller the client, the revision, the session and the `_meta`: all but the session id is what the client says
 */
export type Access = (
  principal: Principal | undefined,
  transport: TransportInfo,
  caller: AccessCaller,
) => boolean | Promise<boolean>;

/** The requirements for every request, set by a transport that authenticates callers. */
export interface Authorization {
  /** The scopes that every request needs, unless it uses a public member. */
  readonly scopes: readonly string[];
  /**
   * The value of `WWW-Authenticate` for a denied tool call. If it is there, tools publish their security schemes, and a
   * denied call gets a result with this value, unless it is undefined.
   */
  toolChallenge?(
    denial: McpError,
    caller: { readonly principal: Principal | undefined; readonly inSession: boolean },
  ): string | undefined;
  /** The name under which clients request a scope. Defaults to the scope itself. */
  requestedScope?(scope: string): string;
}

/** The subject of a request, as named in its params. */
export interface Subject {
  readonly param: string;
  /** The value as sent: any JSON value. */
  readonly value: unknown;
}

/**
 * The kernel's view of a transport for one message: where to send frames, and what the transport knows about the
 * message.
 */
export interface Wire {
  readonly transport: TransportInfo;
  /** The kind of `transport`. Set if reading `transport` is expensive. */
  readonly kind?: TransportInfo['kind'];
  readonly principal: Principal | undefined;
  /** Set by a transport that authenticates callers. Callers without a principal may then use only public members. */
  readonly authorization?: Authorization | undefined;
  /**
   * The HTTP endpoint, or the stdio or in-memory connection, that the message came over. Stopping and draining apply to
   * all messages of an owner.
   */
  readonly owner: object;
  /**
   * Called when the message has passed the scope check, before any part of it runs. Not called for messages that need
   * no check.
   */
  admitted?(): void;
  /** Sends a frame that belongs to this message, before its response. */
  send(frame: Frame): void;
  /** Whether every response must end soon, so that clients can't subscribe to changes. */
  readonly isBrief?: boolean | undefined;
  /** Whether the client has already disconnected, on transports where each request has its own connection. */
  readonly gone?: boolean;
  /**
   * Registers a callback for when the client disconnects before it gets the response, on transports where each request
   * has its own connection. Only the first callback counts. Not called for requests that are answered synchronously.
   */
  onDisconnect?(callback: () => void): void;
  /** Results of effects of an earlier request, which this one repeats: they don't run again. */
  readonly effects?: Iterable<Effect> | undefined;
  /** The revision that the transport declares (`MCP-Protocol-Version`). */
  readonly declaredVersion?: string | undefined;
  /**
   * Checks the mirrored version.
   * @throws {McpError} `header-mismatch`
   */
  checkVersion?(version: string): void;
  /**
   * Checks the mirrored method and subject.
   * @param subject undefined for methods without a subject
   * @throws {McpError} `header-mismatch`
   */
  checkRouting?(method: string, subject: Subject | undefined): void;
  /**
   * Checks mirrored headers against the arguments.
   * @throws {McpError} `header-mismatch`
   */
  checkArguments?(mirrored: readonly MirroredArgument[], args: JsonObject): void;
  /** Called by `InFlight.keepAlive` while a request is in flight. */
  keepAlive?(): void;
  /** Closes the response stream for now. The client reconnects for the rest after `retryMs`. */
  closeStream?(retryMs: number | undefined): void;
}

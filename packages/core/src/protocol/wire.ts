import type { Frame } from './frame.js';
import type { JsonObject } from './model.js';

/** Who is calling, where authorization has established it. */
export interface Principal {
  /** The stable id of the user or client. */
  readonly subject: string;
  readonly scopes?: readonly string[];
  /** Everything else that the verifier found. */
  readonly claims?: JsonObject;
}

/** Headers of an HTTP request, names in lower case (as Node gives them). */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** An argument that clients repeat in a header, so that what stands between can route by it. */
export interface MirroredArgument {
  /** The header's name in lower case, such as `mcp-param-region`. */
  readonly header: string;
  /** The way to the argument through nested objects. */
  readonly path: readonly string[];
  readonly type: 'string' | 'integer' | 'boolean';
}

/** What a handler may know of the way a message came. */
export interface TransportInfo {
  readonly kind: 'stdio' | 'http' | 'memory';
  /** On HTTP, without those that hold credentials, such as `authorization`, `cookie` and `x-api-key`. */
  readonly headers?: RequestHeaders;
  /** On HTTP: the IP address at the other end, or what a trusted proxy names, as long as it is known. */
  readonly remoteAddress?: string | undefined;
}

/**
 * Who may see and use a tool, resource or prompt. Only `true` admits; a function that throws or rejects refuses.
 * @param principal who is calling, where authorization has established it
 * @param transport how the request came
 */
export type Access = (principal: Principal | undefined, transport: TransportInfo) => boolean | Promise<boolean>;

/** What a request is about, as its params name it. */
export interface Subject {
  readonly param: 'name' | 'uri';
  /** As it was sent: anything that is JSON. */
  readonly value: unknown;
}

/** What the kernel asks of a transport for one message: where its frames go, and what the transport itself says of it. */
export interface Wire {
  readonly transport: TransportInfo;
  readonly principal: Principal | undefined;
  /** The transport it came by: an endpoint, a pipe, a connection. What it carries is stopped and drained together. */
  readonly owner: object;
  /** Sends a frame that belongs to this message, before its response. */
  send(frame: Frame): void;
  /** The sender went away before its request was looked at, where that means cancellation. */
  readonly gone?: boolean;
  /**
   * Calls back once if the sender goes away before it has its response, where that means cancellation. Called only for
   * requests that are not answered at once.
   */
  onDisconnect?(callback: () => void): void;
  /** The revision that the transport itself declares (`MCP-Protocol-Version`). */
  readonly declaredVersion?: string | undefined;
  /**
   * Checks the mirrored version against the message.
   * @throws {McpError} `header-mismatch`
   */
  checkVersion?(version: string): void;
  /**
   * Checks the mirrored method and subject against the message.
   * @param subject undefined for methods that are about nothing in particular
   * @throws {McpError} `header-mismatch`
   */
  checkRouting?(method: string, subject: Subject | undefined): void;
  /**
   * Checks mirrored arguments against the arguments.
   * @throws {McpError} `header-mismatch`
   */
  checkArguments?(mirrored: readonly MirroredArgument[], args: JsonObject): void;
  /** A request of it is still in flight. Called now and then by transports that ask for it: `InFlight.keepAlive`. */
  keepAlive?(): void;
  /** Ends the response stream for now; the client comes back for the rest after `retryMs`. */
  closeStream?(retryMs: number | undefined): void;
}

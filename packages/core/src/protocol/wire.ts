import type { McpError } from './errors.js';
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
  /** On HTTP, without those that are credentials: `authorization`, `proxy-authorization` and `cookie`. */
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

/** What the kernel asks of a transport for one message: where its frames go, and what the carriage knows of it. */
export interface Wire {
  readonly transport: TransportInfo;
  readonly principal: Principal | undefined;
  /** Sends a frame that belongs to this message, before its response. */
  send(frame: string): void;
  /** The message was refused before any handler ran; HTTP chooses its status by this. */
  refuse?(error: McpError): void;
  /** Calls back once if the sender goes away before it has its response, where that means cancellation. */
  onDisconnect?(callback: () => void): void;
  /** The revision that the carriage itself declares (`MCP-Protocol-Version`). */
  readonly declaredVersion?: string | undefined;
  /**
   * Compares what the carriage declares with the message.
   * @throws {McpError} `header-mismatch`
   */
  checkVersion?(version: string): void;
  /**
   * Compares the carriage's copies of method and name with the message.
   * @throws {McpError} `header-mismatch`
   */
  checkRouting?(method: string, params: JsonObject): void;
  /**
   * Compares the carriage's copies of arguments with the arguments.
   * @throws {McpError} `header-mismatch`
   */
  checkArguments?(mirrored: readonly MirroredArgument[], args: JsonObject): void;
  /**
   * Calls back when the transport closes, for what does not end by itself.
   * @returns a function to call when it has ended before; nothing where that makes no difference
   */
  onClosing?(callback: () => void): (() => void) | void;
  /** Ends the response stream for now; the client comes back for the rest after `retryMs`. */
  closeStream?(retryMs: number | undefined): void;
}

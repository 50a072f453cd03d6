import type { TagVisibility } from '../access-caller.js';
import type { Client } from '../client.js';
import type { Frame } from '../frame.js';
import type { JsonRpcNotification, JsonRpcResponse } from '../jsonrpc.js';
import type { LogLevel } from '../model.js';
import type { Principal, TransportInfo } from '../wire.js';

/** The part of a session that must survive its process. It can be serialized as JSON. */
export interface SessionRecord {
  /** The id on the wire, if the transport has one. */
  readonly id?: string | undefined;
  /** The only principal that may use the session. Undefined while the session is anonymous. */
  principal?: Principal | undefined;
  /** Whether the session was anonymous before it got its principal. */
  adopted?: boolean;
  /** The negotiated revision; undefined before the client has sent `initialize`. */
  revision?: string;
  client?: Client;
  /** Whether the client has sent `notifications/initialized`. */
  joined?: boolean;
  /** The level of log messages that the client has set. */
  logLevel?: LogLevel;
  /** The tags that were shown or hidden; undefined if none were. */
  visibility?: TagVisibility | undefined;
  /** URIs of the resources that the client is subscribed to. */
  subscriptions?: readonly string[];
  /** Milliseconds since 1970, like all times of a record. */
  readonly createdAt: number;
  usedAt: number;
  /** Number of times that the record was stored. A store compares it, so that no change is lost. */
  version?: number;
}

/** Where a session comes from: a client that connects, or another process. */
export interface SessionOrigin {
  /** For a new session: its id on the wire, if the transport has one. */
  readonly id?: string | undefined;
  /** For a new session: the only principal that may use it. */
  readonly principal?: Principal | undefined;
  /** The record of a session that another process started. */
  readonly record?: SessionRecord | undefined;
}

/** The transport's end of a session: sends frames to its client, and saves its record. */
export interface SessionLink {
  /** The request that opened the stream for frames that belong to no request, if that is known. */
  readonly transport?: TransportInfo | undefined;
  /**
   * Sends a frame that belongs to no request.
   * @param isOnlyHere whether only this process has the frame. Changes from a bus reach every process
   */
  push(frame: Frame, isOnlyHere?: boolean): void;
  /**
   * Saves the record after a change; undefined if the session lives only in this process.
   * @param change what was changed. It is applied again if another process has changed the record, too
   */
  readonly save?: ((change: (record: SessionRecord) => void) => void | Promise<void>) | undefined;
  /** Part of the ids of questions: the process that waits for the answer. Letters and digits. */
  readonly node?: string | undefined;
  /**
   * Passes on a message that concerns the part of the session in another process: the answer to a question, or a
   * cancellation.
   * @returns whether a process took it
   */
  forward?(message: JsonRpcResponse | JsonRpcNotification): boolean | Promise<boolean>;
}

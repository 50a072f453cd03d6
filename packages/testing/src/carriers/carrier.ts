import type { JsonObject, RequestId } from '@decorum/core';
import type { JsonRpcMessage } from '@decorum/core/transport';

/** Takes what a carrier gets from the server. */
export interface Receiver {
  /** Takes a text: one message, or an array of them. */
  receive(text: string): void;
  /** Takes the reason why no notification can arrive any more. Requests may still be answered. */
  deafen(reason: Error): void;
  /** Takes the reason why the connection is over. Only the first one counts. */
  lose(reason: Error): void;
}

/** Carries messages to one server. */
export interface Carrier {
  /**
   * Sends a message.
   * @param text the message as JSON
   * @returns `finished` if its response has been received, should it have one; `sent` if its response may follow later
   */
  send(text: string, message: JsonRpcMessage): Promise<'finished' | 'sent'>;
  /** Cancels a request by closing its stream. Missing if only a notification can cancel it. */
  abort?(id: RequestId): void;
  /** Whether arguments have to be mirrored in headers, which the carrier learns from the list of tools. */
  readonly mirrors?: boolean;
  /** Keeps the process alive while something is awaited. A client that somebody forgot to close doesn't. */
  hold(isAwaited: boolean): void;
  close(): Promise<void>;
}

/** Opens a carrier. */
export type OpenCarrier = (receiver: Receiver) => Promise<Carrier>;

/** A tool as listed. */
export type ListedTool = JsonObject & { readonly name: string };

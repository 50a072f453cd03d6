import type { JsonObject, RequestId } from '@decorum/core';
import type { JsonRpcMessage } from '@decorum/core/transport';

import { ConnectionError } from '../connection-error.js';

/** Receives messages and events from a carrier. */
export interface Receiver {
  /**
   * Takes one message, or an array of messages, as text or parsed.
   * @param cause the request on whose stream it arrived, if that is known
   */
  receive(received: unknown, cause?: RequestId): void;
  /** Called when no more notifications can arrive. Responses may still arrive. */
  deafen(reason: Error): void;
  /** Called when the connection ends. Only the first reason counts. */
  lose(reason: Error): void;
  /** Called when notifications may have been missed. */
  missed(): void;
  /**
   * Waits for the user on behalf of a request, whose time stands still meanwhile.
   * @param id the request; undefined if nobody waits for a response
   * @throws if nobody waits for the request any more
   */
  signIn(id: RequestId | undefined, credentials: Promise<unknown>): Promise<void>;
  /** Called when the server no longer knows a session. */
  expire(session: string): void;
}

/** Carries messages to one server. */
export interface Carrier {
  /**
   * Sends a message.
   * @param text the message as JSON
   * @param message the message, which may have fields that JSON omits
   * @returns `finished` if no response can follow any more; `sent` if the response may follow later
   */
  send(text: string, message: JsonRpcMessage): Promise<'finished' | 'sent'>;
  /** Cancels a request by closing its stream. Missing if only a notification can cancel requests. */
  abort?(id: RequestId): void;
  /**
   * Forgets a session that the server no longer knows.
   * @returns whether it was still the current one
   */
  forgetSession?(session: string): boolean;
  /** Whether the carrier mirrors arguments in headers. The list of tools tells it which ones. */
  readonly mirrors?: boolean;
  /** Keeps the process alive while a caller is waiting. An idle client doesn't, even if it was never closed. */
  hold(isAwaited: boolean): void;
  close(): Promise<void>;
}

/** Opens a carrier. */
export type OpenCarrier = (receiver: Receiver) => Promise<Carrier>;

/** A tool in a list. */
export type ListedTool = JsonObject & { readonly name: string };

/** A request that the server has refused unread, because it no longer knows the session. It may be sent in another. */
export class SessionRefused extends ConnectionError {
  constructor(
    readonly session: string,
    status: number,
  ) {
    super('session-lost', 'The server no longer knows the session.', { status });
  }
}

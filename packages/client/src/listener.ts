import type { ClientCapabilities, Implementation, ServerCapabilities } from '@decorum/core';
import type { Era } from '@decorum/core/internal';
import type { JsonRpcMessage } from '@decorum/core/transport';

import type { ConnectionError } from './connection-error.js';
import type { Question } from './questions.js';
import type { AskingCall, Notification } from './request.js';

/** The client's description of itself, and what it speaks. */
export interface Identity {
  readonly era: Era;
  readonly revision: string;
  readonly capabilities: ClientCapabilities;
  readonly clientInfo: Implementation;
}

/** Who hears of what happens on a connection. */
export interface Listener {
  /** Answers a question of the server. */
  ask(question: Question, call: AskingCall | undefined, signal: AbortSignal): Promise<object>;
  /** Milliseconds to wait for a response; 0 waits without an end. */
  readonly timeoutMs: number;
  notified?(notification: Notification, call: AskingCall | undefined): void;
  /** Called with each message. */
  framed?(direction: 'sent' | 'received', message: JsonRpcMessage): void;
  /** Called when no more notifications can arrive. */
  deafened?(reason: Error): void;
  /** Called when notifications may have been missed. */
  missed?(): void;
  /** Called when the connection has ended: with the reason, or with undefined if `close` has ended it. */
  ended?(reason: Error | undefined): void;
  /** Called for what is not a message, or answers no request. Without it, that ends the connection. */
  puzzled?(error: ConnectionError): void;
  /**
   * Called when a handler could not answer a question. The server is then not told why. Without it, the server is told.
   */
  failed?(error: Error): void;
  /** Called when a new session has replaced one that the server has forgotten. Without it, sessions are not replaced. */
  renewed?(): Promise<void>;
  /** Whether somebody waits for notifications. */
  readonly isAwaited?: boolean;
}

/** The server's response to `initialize` (MCP, `InitializeResult`). */
export interface InitializeResult {
  readonly protocolVersion: string;
  readonly capabilities: ServerCapabilities;
  readonly serverInfo: Implementation;
  readonly instructions?: string;
}

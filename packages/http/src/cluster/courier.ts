import type { Frame, JsonRpcNotification, JsonRpcResponse } from '@decorum/core/transport';

import type { KeptSession } from '../sessions/session-store.js';

/** What one process tells another about a session. It can be serialized as JSON. */
export type Letter = { readonly session: string } & (
  | {
      /** The answer to a question, or a cancellation. */
      readonly kind: 'message';
      readonly message: JsonRpcResponse | JsonRpcNotification;
    }
  | {
      /** The record was stored again. */
      readonly kind: 'changed';
      readonly record: KeptSession;
    }
  /** The client has ended the session. */
  | { readonly kind: 'ended' }
  | {
      /** A client resumes a stream elsewhere. A GET stream moves there; of a request's stream, only its life is asked. */
      readonly kind: 'adopted';
      readonly stream: string;
    }
  | {
      /** A notification for a GET stream. */
      readonly kind: 'push';
      readonly frame: Frame;
    }
);

/**
 * Carries what must reach the process that has the live part of a session: its open streams, and the requests that run.
 * Letters may be lost when a process ends or the engine fails.
 */
export interface Courier {
  /** Identifies this process among all that ever were: up to 16 letters and digits. */
  readonly node: string;
  /**
   * Sends a letter to another process, or to all others. Letters and changes that one process sends arrive in order.
   * @param to the process
   * @returns whether one of them took it. False only if it didn't, or if the process is dead
   * @throws if the engine fails, or if a process that is alive doesn't answer
   */
  send(letter: Letter, to?: string): boolean | Promise<boolean>;
  /**
   * Sends a letter to all others that none of them needs to take. If implemented, it is called instead of `send`, whose
   * result may take long if nobody takes the letter.
   * @returns once the letter arrives everywhere before what any process sends from now on
   */
  tell?(letter: Letter): void | Promise<void>;
  /**
   * Receives the letters for this process.
   * @param take returns whether it took the letter
   * @returns a function that stops receiving
   */
  receive(take: (letter: Letter) => boolean | Promise<boolean>): (() => void) | Promise<() => void>;
}

import type { Socket } from 'node:net';

import type { Carrier } from './carrier.js';
import type { Refusal } from './refusal.js';
import type { HttpSession } from './sessions.js';

/** An exchange, as far as others can end it. */
export interface RunningExchange {
  readonly carrier: Carrier;
  readonly session: HttpSession | undefined;
  /** Its connection has closed. */
  disconnected(): void;
  /** The endpoint is closing: what would go on for ever ends now. */
  endSoon(): void;
  /** Answers before the kernel does. */
  abandon(refusal: Refusal): void;
}

/** The exchanges under way. */
export class Running {
  readonly exchanges = new Set<RunningExchange>();
  /** The connections that are watched. */
  readonly watched = new WeakSet<Socket>();
  /** How requests are answered once the endpoint closes. */
  closing: Refusal | undefined;
  /** To be called when an exchange has ended. */
  onEnd: (() => void) | undefined;

  /** Tells exchanges when their connection closes: one listener for all that a connection ever carries. */
  watch(socket: Socket): void {
    this.watched.add(socket);
    socket.once('close', () => {
      for (const exchange of this.exchanges) if (exchange.carrier.socket === socket) exchange.disconnected();
    });
  }

  /** Gives up the exchanges of a session, or all. */
  abandon(refusal: Refusal, session?: HttpSession): void {
    for (const exchange of this.exchanges) {
      if (session === undefined || exchange.session === session) exchange.abandon(refusal);
    }
  }

  /** Waits until no exchange is under way, at most `deadlineMs` milliseconds. */
  async drain(deadlineMs: number): Promise<void> {
    for (const exchange of this.exchanges) exchange.endSoon();
    if (this.exchanges.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, deadlineMs);
      this.onEnd = () => {
        if (this.exchanges.size > 0) return;
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

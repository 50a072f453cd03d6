import type { Catalog, Change } from './lists.js';
import type { Written } from './message.js';
import type { Program } from './program.js';

/** What is printed of a program. */
export interface About {
  readonly catalog: Catalog | undefined;
  /** Where clients connect. */
  readonly place: string;
  /** The address of the page that shows the program's cards, if it has any. */
  readonly cards?: string | undefined;
}

/** The result of moving all clients to another program. */
export interface Migration {
  readonly changes: readonly Change[];
  /** The number of clients that were notified of changes. */
  readonly notified: number;
  /** The address of the page that shows cards, if this is the first program with cards. */
  readonly cards?: string | undefined;
}

/** The side of the relay that clients connect to, over one transport. They stay connected while programs come and go. */
export interface Frontend {
  /** The port that clients use, if there is one. */
  readonly port: number | undefined;
  /** Resolves when the client over stdio has disconnected; never resolves over HTTP. */
  readonly disconnected: Promise<void>;
  /** Lets clients connect where the program asked to serve. */
  open(program: Program | undefined): Promise<void>;
  /** Handles a message, or a batch, that the program has written to stdout. */
  receive(program: Program, written: Written): void;
  /**
   * Moves all clients to a program.
   * @param activate sends new requests to `next`; called when its sessions are ready, before clients are notified
   */
  migrate(next: Program, activate: () => void): Promise<Migration>;
  /** Fails the requests that the program has in flight. */
  fail(program: Program, problem: string): void;
  /** Resolves when the program has no requests in flight. */
  idle(program: Program): Promise<void>;
  /** Describes a program. */
  about(program: Program): Promise<About>;
  /** Sends a log message of level `error` to all sessions. */
  log(text: string): void;
  /** Waits up to `drainMs` for requests in flight, then disconnects the clients. */
  close(drainMs: number): Promise<void>;
}

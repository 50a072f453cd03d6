import type { Change, Lists } from './lists.js';
import type { Written } from './message.js';
import type { Program } from './program.js';

/** A program as the relay's clients see it. */
export interface About {
  readonly name: string | undefined;
  readonly version: string | undefined;
  readonly lists: Lists | undefined;
  /** Where clients connect. */
  readonly place: string;
}

/** The result of moving all clients to another program. */
export interface Adoption {
  readonly changes: readonly Change[];
  /** The number of clients that were notified of changes. */
  readonly told: number;
}

/** The clients of the relay, over one transport. They stay connected while programs come and go. */
export interface Front {
  /** The port that clients use, if there is one. */
  readonly port: number | undefined;
  /** Resolves when the client over stdio has disconnected; never resolves over HTTP. */
  readonly left: Promise<void>;
  /** Lets clients connect where the program asked to serve. */
  open(program: Program | undefined): Promise<void>;
  /** Handles a message, or a batch, that the program has written to stdout. */
  hear(program: Program, written: Written): void;
  /**
   * Moves all clients to a program.
   * @param switchOver sends new requests to `next`; called when its sessions are ready, before clients are notified
   */
  adopt(next: Program, switchOver: () => void): Promise<Adoption>;
  /** Fails the requests that the program had in flight. */
  lost(program: Program, problem: string): void;
  /** Resolves when the program has no requests in flight. */
  idle(program: Program): Promise<void>;
  /** Describes a program. */
  about(program: Program): Promise<About>;
  /** Sends a log message of level `error` to all sessions. */
  log(text: string): void;
  /** Waits up to `drainMs` for requests in flight, then disconnects the clients. */
  close(drainMs: number): Promise<void>;
}

/** The programs, as a front sees them. */
export interface Stage {
  /** The program that serves new requests. */
  readonly current: Program | undefined;
  /** Resolves with the current program, once there is one. */
  serving(): Promise<Program>;
  /** Why a method, or anything that isn't MCP, can't be called now; undefined if it can. */
  refusal(method?: string): string | undefined;
}

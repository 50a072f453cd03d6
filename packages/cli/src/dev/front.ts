import type { Change, Lists } from './lists.js';
import type { Json } from './message.js';
import type { Program } from './program.js';

/** What the relay's clients see of a program. */
export interface About {
  readonly name: string | undefined;
  readonly version: string | undefined;
  readonly lists: Lists | undefined;
  /** Where clients connect. */
  readonly place: string;
}

/** What moving all clients to another program has changed. */
export interface Adoption {
  readonly changes: readonly Change[];
  /** Clients that were told of changes. */
  readonly told: number;
}

/** The clients of the relay, over one transport. They stay connected while programs come and go. */
export interface Front {
  /** The port that clients use, if there is one. */
  readonly port: number | undefined;
  /** Resolves when the only client has left. */
  readonly left: Promise<void>;
  /** Lets clients connect where the program wanted to serve. */
  open(program: Program | undefined): Promise<void>;
  /** Takes a message, or a batch, that the program has written to its pipe. */
  hear(program: Program, message: Json | readonly Json[]): void;
  /**
   * Moves all clients to a program.
   * @param switchOver makes it the one that serves new requests: its sessions are ready, and no client has been told
   */
  adopt(next: Program, switchOver: () => void): Promise<Adoption>;
  /** Fails what the program had in flight. */
  lost(program: Program, problem: string): void;
  /** Resolves when the program has nothing in flight. */
  idle(program: Program): Promise<void>;
  /** Describes a program. */
  about(program: Program): Promise<About>;
  /** Sends a log message of level `error` to all sessions. */
  log(text: string): void;
  /** Takes no more requests, waits for those in flight, and ends. */
  close(drainMs: number): Promise<void>;
}

/** What the clients need to know of the programs. */
export interface Stage {
  /** The program that serves new requests. */
  readonly current: Program | undefined;
  /** Resolves when a program serves. */
  serving(): Promise<Program>;
  /** Why a method can't be called now; undefined if it can. */
  refusal(method: string): string | undefined;
}

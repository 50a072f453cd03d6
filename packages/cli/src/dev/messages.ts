/** Tells a warm process how to run the program. */
export interface StartMessage {
  readonly type: 'start';
  /** How clients reach the program. */
  readonly transport: 'stdio' | 'http';
  /** The port that clients use, if the relay already listens. */
  readonly publicPort: number | undefined;
  /** The port for a program that doesn't name one. */
  readonly defaultPort: number;
  /** Arguments of the program. */
  readonly args: readonly string[];
  /** `host:port` of the debugger; undefined for none. */
  readonly inspect: string | undefined;
  /** A server to run instead of the program. */
  readonly standIn: StandIn | undefined;
}

/** A server without members, which replaces a program that doesn't start. */
export interface StandIn {
  readonly name: string;
  readonly version: string;
}

/** The address that a program asked to listen on. */
export interface Asked {
  readonly port: number;
  readonly host: string | undefined;
}

/** A message from a child process to the relay. */
export type ChildMessage =
  | { readonly type: 'warm' }
  | { readonly type: 'files'; readonly urls: readonly string[] }
  /** The program has read a file that a card may be made of. */
  | { readonly type: 'read'; readonly file: string }
  | { readonly type: 'packages'; readonly names: readonly string[] }
  | { readonly type: 'serving'; readonly port?: number; readonly asked?: Asked }
  | { readonly type: 'waiting'; readonly problem: string }
  /** The program waits for something that only one process can have, such as the folder of a store. */
  | { readonly type: 'blocked' }
  /** The program doesn't start. */
  | { readonly type: 'failed'; readonly problem: string };

/** A message from the relay to a child process. */
export type ParentMessage =
  | StartMessage
  /** Opens the debugger, or closes it if there is no address. */
  | { readonly type: 'inspect'; readonly address: string | undefined };

/** What a program should do with the warm process that it gets. */
export interface StartMessage {
  readonly type: 'start';
  /** How clients reach the program. */
  readonly transport: 'stdio' | 'http';
  /** The port that clients use, if the relay listens already. */
  readonly publicPort: number | undefined;
  /** The port to use for a program that names none. */
  readonly defaultPort: number;
  /** Arguments of the program. */
  readonly args: readonly string[];
  /** `host:port` of the debugger; undefined for none. */
  readonly inspect: string | undefined;
  /** Serves a server without members instead of the program. */
  readonly standIn: StandIn | undefined;
}

/** A server without members, in place of a program that doesn't start. */
export interface StandIn {
  readonly name: string;
  readonly version: string;
}

/** Where a program wanted to listen. */
export interface Asked {
  readonly port: number;
  readonly host: string | undefined;
}

/** Why a program doesn't start. */
export interface Failure {
  readonly message: string;
  /** With positions in the sources. */
  readonly stack: string;
  /** The code of a `DecorumError` or of a system error. */
  readonly code: string | undefined;
}

/** What a child tells the relay. */
export type ChildMessage =
  | { readonly type: 'warm' }
  | { readonly type: 'files'; readonly urls: readonly string[] }
  | { readonly type: 'packages'; readonly names: readonly string[] }
  | { readonly type: 'serving'; readonly port?: number; readonly asked?: Asked }
  | { readonly type: 'also'; readonly port: number; readonly asked: Asked }
  | { readonly type: 'waiting'; readonly problem: string }
  | { readonly type: 'failed'; readonly failure: Failure };

/** What the relay tells a child. */
export type ParentMessage =
  | StartMessage
  /** Opens the debugger, or closes it. */
  | { readonly type: 'inspect'; readonly address: string | undefined };

import { BEGINNING, type ChainEnd } from './chain.js';

/** Where lines go. */
export interface Sink {
  /** Names it in errors. */
  readonly name: string;
  /** Milliseconds to wait for more lines before they are written; undefined to write each at once. */
  readonly delayMs: number | undefined;
  /** The most lines to write at a time. */
  readonly maxLines: number;
  /**
   * Takes what it needs.
   * @returns where the chain goes on
   */
  open(): Promise<ChainEnd>;
  /** Writes lines. If this throws or rejects, none of them counts as written. */
  write(lines: readonly string[]): void | Promise<void>;
  /** Frees what it has taken. */
  close(): Promise<void>;
}

/** Passes lines to a function of the user, one after the other. */
export class FunctionSink implements Sink {
  readonly name = 'the function `write`';
  readonly delayMs = undefined;
  readonly maxLines = 1;

  constructor(
    private readonly pass: (line: string) => void | Promise<void>,
    private readonly after: string | undefined,
  ) {}

  async open(): Promise<ChainEnd> {
    return this.after === undefined ? BEGINNING : { ...BEGINNING, mac: this.after };
  }

  write([line = '']: readonly string[]): void | Promise<void> {
    return this.pass(line);
  }

  async close(): Promise<void> {
    // the function is the user's
  }
}

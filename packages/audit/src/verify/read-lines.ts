import { createReadStream } from 'node:fs';

/** Where a line stands. */
export interface AuditPlace {
  readonly file: string;
  /** Counted from 1. */
  readonly line: number;
}

/** Bytes up to a line break, or up to the end of a file. */
export interface Piece extends AuditPlace {
  /** Without the line break. */
  readonly bytes: Buffer;
  /** Whether a line break follows. */
  readonly isEnded: boolean;
}

/** Bytes that no line of a log has. */
const MAX_BYTES = 4 * 2 ** 20;

const LINE_FEED = 0x0a;

/**
 * Reads files as one text. Only line feeds separate lines, so no other byte can hide.
 * @throws {Error} if a file can't be read, or has lines of more than 4 MiB
 */
export async function* readPieces(files: readonly string[]): AsyncGenerator<Piece> {
  for (const file of files) yield* piecesOf(file);
}

async function* piecesOf(file: string): AsyncGenerator<Piece> {
  let line = 1;
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let from = 0;
    for (let to = bytes.indexOf(LINE_FEED); to !== -1; to = bytes.indexOf(LINE_FEED, from)) {
      yield { file, line, bytes: bytes.subarray(from, to), isEnded: true };
      line += 1;
      from = to + 1;
    }
    rest = bytes.subarray(from);
    if (rest.length > MAX_BYTES)
      throw new Error(`${file}:${line} has more than ${MAX_BYTES} bytes. It is not an audit log.`);
  }
  if (rest.length > 0) yield { file, line, bytes: rest, isEnded: false };
}

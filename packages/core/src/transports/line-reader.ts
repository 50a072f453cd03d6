import { isUtf8 } from 'node:buffer';

import { McpError } from '../protocol/errors.js';

/** Takes what a `LineReader` finds. */
export interface LineSink {
  /** A line with something in it, without its end. */
  line(text: string): void;
  /** A line that cannot be read: `parse-error` where it is not UTF-8, `invalid-request` where it is too long. */
  unreadable(error: McpError): void;
}

const NEWLINE = 0x0a;
const EMPTY = Buffer.alloc(0);
/** Bytes of the buffer for incomplete lines that are kept when a line is done. */
const KEEP_BYTES = 65_536;

/**
 * Splits a stream of bytes into lines. Whole chunks are decoded at once; lines are looked at one by one only where a
 * chunk is not UTF-8 or longer than a line may be. What does not end in the chunk is kept, up to the limit.
 */
export class LineReader {
  private kept = EMPTY;
  private length = 0;
  /** The rest of a line that is too long goes by. */
  private skipping = false;

  /** @param limit bytes that a line may have */
  constructor(
    private readonly limit: number,
    private readonly sink: LineSink,
  ) {}

  /** Takes the next bytes. */
  feed(chunk: Buffer): void {
    let start = 0;
    if (this.length > 0 || this.skipping) {
      const end = chunk.indexOf(NEWLINE);
      if (end === -1) return this.keep(chunk);
      this.keep(chunk.subarray(0, end));
      this.end();
      start = end + 1;
    }
    const last = chunk.lastIndexOf(NEWLINE);
    if (last >= start) this.split(chunk.subarray(start, last));
    if (last + 1 < chunk.length) this.keep(chunk.subarray(last + 1));
  }

  /** The line that is under way is complete. */
  end(): void {
    const line = this.kept.subarray(0, this.length);
    this.length = 0;
    this.skipping = false;
    // of a line that was too long nothing is kept, and an empty line is none
    this.take(line);
    if (this.kept.length > KEEP_BYTES) this.kept = EMPTY;
  }

  private split(lines: Buffer): void {
    if (lines.length <= this.limit && isUtf8(lines)) {
      const text = lines.toString();
      let start = 0;
      for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
        this.give(text.slice(start, end));
        start = end + 1;
      }
      return this.give(text.slice(start));
    }
    let start = 0;
    for (let end = lines.indexOf(NEWLINE); end !== -1; end = lines.indexOf(NEWLINE, start)) {
      this.take(lines.subarray(start, end));
      start = end + 1;
    }
    this.take(lines.subarray(start));
  }

  private take(line: Buffer): void {
    if (line.length > this.limit) this.refuseLength();
    else if (isUtf8(line)) this.give(line.toString());
    else this.sink.unreadable(new McpError('parse-error', 'The message is not UTF-8.'));
  }

  private give(text: string): void {
    // nearly every line begins a message: no need to look for other characters
    if (text.startsWith('{') || text.trim() !== '') this.sink.line(text);
  }

  private keep(bytes: Buffer): void {
    if (this.skipping) return;
    const length = this.length + bytes.length;
    if (length > this.limit) {
      this.kept = EMPTY;
      this.length = 0;
      this.skipping = true;
      return this.refuseLength();
    }
    if (length > this.kept.length) {
      const grown = Buffer.allocUnsafe(Math.max(length, 2 * this.kept.length));
      this.kept.copy(grown, 0, 0, this.length);
      this.kept = grown;
    }
    bytes.copy(this.kept, this.length);
    this.length = length;
  }

  private refuseLength(): void {
    this.sink.unreadable(new McpError('invalid-request', `The message is longer than ${this.limit} bytes.`));
  }
}

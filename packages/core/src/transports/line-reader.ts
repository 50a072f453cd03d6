import { isUtf8 } from 'node:buffer';

import { McpError } from '../protocol/errors.js';
import { McpLimitError } from '../protocol/limits.js';

/** Receives the lines that a `LineReader` reads. */
export interface LineSink {
  /** A non-empty line, without its newline. */
  line(text: string): void;
  /** An unreadable line: `parse-error` if it is not UTF-8, `invalid-request` if it is too long. */
  unreadable(error: McpError): void;
}

const NEWLINE = 0x0a;
const EMPTY = Buffer.alloc(0);
/** A buffer for incomplete lines is released after the line if the buffer is larger than this. */
const MAX_IDLE_BYTES = 65_536;

/**
 * Splits a stream of bytes into lines. A chunk is normally decoded as a whole. Its lines are checked one by one only if
 * the chunk is not UTF-8 or is longer than the limit. An incomplete line is buffered, up to the limit.
 */
export class LineReader {
  private buffer = EMPTY;
  private length = 0;
  /** Whether to skip the rest of a line that is too long. */
  private skipping = false;

  /** @param limit maximum bytes per line */
  constructor(
    private readonly limit: number,
    private readonly sink: LineSink,
  ) {}

  /** Processes the next bytes. */
  feed(chunk: Buffer): void {
    let start = 0;
    if (this.length > 0 || this.skipping) {
      const end = chunk.indexOf(NEWLINE);
      if (end === -1) return this.append(chunk);
      this.append(chunk.subarray(0, end));
      this.end();
      start = end + 1;
    }
    const last = chunk.lastIndexOf(NEWLINE);
    if (last >= start) this.split(chunk.subarray(start, last));
    if (last + 1 < chunk.length) this.append(chunk.subarray(last + 1));
  }

  /** Completes the buffered line. */
  end(): void {
    const line = this.buffer.subarray(0, this.length);
    this.length = 0;
    this.skipping = false;
    // after a line that was too long, the buffer is empty, and empty lines are ignored
    this.decode(line);
    if (this.buffer.length > MAX_IDLE_BYTES) this.buffer = EMPTY;
  }

  private split(lines: Buffer): void {
    if (lines.length <= this.limit && isUtf8(lines)) {
      const text = lines.toString();
      let start = 0;
      for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
        this.emit(text.slice(start, end));
        start = end + 1;
      }
      return this.emit(text.slice(start));
    }
    let start = 0;
    for (let end = lines.indexOf(NEWLINE); end !== -1; end = lines.indexOf(NEWLINE, start)) {
      this.decode(lines.subarray(start, end));
      start = end + 1;
    }
    this.decode(lines.subarray(start));
  }

  private decode(line: Buffer): void {
    if (line.length > this.limit) this.rejectLength();
    else if (isUtf8(line)) this.emit(line.toString());
    else this.sink.unreadable(new McpError('parse-error', 'The message is not UTF-8.'));
  }

  private emit(text: string): void {
    // fast path: almost every line is a JSON object
    if (text.startsWith('{') || text.trim() !== '') this.sink.line(text);
  }

  private append(bytes: Buffer): void {
    if (this.skipping) return;
    const length = this.length + bytes.length;
    if (length > this.limit) {
      this.buffer = EMPTY;
      this.length = 0;
      this.skipping = true;
      return this.rejectLength();
    }
    if (length > this.buffer.length) {
      const grown = Buffer.allocUnsafe(Math.max(length, 2 * this.buffer.length));
      this.buffer.copy(grown, 0, 0, this.length);
      this.buffer = grown;
    }
    bytes.copy(this.buffer, this.length);
    this.length = length;
  }

  private rejectLength(): void {
    this.sink.unreadable(new McpLimitError('maxMessageBytes', `The message is longer than ${this.limit} bytes.`));
  }
}

import type { Readable } from 'node:stream';

/** What happens to lines. */
export interface LineTaker {
  take(line: string): void;
  /** Cap on the characters of a line. */
  readonly maxLength: number;
  /** Called for each line that is longer, which is dropped. */
  tooLong(): void;
}

/** Reads a stream line by line. Skips empty lines. */
export function readLines(stream: Readable, { take, maxLength, tooLong }: LineTaker): void {
  let rest = '';
  let isDropping = false;
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = chunk.split('\n');
    for (const [index, part] of lines.entries()) {
      if (!isDropping) rest += part;
      if (!isDropping && rest.length > maxLength) {
        tooLong();
        [rest, isDropping] = ['', true];
      }
      if (index === lines.length - 1) break;
      const line = rest;
      [rest, isDropping] = ['', false];
      if (line.trim() !== '') take(line);
    }
  });
}

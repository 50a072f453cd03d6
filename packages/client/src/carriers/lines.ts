import type { Readable } from 'node:stream';

/** Reads a stream line by line. Skips empty lines. */
export function readLines(stream: Readable, take: (line: string) => void): void {
  let rest = '';
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() as string;
    for (const line of lines) if (line.trim() !== '') take(line);
  });
}

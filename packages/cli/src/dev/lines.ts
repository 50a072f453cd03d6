import type { Readable } from 'node:stream';

/** Calls `see` for each line of a UTF-8 stream, including a last line without a newline. */
export function lines(stream: Readable, see: (line: string) => void): void {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    const parts = chunk.split('\n');
    parts[0] = rest + (parts[0] as string);
    rest = parts.pop() as string;
    for (const part of parts) see(part.endsWith('\r') ? part.slice(0, -1) : part);
  });
  stream.on('end', () => {
    if (rest !== '') see(rest);
    rest = '';
  });
}

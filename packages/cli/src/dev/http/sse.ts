import type { Readable } from 'node:stream';

/** An event of a stream (WHATWG HTML, "Server-sent events"), or a comment. */
export interface ServerEvent {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly data: string | undefined;
  /** Other lines: comments and `retry`. */
  readonly rest: readonly string[];
}

function eventOf(block: string): ServerEvent {
  const event: { id?: string; event?: string; data: string[]; rest: string[] } = { data: [], rest: [] };
  for (const line of block.split(/\r\n|\n|\r/)) {
    const colon = line.indexOf(':');
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + (line[colon + 1] === ' ' ? 2 : 1));
    if (name === 'data') event.data.push(value);
    else if (name === 'id' || name === 'event') event[name] = value;
    else event.rest.push(line);
  }
  const { id, data, rest } = event;
  return { id, event: event.event, data: data.length > 0 ? data.join('\n') : undefined, rest };
}

/** Serializes an event. */
export function writeEvent({ id, event, data, rest }: ServerEvent): string {
  const lines = [...rest];
  if (event !== undefined) lines.push(`event: ${event}`);
  if (id !== undefined) lines.push(`id: ${id}`);
  if (data !== undefined) lines.push(...data.split('\n').map((line) => `data: ${line}`));
  return `${lines.join('\n')}\n\n`;
}

/** An event that carries a message. */
export const messageEvent = (message: object): string => `event: message\ndata: ${JSON.stringify(message)}\n\n`;

const END = /\r\n\r\n|\n\n|\r\r/;

/** Calls `see` for each event of a stream as it arrives. */
export function readEvents(stream: Readable, see: (event: ServerEvent) => void): void {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    rest += chunk;
    // most chunks of a long event don't end it
    if (!END.test(chunk.length < rest.length ? rest.slice(-chunk.length - 3) : rest)) return;
    const blocks = rest.split(END);
    rest = blocks.pop() as string;
    for (const block of blocks) see(eventOf(block));
  });
}

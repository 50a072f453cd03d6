import type { IncomingMessage } from 'node:http';

import { tooLarge } from './http-request.js';

/** One server-sent event (https://html.spec.whatwg.org/#server-sent-events). */
export interface StreamEvent {
  /** The `event` field. */
  readonly name?: string;
  readonly id?: string;
  readonly data?: string;
  /** Milliseconds to wait before reconnecting. */
  readonly retry?: number;
}

function parse(block: string): StreamEvent {
  const event: { name?: string; id?: string; data?: string; retry?: number } = {};
  for (const line of block.split('\n')) {
    const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/.exec(line) ?? [];
    if (name === 'event') event.name = value;
    // the specification ignores ids with NUL; others like it could not be sent back in a header
    if (name === 'id' && !/[^\t\x20-\x7e\x80-\xff]/.test(value)) event.id = value;
    if (name === 'data') event.data = event.data === undefined ? value : `${event.data}\n${value}`;
    if (name === 'retry' && /^\d+$/.test(value)) event.retry = Number(value);
  }
  return event;
}

/**
 * Yields the events of a stream until it ends. Throws if the connection breaks.
 * @param maxLength cap on the characters of an event
 * @throws {ConnectionError} `too-large`
 */
export async function* eventsOf(response: IncomingMessage, maxLength: number): AsyncGenerator<StreamEvent, void, void> {
  // each chunk is looked at once: a server may send an event in very many
  let block = '';
  let isLineStart = true;
  let endsInReturn = false;
  for await (const chunk of response.setEncoding('utf8')) {
    const text = chunk as string;
    // a carriage return at the end of the last chunk was half of a line break
    const own = endsInReturn && text.startsWith('\n') ? text.slice(1) : text;
    endsInReturn = text.endsWith('\r') || (endsInReturn && text === '');
    const [first = '', ...lines] = own.replaceAll(/\r\n?/g, '\n').split('\n');
    block += first;
    isLineStart &&= first === '';
    for (const line of lines) {
      if (block.length > maxLength) throw tooLarge(maxLength);
      if (isLineStart) {
        yield parse(block);
        block = '';
      } else block += '\n';
      block += line;
      isLineStart = line === '';
    }
    if (block.length > maxLength) throw tooLarge(maxLength);
  }
}

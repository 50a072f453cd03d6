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
    if (name === 'id') event.id = value;
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
  let rest = '';
  for await (const chunk of response.setEncoding('utf8')) {
    const text = rest + (chunk as string);
    // a carriage return at the end may be half of a line break
    const whole = text.endsWith('\r') ? text.length - 1 : text.length;
    const blocks = text.slice(0, whole).replaceAll(/\r\n?/g, '\n').split('\n\n');
    rest = (blocks.pop() as string) + text.slice(whole);
    if (rest.length > maxLength || blocks.some((block) => block.length > maxLength)) throw tooLarge(maxLength);
    for (const block of blocks) yield parse(block);
  }
}

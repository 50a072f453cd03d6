/** A server-sent event. */
export interface SseEvent {
  readonly id?: string;
  readonly data?: string;
  readonly retry?: string;
}

/** Splits an event stream into events (https://html.spec.whatwg.org/#server-sent-events). */
export class SseReader {
  private rest = '';

  /** The events that this chunk completes. */
  feed(chunk: string): SseEvent[] {
    const blocks = (this.rest + chunk).split('\n\n');
    this.rest = blocks.pop() ?? '';
    return blocks.map((block) => Object.fromEntries(block.split('\n').map(fieldOf)) as SseEvent);
  }
}

function fieldOf(line: string): [name: string, value: string] {
  const colon = line.indexOf(':');
  // a line that starts with a colon is a comment
  return [colon === 0 ? 'comment' : line.slice(0, colon), line.slice(colon + 1).trimStart()];
}

import type { Fields } from './messages.js';
import { afterwards } from './fixture.js';

export interface ServerEvent {
  readonly id?: string;
  readonly event?: string;
  readonly retry?: string;
  readonly comment?: string;
  readonly data?: string;
  /** The data, parsed as a message. */
  readonly message?: { id?: unknown; method?: string; params?: Record<string, unknown>; result?: unknown };
}

function parse(block: string): ServerEvent {
  const event: Record<string, unknown> = {};
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':');
    event[colon === 0 ? 'comment' : line.slice(0, colon)] = line.slice(colon + 1).trimStart();
  }
  if (event['data'] && event['event'] !== 'endpoint') event['message'] = JSON.parse(event['data'] as string);
  return event;
}

/** Called with each message of a response that a client has registered here. It throws if the message is invalid. */
export const inspectors = new WeakMap<Response, (message: unknown) => void>();

/** Reads an event stream one event at a time. */
export class EventReader {
  private readonly reader;
  private readonly decoder = new TextDecoder();
  private text = '';
  ended = false;

  constructor(readonly response: Response) {
    if (!response.body) throw new Error('no body');
    this.reader = response.body.getReader();
    afterwards(() => this.cancel());
  }

  /** Returns the next event, or undefined at the end. */
  async next(): Promise<ServerEvent | undefined> {
    for (;;) {
      const end = this.text.indexOf('\n\n');
      if (end !== -1) {
        const block = this.text.slice(0, end);
        this.text = this.text.slice(end + 2);
        const event = parse(block);
        if (event.message) inspectors.get(this.response)?.(event.message);
        return event;
      }
      const { done, value } = await this.reader.read();
      if (done) {
        this.ended = true;
        return undefined;
      }
      this.text += this.decoder.decode(value, { stream: true });
    }
  }

  /** Returns the next message, skipping comments and priming events. */
  async message(): Promise<ServerEvent> {
    for (;;) {
      const event = await this.next();
      if (event === undefined) throw new Error('the stream has ended');
      if (event.message) return event;
    }
  }

  /** Returns all remaining events. */
  async rest(): Promise<ServerEvent[]> {
    const events: ServerEvent[] = [];
    for (let event = await this.next(); event !== undefined; event = await this.next()) events.push(event);
    return events;
  }

  async cancel(): Promise<void> {
    await this.reader.cancel().catch(() => {});
  }
}

/**
 * Waits until the endpoint has swept idle sessions at least once. It sweeps them after it has sent the keep-alive
 * comments.
 * @param open opens a stream
 */
export async function nextSweep(open: () => Promise<EventReader>): Promise<void> {
  const reader = await open();
  for (let event = await reader.next(); event?.comment === undefined; event = await reader.next()) {
    if (event === undefined) throw new Error('the stream has ended');
  }
  await reader.cancel();
}

/** Opens a GET stream. */
export async function getStream(url: string, headers: Fields): Promise<EventReader> {
  const response = await fetch(url, { headers: { accept: 'text/event-stream', ...headers } });
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  return new EventReader(response);
}

/** An event of a stream, as stored for a client that reconnects. */
export interface StoredEvent {
  /** Position in the stream, starting at 1. The event at 0 is never sent: it has the id of the stream's request. */
  readonly sequence: number;
  /** The JSON-RPC message. */
  readonly frame: string;
}

/** Consecutive events of one stream that were sent together. */
export interface EventBatch {
  /** Position of the first event. */
  readonly first: number;
  /** Number of events. */
  readonly count: number;
  /** The events in wire format. `eventsOf` parses them. */
  readonly text: string;
}

/**
 * Stores the events of streams for clients that lose their connection. A key is `session/stream`: it names one stream
 * of one session and can't be guessed. On a shared store, clients can reconnect to another process.
 */
export interface EventStore {
  /**
   * Stores one event. Called in sequence order.
   * @returns false, and stores nothing, if the stream already has an event at this position or a later one: another
   *   process has continued the stream
   */
  append(key: string, event: StoredEvent): boolean | void | Promise<boolean | void>;
  /** Stores several events at once: a handler may send thousands. If implemented, it is called instead of `append`. */
  appendBatch?(key: string, batch: EventBatch): boolean | void | Promise<boolean | void>;
  /**
   * Returns stored events after position `after`, in order. Returns an empty array if there are none, and undefined if
   * the stream is unknown.
   * @param limit number of events after which to stop. The endpoint asks for more once it has sent these. A store may
   * ignore the limit, but then a slow reader keeps the whole array in memory.
   */
  read(
    key: string,
    after: number,
    limit?: number,
  ): readonly StoredEvent[] | undefined | Promise<readonly StoredEvent[] | undefined>;
}

const DATA = 'data: ';

/**
 * Splits a batch into its events.
 * @example eventsOf({ first: 7, count: 1, text: 'data: {"id":1}' }) // [{ sequence: 7, frame: '{"id":1}' }]
 */
export function eventsOf({ first, text }: EventBatch): StoredEvent[] {
  // not a regular expression, which would overflow the stack on an event of 16 MiB
  const lines = text.split('\n').filter((line) => line.startsWith(DATA) && line.length > DATA.length);
  return lines.map((line, index) => ({ sequence: first + index, frame: line.slice(DATA.length) }));
}

/** A batch with one event. */
export const batchOf = ({ sequence, frame }: StoredEvent): EventBatch => ({
  first: sequence,
  count: 1,
  text: `${DATA}${frame}`,
});

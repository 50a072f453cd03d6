import type { EventLog } from './event-log.js';
import type { Sink } from '../endpoint/http-context.js';
import { CatchUp, type CatchUpSource, PAGE } from './catch-up.js';
import { EventStream } from './stream.js';
import type { StreamParts } from './stream-parts.js';

/**
 * A GET stream in place of one that this process doesn't have, because another process had it or because it was given
 * up. It starts with the stored events of the earlier stream. Its own events get ids of their own: the other process may
 * still store events of the earlier stream.
 */
export class ContinuedStream extends EventStream {
  private hasBegun = false;

  /** @param earlier the events of the earlier stream */
  constructor(
    parts: StreamParts,
    log: EventLog,
    private readonly earlier: EventLog,
  ) {
    super(parts, 'g', log);
  }

  override async resume(after: number, open: () => Sink): Promise<boolean> {
    if (this.hasBegun) return await super.resume(after, open);
    const { earlier } = this;
    this.hasBegun = true;
    let hasReader = false;
    this.resuming += 1;
    try {
      const page = await earlier.read(after, PAGE);
      if (page === undefined && !earlier.mayBeUnknown(after)) return false;
      await this.parts.readers.settled();
      const sink = open();
      hasReader = true;
      sink.own(this);
      const past: CatchUpSource = {
        sequence: 0,
        log: earlier,
        endsAt: () => false,
        read: (position, limit) => earlier.read(position, limit),
        caughtUp: () => this.startCatchUp(new CatchUp(this, sink, 0), [], 0),
        broke: (_sink, error) => this.broke(sink, error),
      };
      if (page === undefined) past.caughtUp(sink);
      else this.startCatchUp(new CatchUp(past, sink, after), page, after);
      return true;
    } finally {
      this.resuming -= 1;
      // without a reader, nobody knows its id, and it must not keep messages for one
      if (!hasReader) this.ended = true;
    }
  }
}

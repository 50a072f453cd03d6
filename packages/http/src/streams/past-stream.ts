import { FAILURES } from '@decorum/core/internal';
import { errorFrame } from '@decorum/core/transport';

import type { Sink } from '../endpoint/http-context.js';
import { BLANK_LINE, type EventLog, toSent } from './event-log.js';
import type { StoredEvent } from './event-store.js';
import { EventStream } from './stream.js';
import type { StreamParts } from './stream-parts.js';

/** Asks the process that runs a request whether it still does, and has not stored the response yet. */
type IsRunning = () => boolean | Promise<boolean>;

const LOST =
  'The response to this request is lost: the server process that ran it has ended, or its events were dropped.';

/**
 * The stream of a request that has ended, or that another process runs. Its events come from the store. If there is no
 * response among them, the client comes back later, or gets an error if there will never be one.
 */
export class PastStream extends EventStream {
  /** The last event that was read. */
  private last: StoredEvent | undefined;
  /** The id of the request, as JSON. */
  private requestId: string | undefined;
  /** Whether nobody runs the request any more. */
  private isOver = false;

  /** @param isRunning undefined if nobody can be asked. Then clients come back, even if there will never be a response */
  constructor(
    parts: StreamParts,
    override readonly log: EventLog,
    private readonly isRunning: IsRunning | undefined,
  ) {
    super(parts, 'p', log);
    this.ended = true;
    // only the store knows its end
    this.sequence = Number.POSITIVE_INFINITY;
  }

  /** Also reads the event before, because it may be the response, and the client has received it. */
  override async read(after: number, limit: number): Promise<readonly StoredEvent[] | undefined> {
    if (this.isRunning === undefined) return await super.read(after, limit);
    const page = await super.read(after - 1, limit);
    this.last = page?.at(-1) ?? this.last;
    return page;
  }

  override caughtUp(sink: Sink): void {
    if (this.isRunning === undefined || isResponse(this.last)) super.caughtUp(sink);
    else if (this.isOver) this.finish(sink, this.failure());
    else void this.inquire(sink, this.isRunning);
  }

  protected override async isUnknown(after: number): Promise<boolean> {
    if (this.isRunning === undefined) return !this.log.mayBeUnknown(after);
    // the call may have ended, and been stored, since
    return !(await this.isRunning()) && (await this.log.read(-1, 1)) === undefined;
  }

  private async inquire(sink: Sink, isRunning: IsRunning): Promise<void> {
    try {
      if (await isRunning()) return super.caughtUp(sink);
      const [first] = (await this.log.read(-1, 1)) ?? [];
      if (first?.sequence === 0) this.requestId = first.frame;
      this.isOver = true;
      // the response may have been stored meanwhile
      if (this.catchUp?.sink === sink) this.catchUp.send([], this.parts.readers);
    } catch {
      // the error is reported, and the client comes back
      super.caughtUp(sink);
    }
  }

  private failure(): string {
    const id = JSON.parse(this.requestId ?? 'null') as string | number | null;
    return toSent(
      `${BLANK_LINE}data: ${errorFrame(id ?? undefined, { code: FAILURES['internal-error'].code, message: LOST })}`,
    );
  }
}

/** Whether an event ends the stream of a request. The response to a batch is an array. */
function isResponse(event: StoredEvent | undefined): boolean {
  if (event === undefined || event.sequence === 0) return false;
  const message: unknown = JSON.parse(event.frame);
  return Array.isArray(message) || !('method' in (message as object));
}

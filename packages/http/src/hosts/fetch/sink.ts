import type { Sink, SinkOwner } from '../../endpoint/http-context.js';

/** Bytes that a stream buffers before its reader counts as slow. Same as the default of Node's sockets. */
const HIGH_WATER_MARK = 16_384;

const encoder = new TextEncoder();

/** A streamed response as a web stream. */
export class FetchSink implements Sink {
  readonly stream: ReadableStream<Uint8Array>;
  closed = false;
  slow = false;
  private ended = false;
  private controller!: ReadableStreamDefaultController<Uint8Array>;
  private owner: SinkOwner | undefined;

  /** @param onCancel called when the reader disconnects */
  constructor(private readonly onCancel: () => void) {
    this.stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => void (this.controller = controller),
        pull: () => this.pulled(),
        cancel: () => this.cancelled(),
      },
      { highWaterMark: HIGH_WATER_MARK, size: ({ byteLength }) => byteLength },
    );
  }

  get backlog(): number {
    return this.closed ? 0 : HIGH_WATER_MARK - (this.controller.desiredSize ?? 0);
  }

  get left(): number {
    return this.backlog;
  }

  own(owner: SinkOwner): void {
    this.owner = owner;
  }

  // the host has already sent the headers
  start(): void {}

  write(text: string): boolean {
    if (this.closed) return false;
    this.controller.enqueue(encoder.encode(text));
    this.slow = (this.controller.desiredSize ?? 0) <= 0;
    return !this.slow;
  }

  end(text: string): void {
    if (this.closed) return;
    if (text !== '') this.write(text);
    this.ended = true;
    // if slow, `pulled` closes it later: a closed stream doesn't tell when the reader has taken the rest
    if (!this.slow) this.finish();
  }

  destroy(): void {
    if (this.closed) return;
    this.controller.error(new Error('The server aborted the stream.'));
    this.over();
  }

  /** Handles the reader's disconnect. */
  cancelled(): void {
    if (this.closed) return;
    this.over();
    this.onCancel();
  }

  private pulled(): void {
    if (!this.slow) return;
    this.slow = false;
    if (this.ended) return this.finish();
    this.owner?.drained(this);
  }

  private finish(): void {
    this.controller.close();
    this.over();
  }

  private over(): void {
    this.closed = true;
    this.owner?.closed(this);
  }
}

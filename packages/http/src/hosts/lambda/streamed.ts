import type { AnswerHeaders, Sink, SinkOwner } from '../../endpoint/http-context.js';
import type { EventFormat } from './event.js';
import type { EventOutput } from './output.js';
import { httpStreamOf, type LambdaResponseStream } from './runtime.js';

/** The stream of an event's response, and what waits for its end. */
export interface StreamedEvent {
  readonly stream: LambdaResponseStream;
  readonly format: EventFormat;
  /** Called when Lambda has taken everything. */
  finished(): void;
  /** Called if the response can't be sent. */
  failed(error: Error): void;
}

/** Sends the response to an event as it is made. */
export class StreamedOutput implements EventOutput {
  gone = false;
  private sink: StreamedSink | undefined;

  constructor(private readonly of: StreamedEvent) {
    const { stream, finished, failed } = of;
    stream.once('finish', finished);
    stream.once('error', (error: Error) => {
      this.gone = true;
      this.sink?.lost();
      failed(error);
    });
    stream.once('close', () => {
      this.gone = true;
      this.sink?.lost();
      finished();
    });
  }

  answer(status: number, headers: AnswerHeaders, body: string): void {
    const stream = this.begin(status, headers);
    // even if it is empty, because Lambda sends status and headers with the first text
    stream.write(body);
    stream.end();
  }

  open(headers: AnswerHeaders, onGone: () => void): Sink {
    const stream = this.begin(200, headers);
    stream.write('');
    return (this.sink = new StreamedSink(stream, { onGone, drop: () => this.drop() }));
  }

  drop(): void {
    this.of.failed(new Error('The response could not be sent.'));
  }

  private begin(statusCode: number, headers: AnswerHeaders): LambdaResponseStream {
    const { stream } = this.of;
    const { 'set-cookie': cookie, ...others } = headers;
    const cookies = cookie === undefined ? {} : { cookies: [cookie] };
    return httpStreamOf(stream, { statusCode, headers: others, ...cookies });
  }
}

/** What a sink tells its output. */
interface SinkEvents {
  /** The reader has disconnected. */
  onGone(): void;
  /** The stream has to fail. */
  drop(): void;
}

class StreamedSink implements Sink {
  closed = false;
  slow = false;
  private owner: SinkOwner | undefined;

  constructor(
    private readonly stream: LambdaResponseStream,
    private readonly events: SinkEvents,
  ) {
    stream.on('drain', () => this.drained());
    stream.once('finish', () => this.over());
  }

  get backlog(): number {
    return this.closed ? 0 : (this.stream.writableLength ?? 0);
  }

  get left(): number {
    return this.backlog;
  }

  own(owner: SinkOwner): void {
    this.owner = owner;
  }

  // the headers have been sent
  start(): void {}

  write(text: string): boolean {
    if (this.closed) return false;
    this.slow = !this.stream.write(text);
    return !this.slow;
  }

  end(text: string): void {
    if (this.closed) return;
    if (text !== '') this.stream.write(text);
    this.stream.end();
  }

  destroy(): void {
    if (this.closed) return;
    this.over();
    this.events.drop();
  }

  /** Handles a stream that has closed before its end. */
  lost(): void {
    if (this.closed) return;
    this.over();
    this.events.onGone();
  }

  private drained(): void {
    if (this.closed || !this.slow) return;
    this.slow = false;
    this.owner?.drained(this);
  }

  private over(): void {
    if (this.closed) return;
    this.closed = true;
    this.owner?.closed(this);
  }
}

import { Buffer } from 'node:buffer';

import { type Bodies, BodyReader, type BodyReceiver } from '../../endpoint/body.js';
import type { HttpRequest } from '../../endpoint/http-context.js';
import { HttpError } from '../../endpoint/http-error.js';

type Chunk = Awaited<ReturnType<ReadableStreamDefaultReader<Uint8Array>['read']>>;

/** Reads the body of a web request. */
export class FetchBody extends BodyReader {
  protected override readonly remoteAddress: string | undefined;
  private reader: ReadableStreamDefaultReader<Uint8Array> | undefined;

  constructor(bodies: Bodies, request: HttpRequest, receiver: BodyReceiver) {
    super(bodies, request, receiver);
    this.remoteAddress = request.remoteAddress;
  }

  /** Starts reading. */
  read(body: ReadableStream<Uint8Array> | null): void {
    if (!this.begin()) return;
    if (body === null) return this.end();
    try {
      this.reader = body.getReader();
    } catch (error) {
      // the application has already locked the stream
      return this.fail(error);
    }
    this.next();
  }

  protected override stop(): void {
    this.reader?.cancel().catch(() => {});
  }

  private next(): void {
    this.reader
      ?.read()
      .then(this.take, this.broken)
      .catch((error: unknown) => this.fail(error));
  }

  private readonly take = ({ done, value }: Chunk): void => {
    if (done) return this.end();
    this.push(Buffer.from(value.buffer, value.byteOffset, value.byteLength));
    this.next();
  };

  // a disconnected client is not a bug, so it isn't reported
  private readonly broken = (): void => this.fail(new HttpError(400, 'The body is incomplete.'));
}

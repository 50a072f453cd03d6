import { Buffer } from 'node:buffer';

import { type Bodies, BodyReader, type BodyReceiver } from '../../endpoint/body.js';
import type { HttpRequest } from '../../endpoint/http-context.js';
import { HttpError, MaskedError } from '../../endpoint/http-error.js';
import type { NodeRequest } from './head.js';

/** A request whose body was read before the handler ran. */
export interface TakenBody {
  readonly bodies: Bodies;
  readonly request: NodeRequest;
  readonly remoteAddress: string | undefined;
}

/**
 * Passes on the body that the application's body parser left in `request.body`. Text and bytes are checked and parsed
 * like a body that the handler reads itself. Of a value that is already parsed, only the `Content-Length` can be checked
 * here; the kernel checks its depth, values and names.
 */
export function takeBody(
  taken: TakenBody,
  head: Pick<HttpRequest, 'method' | 'headers'>,
  receiver: BodyReceiver,
): void {
  const { request } = taken;
  const { body, readableEnded, destroyed } = request;
  if (body === undefined && destroyed && !readableEnded)
    return receiver.body(new HttpError(400, 'The body is incomplete.'));
  if (body === undefined && head.method !== 'DELETE') return receiver.body(new MaskedError(new TypeError(NO_BODY)));
  const reader = new TakenReader(taken, head, receiver);
  if (!reader.begin()) return;
  if (typeof body === 'string') reader.take(Buffer.from(body));
  else if (body instanceof Uint8Array) reader.take(Buffer.from(body.buffer, body.byteOffset, body.byteLength));
  else reader.give(body);
}

const NO_BODY =
  'Something has read the body of a request before `nodeHandler` and left nothing in `request.body`. Mount the handler ' +
  'before it, or let it set `request.body` to the parsed JSON, the text or the bytes.';

/** Checks a body that has already arrived. */
class TakenReader extends BodyReader {
  protected override readonly remoteAddress: string | undefined;

  constructor(
    { bodies, remoteAddress }: TakenBody,
    head: Pick<HttpRequest, 'method' | 'headers'>,
    private readonly taker: BodyReceiver,
  ) {
    super(bodies, head, taker);
    this.remoteAddress = remoteAddress;
  }

  take(bytes: Buffer): void {
    this.push(bytes);
    this.end();
  }

  /** Passes on a parsed body. */
  give(message: unknown): void {
    this.finish();
    this.taker.body(null, message);
  }

  /** Nothing to do: the body has been read. */
  protected override stop(): void {}
}

import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';

import { type Bodies, BodyReader, type BodyReceiver } from '../../endpoint/body.js';
import type { HttpRequest } from '../../endpoint/http-context.js';
import { HttpError } from '../../endpoint/http-error.js';
import { BYTES_READ, READER } from '../../fast/node-fields.js';

type CountedSocket = Socket & { [BYTES_READ]?: number };

type Source = Readable & { [READER]?: NodeBody };

/** The source of a request body in Node. */
export interface NodeBodySource {
  readonly bodies: Bodies;
  readonly raw: IncomingMessage;
  /** The stream to read, by default `raw`. */
  readonly payload?: Readable;
  /** The framework's request, which has the client's address if the framework resolves trusted proxies. */
  readonly request?: { readonly ip?: string | undefined };
}

/** The parts of a request that reading its body needs. */
interface BodyHead extends Pick<HttpRequest, 'method' | 'headers'> {
  /** Set if the request arrived together with an earlier one on its connection. */
  isPipelined: boolean;
}

/** Reads the body of a Node request. */
export class NodeBody extends BodyReader {
  private readonly source: Source;
  readonly raw: IncomingMessage;
  private readonly host: NodeBodySource['request'];

  constructor(
    { bodies, raw, payload = raw, request }: NodeBodySource,
    private readonly head: BodyHead,
    receiver: BodyReceiver,
  ) {
    super(bodies, head, receiver);
    this.raw = raw;
    this.source = payload;
    this.host = request;
  }

  protected override get remoteAddress(): string | undefined {
    return this.host?.ip ?? this.raw.socket.remoteAddress;
  }

  /** Starts reading. */
  read(): void {
    const { source } = this;
    if (!this.begin()) return;
    const socket: CountedSocket = this.raw.socket;
    const { bytesRead } = socket;
    if (socket[BYTES_READ] === bytesRead && bytesRead > 0) this.head.isPipelined = true;
    socket[BYTES_READ] = bytesRead;
    source[READER] = this;
    source.on('data', onData);
    source.on('end', onEnd);
    source.on('error', onError);
  }

  /** Handles an error from the source. A disconnected client is not a bug, so it isn't reported. */
  breakOff(error: Error): void {
    this.fail(this.raw.destroyed || this.raw.aborted ? new HttpError(400, 'The body is incomplete.') : error);
  }

  protected override stop(): void {
    const { source } = this;
    source.removeListener('data', onData);
    source.removeListener('end', onEnd);
    source.resume();
  }
}

// shared by all requests, to avoid three closures for each
function onData(this: Source, chunk: Buffer): void {
  this[READER]?.push(chunk);
}

function onEnd(this: Source): void {
  const reader = this[READER];
  // over HTTP/2, a request that is cut off ends too (RFC 9113, section 8.1)
  if (reader?.raw.aborted) reader.breakOff(new Error('aborted'));
  else reader?.end();
}

function onError(this: Source, error: Error): void {
  this[READER]?.breakOff(error);
}

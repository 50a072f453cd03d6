import { Buffer, isAscii, isUtf8 } from 'node:buffer';
import { clearInterval, setInterval } from 'node:timers';

import { McpError } from '@decorum/core';
import { parseMessage } from '@decorum/core/transport';

import { addressOf } from './caller.js';
import { allowedNames, exceedsValues } from './count-values.js';
import type { Headers, HttpContext, HttpRequest } from './http-context.js';
import { HttpError, HttpLimitError } from './http-error.js';
import { Turns } from './turns.js';

/** Limits on the size and duration of request bodies. */
export interface BodyLimits {
  /** Maximum size in bytes. */
  readonly bodyLimit: number;
  /** Milliseconds within which the body must arrive. The timeout may fire up to 25% late. */
  readonly bodyTimeoutMs: number;
  /** Cap on the total bytes of bodies that are still arriving, or whose requests are unanswered. */
  readonly maxUnfinishedBytes: number;
  /** The same cap for the bodies from one address. */
  readonly maxUnfinishedBytesPerAddress: number;
  /** Cap on the values of the JSON. */
  readonly maxValues: number;
}

/** Gets the parsed body, or the reason why there is none. */
export interface BodyReceiver {
  /**
   * @param failure the error, or null on success
   * @param message the parsed JSON; undefined for a request without a body
   */
  body(failure: unknown, message?: unknown): void;
}

/** Number of sweeps that a body may survive. */
const SWEEPS = 4;

/** JSON is always UTF-8 (RFC 8259, section 8.1). */
const OTHER_CHARSET = /charset=(?!"?utf-8)/i;

const tooLarge = () => new HttpLimitError('bodyLimit', 413, 'The body is too large.');
const tooManyValues = (max: number) =>
  new HttpLimitError('maxValues', 400, `The body has more than ${max} values or ${allowedNames(max)} different names.`);
const notUtf8 = () => new McpError('parse-error', 'The message is not UTF-8.');

/** Bodies of up to this many bytes don't count while their requests are handled: a request takes more memory anyway. */
const SMALL = 4096;

/** Bodies of up to this many bytes are parsed immediately. */
const QUICK = 8192;

/** The sizes of chunked bodies, which no header announces. */
const chunkedSizes = new WeakMap<Headers, number>();

/** The bodies of an endpoint's unfinished requests. Bodies that take too long to arrive are rejected. */
export class Bodies {
  /** Whether another body might exceed a cap. */
  crowded = false;
  /** All readers, each in its `slot`. */
  readonly readers: BodyReader[] = [];
  /** Schedules the parsing of large bodies and the handling of pipelined requests. */
  readonly turns = new Turns();
  /** Bytes received of unfinished bodies. */
  private held = 0;
  /** The same for each address. */
  private readonly heldFrom = new Map<string, number>();
  // one timer for all bodies, because most arrive immediately and don't need their own
  private readonly timer: NodeJS.Timeout;

  constructor(readonly limits: BodyLimits) {
    this.timer = setInterval(() => this.sweep(), Math.ceil(limits.bodyTimeoutMs / SWEEPS)).unref();
  }

  /**
   * Counts bytes of an unfinished body. A negative number subtracts them.
   * @param address see `addressOf`
   * @returns the error to reject the body with; undefined if there is room
   */
  hold(bytes: number, address: string | undefined): HttpError | undefined {
    const { maxUnfinishedBytes, maxUnfinishedBytesPerAddress, bodyLimit } = this.limits;
    this.held += bytes;
    this.crowded = this.held + bodyLimit > Math.min(maxUnfinishedBytes, maxUnfinishedBytesPerAddress);
    if (address !== undefined) {
      const own = (this.heldFrom.get(address) ?? 0) + bytes;
      if (own > 0) this.heldFrom.set(address, own);
      else this.heldFrom.delete(address);
    }
    return this.refusal(0, address);
  }

  /**
   * Rejects a large body if there is no room for it.
   * @throws {HttpLimitError} 429 or 503
   */
  requireRoom(context: HttpContext): void {
    const { headers } = context;
    const size = Number(headers['content-length'] ?? chunkedSizes.get(headers));
    const refusal = size > SMALL ? this.refusal(size, addressOf(context)) : undefined;
    if (refusal) throw refusal;
  }

  /**
   * Counts a large body while its request is handled, because the handler still holds its contents.
   * @returns a function that stops counting it; undefined for a small body
   */
  keep(context: HttpContext): (() => void) | undefined {
    const { headers } = context;
    const size = Number(headers['content-length'] ?? chunkedSizes.get(headers));
    if (!(size > SMALL)) return undefined;
    context.forgetBody();
    const address = addressOf(context);
    this.hold(size, address);
    return () => void this.hold(-size, address);
  }

  /**
   * Counts the body of a request that waits for the answers to earlier ones on its connection.
   * @returns a function that stops counting it; undefined if there is no room
   */
  keepWaiting(context: HttpContext): (() => void) | undefined {
    const { headers } = context;
    const size = Number(headers['content-length'] ?? chunkedSizes.get(headers) ?? 0);
    const address = addressOf(context);
    if (this.refusal(size, address)) return undefined;
    this.hold(size, address);
    return () => void this.hold(-size, address);
  }

  private refusal(more: number, address: string | undefined): HttpLimitError | undefined {
    const { maxUnfinishedBytes, maxUnfinishedBytesPerAddress } = this.limits;
    const own = address === undefined ? 0 : (this.heldFrom.get(address) ?? 0) + more;
    if (own > maxUnfinishedBytesPerAddress) {
      return new HttpLimitError(
        'maxUnfinishedBytesPerAddress',
        429,
        'You are sending too much at once. Try again later.',
      );
    }
    if (this.held + more <= maxUnfinishedBytes) return undefined;
    return new HttpLimitError('maxUnfinishedBytes', 503, 'The server is receiving too much. Try again later.');
  }

  /** Rejects all unfinished bodies and stops the sweeps. */
  close(error: HttpError): void {
    clearInterval(this.timer);
    for (const reader of this.readers.toReversed()) reader.fail(error);
  }

  private sweep(): void {
    for (const reader of this.readers.toReversed()) {
      if (reader.sweeps < SWEEPS) reader.sweeps += 1;
      else reader.fail(new HttpLimitError('bodyTimeoutMs', 408, 'The body did not arrive in time.'));
    }
  }
}

const EMPTY = Buffer.alloc(0);

/** Collects the body of one request, chunk by chunk. A binding implements how to stop the source. */
export abstract class BodyReader {
  /** Number of sweeps that it has survived. */
  sweeps = 0;
  /** Index in the list of unfinished bodies. */
  slot = 0;
  /** The body so far, with room for more. */
  private received: Buffer = EMPTY;
  private size = 0;
  /** The size that the headers announce. */
  private announced: number | undefined;
  /** Bytes counted as unfinished. */
  private held = 0;
  private address: string | undefined;
  private over = false;
  private hasWaited = false;

  constructor(
    private readonly bodies: Bodies,
    private readonly request: Pick<HttpRequest, 'method' | 'headers'>,
    private readonly receiver: BodyReceiver,
  ) {
    this.slot = bodies.readers.push(this) - 1;
  }

  /** The client's IP address; undefined if the host doesn't know it. */
  protected abstract get remoteAddress(): string | undefined;

  /** Stops reading. The rest of the body is discarded. */
  protected abstract stop(): void;

  /** Rejects a body whose `Content-Length` exceeds the limit. Called before anything is read. */
  begin(): boolean {
    const length = this.request.headers['content-length'];
    if (length === undefined) return true;
    this.announced = Number(length);
    if (this.announced <= this.bodies.limits.bodyLimit) return true;
    this.fail(tooLarge());
    return false;
  }

  /** Adds a chunk of the body. */
  push(chunk: Buffer): void {
    if (this.over) return;
    const { size: at } = this;
    this.size += chunk.length;
    if (this.size > this.bodies.limits.bodyLimit) return this.fail(tooLarge());
    if (at === 0) this.received = chunk;
    else this.append(chunk, at);
    // most bodies arrive in one chunk, and are never counted
    if (this.size !== this.announced) this.hold(chunk.length);
  }

  /** Called when the body is complete. */
  end(): void {
    if (this.size > QUICK && !this.hasWaited) return this.wait();
    if (!this.finish()) return;
    const { received, size, request, receiver } = this;
    // the host's request holds this reader until it is answered
    this.received = EMPTY;
    if (this.announced === undefined) chunkedSizes.set(request.headers, size);
    // some clients send a content type with DELETE although there is no body
    if (size === 0 && request.method === 'DELETE') return receiver.body(null);
    let message: unknown;
    try {
      const body = received.length === size ? received : received.subarray(0, size);
      const text = decoded(body, request.headers['content-type']);
      // parsing as many values as fit would take longer than everything else
      const { maxValues } = this.bodies.limits;
      // each value takes at least two characters, and each name more, so short texts need no count
      if (text.length > maxValues && exceedsValues(text, maxValues)) throw tooManyValues(maxValues);
      message = parseMessage(text);
    } catch (error) {
      return receiver.body(error);
    }
    receiver.body(null, message);
  }

  /** Waits for a turn of its own, because parsing a large body can take as long as a thousand small ones. */
  private wait(): void {
    const { turns } = this.bodies;
    this.hasWaited = true;
    // the body arrived in time, so no sweep may reject it
    this.sweeps = Number.NEGATIVE_INFINITY;
    if (turns.isBusy && this.held === 0) this.hold(this.size);
    turns.add(() => this.end());
  }

  /** Gives up on the body. A no-op if it is already complete or failed. */
  fail(error: unknown): void {
    if (!this.finish()) return;
    this.received = EMPTY;
    this.stop();
    this.receiver.body(error);
  }

  /** Copies chunks into one buffer, because keeping a chunk of a single byte would take hundreds of bytes. */
  private append(chunk: Buffer, at: number): void {
    if (this.received.length < this.size) {
      // not the announced size, because the client may send no more
      const grown = Buffer.allocUnsafe(Math.min(2 * this.size, this.bodies.limits.bodyLimit));
      grown.set(this.received.subarray(0, at));
      this.received = grown;
    }
    this.received.set(chunk, at);
  }

  private hold(bytes: number): void {
    if (this.held === 0) this.address = addressOf({ headers: this.request.headers, remoteAddress: this.remoteAddress });
    this.held += bytes;
    const refusal = this.bodies.hold(bytes, this.address);
    if (refusal) this.fail(refusal);
  }

  /** Removes the reader, unless it was removed before. The last reader takes its slot. */
  protected finish(): boolean {
    if (this.over) return false;
    this.over = true;
    const { bodies, slot, held } = this;
    const last = bodies.readers.pop() as BodyReader;
    if (last !== this) {
      bodies.readers[slot] = last;
      last.slot = slot;
    }
    if (held > 0) bodies.hold(-held, this.address);
    return true;
  }
}

function decoded(body: Buffer, type: string | undefined): string {
  if (type !== 'application/json' && OTHER_CHARSET.test(type ?? '')) throw notUtf8();
  // fast path: most messages are ASCII, which needs no UTF-8 decoding
  if (isAscii(body)) return body.toString('latin1');
  if (!isUtf8(body)) throw notUtf8();
  return body.toString();
}

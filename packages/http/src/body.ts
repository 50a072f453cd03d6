import { Buffer, isAscii, isUtf8 } from 'node:buffer';
import { clearInterval, setInterval } from 'node:timers';

import { McpError } from '@decorum/core';
import { parseMessage } from '@decorum/core/transport';

import type { Headers, HttpRequest } from './http-context.js';
import { HttpError, LimitError } from './http-error.js';

/** Limits on the size and duration of a request body. */
export interface BodyLimits {
  /** Maximum size in bytes. */
  readonly bodyLimit: number;
  /** Milliseconds within which the body must arrive. The timeout may fire up to 25% late. */
  readonly bodyTimeoutMs: number;
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
const JSON_MEDIA_TYPE = /^\s*application\/json\s*(?:;|$)/i;

const tooLarge = () => new LimitError('bodyLimit', 413, 'The body is too large.');
const notUtf8 = () => new McpError('parse-error', 'The message is not UTF-8.');

/** Whether the headers of a request announce a body. */
export function announcesBody(headers: Headers): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = headers;
  return length !== '0' || encoding !== undefined;
}

/**
 * Whether there is a body to read. It must be JSON, because a page of another origin can send other types without a
 * preflight.
 * @param hasBody whether the host expects a body
 * @throws {HttpError} 415
 */
export function expectsBody({ method, headers }: HttpRequest, hasBody: boolean): boolean {
  if (method === 'GET') return false;
  const type = headers['content-type'];
  if (type === undefined && !hasBody) return false;
  if (type === undefined || !JSON_MEDIA_TYPE.test(type)) {
    throw new HttpError(415, 'The Content-Type must be application/json.');
  }
  return true;
}

/** The unfinished bodies of an endpoint. Those that take too long are rejected. */
export class Bodies {
  /** Maximum size of a body in bytes. */
  readonly limit: number;
  private readonly readers: BodyReader[] = [];
  // one timer for all bodies, because most arrive at once and don't need their own
  private readonly timer: NodeJS.Timeout;

  constructor({ bodyLimit, bodyTimeoutMs }: BodyLimits) {
    this.limit = bodyLimit;
    this.timer = setInterval(() => this.sweep(), Math.ceil(bodyTimeoutMs / SWEEPS)).unref();
  }

  /** Adds a body when its request starts. */
  add(reader: BodyReader): void {
    reader.slot = this.readers.push(reader) - 1;
  }

  /** Removes a finished body. The last reader takes its slot. */
  delete(reader: BodyReader): void {
    const last = this.readers.pop() as BodyReader;
    if (last === reader) return;
    this.readers[reader.slot] = last;
    last.slot = reader.slot;
  }

  /** Rejects all unfinished bodies and stops the sweeps. */
  close(error: HttpError): void {
    clearInterval(this.timer);
    for (const reader of this.readers.toReversed()) reader.fail(error);
  }

  private sweep(): void {
    for (const reader of this.readers.toReversed()) {
      if (reader.sweeps < SWEEPS) reader.sweeps += 1;
      else reader.fail(new LimitError('bodyTimeoutMs', 408, 'The body did not arrive in time.'));
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
  private first: Buffer | undefined;
  private more: Buffer[] | undefined;
  private size = 0;
  private over = false;

  constructor(
    private readonly bodies: Bodies,
    private readonly request: Pick<HttpRequest, 'method' | 'headers'>,
    private readonly receiver: BodyReceiver,
  ) {
    bodies.add(this);
  }

  /** Stops reading. The rest of the body is discarded. */
  protected abstract stop(): void;

  /** Rejects a body whose `Content-Length` exceeds the limit. Called before anything is read. */
  begin(): boolean {
    const length = this.request.headers['content-length'];
    if (length === undefined || Number(length) <= this.bodies.limit) return true;
    this.fail(tooLarge());
    return false;
  }

  /** Adds a chunk of the body. */
  push(chunk: Buffer): void {
    this.size += chunk.length;
    if (this.first === undefined) this.first = chunk;
    else (this.more ??= [this.first]).push(chunk);
    if (this.size > this.bodies.limit) this.fail(tooLarge());
  }

  /** The body is complete. */
  end(): void {
    if (!this.finish()) return;
    const { first = EMPTY, more, request, receiver } = this;
    // some clients send a content type with DELETE although there is no body
    if (this.size === 0 && request.method === 'DELETE') return receiver.body(null);
    let message: unknown;
    try {
      message = readJson(more === undefined ? first : Buffer.concat(more), request.headers['content-type']);
    } catch (error) {
      return receiver.body(error);
    }
    receiver.body(null, message);
  }

  /** Gives up on the body. A no-op if it is already complete or failed. */
  fail(error: unknown): void {
    if (!this.finish()) return;
    this.stop();
    this.receiver.body(error);
  }

  private finish(): boolean {
    if (this.over) return false;
    this.over = true;
    this.bodies.delete(this);
    return true;
  }
}

function readJson(body: Buffer, type: string | undefined): unknown {
  if (type !== 'application/json' && OTHER_CHARSET.test(type ?? '')) throw notUtf8();
  // fast path: most messages are ASCII, which needs no UTF-8 decoding
  if (isAscii(body)) return parseMessage(body.toString('latin1'));
  if (!isUtf8(body)) throw notUtf8();
  return parseMessage(body.toString());
}

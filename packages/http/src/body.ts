import { Buffer, isAscii, isUtf8 } from 'node:buffer';
import { clearInterval, setInterval } from 'node:timers';

import { McpError } from '@decorum/core';
import { parseMessage } from '@decorum/core/transport';

import type { Headers, HttpRequest } from './http-context.js';
import { HttpError } from './http-error.js';

/** How large a body may be, and how long it may take. */
export interface BodyLimits {
  /** Bytes. */
  readonly bodyLimit: number;
  /** Milliseconds; up to a quarter more passes. */
  readonly bodyTimeoutMs: number;
}

/** Takes what became of a body. */
export interface BodyReceiver {
  /**
   * @param failure why there is no message; null where there is none to tell of
   * @param message what was JSON; undefined where there was no body
   */
  body(failure: unknown, message?: unknown): void;
}

/** How often a body is looked at until its time is over. */
const SWEEPS = 4;

/** JSON is UTF-8 (RFC 8259, section 8.1), whatever a client says. */
const OTHER_CHARSET = /charset=(?!"?utf-8)/i;
const JSON_MEDIA_TYPE = /^\s*application\/json\s*(?:;|$)/i;

const tooLarge = () => new HttpError(413, 'The body is too large.');
const notUtf8 = () => new McpError('parse-error', 'The message is not UTF-8.');

/** Whether a request says that a body follows. */
export function announcesBody(headers: Headers): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = headers;
  return length !== '0' || encoding !== undefined;
}

/**
 * Whether there is a body to read. Only JSON is taken: a page of another origin can send anything else without asking.
 * @param hasBody as far as the host can say before it is read
 * @throws {HttpError} 415
 */
export function expectsBody({ method, headers }: HttpRequest, hasBody: boolean): boolean {
  if (method === 'GET') return false;
  const type = headers['content-type'];
  if (type === undefined && !hasBody) return false;
  if (type === undefined || !JSON_MEDIA_TYPE.test(type)) {
    throw new HttpError(415, 'The content type is not application/json.');
  }
  return true;
}

/** The unfinished bodies of an endpoint, so that none takes for ever. */
export class Bodies {
  /** Bytes that a body may have. */
  readonly limit: number;
  private readonly readers: BodyReader[] = [];
  // by looking at times, so that a body which comes at once needs no timer
  private readonly timer: NodeJS.Timeout;

  constructor({ bodyLimit, bodyTimeoutMs }: BodyLimits) {
    this.limit = bodyLimit;
    this.timer = setInterval(() => this.sweep(), Math.ceil(bodyTimeoutMs / SWEEPS)).unref();
  }

  /** Notes a body that begins. */
  add(reader: BodyReader): void {
    reader.slot = this.readers.push(reader) - 1;
  }

  /** Forgets a body that has ended. */
  delete(reader: BodyReader): void {
    const last = this.readers.pop() as BodyReader;
    if (last === reader) return;
    this.readers[reader.slot] = last;
    last.slot = reader.slot;
  }

  /** Refuses the bodies that have not ended, and looks for slow ones no more. */
  close(error: HttpError): void {
    clearInterval(this.timer);
    for (const reader of this.readers.toReversed()) reader.fail(error);
  }

  private sweep(): void {
    for (const reader of this.readers.toReversed()) {
      if (reader.sweeps < SWEEPS) reader.sweeps += 1;
      else reader.fail(new HttpError(408, 'The body did not arrive in time.', { connection: 'close' }));
    }
  }
}

const EMPTY = Buffer.alloc(0);

/** Takes the body of one request, chunk by chunk. A binding says how to stop the source. */
export abstract class BodyReader {
  /** How many looks at all bodies it has lasted. */
  sweeps = 0;
  /** Where it stands among the unfinished bodies. */
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

  /** Takes no more of the source, and lets the rest pass by. */
  protected abstract stop(): void;

  /** Refuses a body that says by itself that it is too large. Called before anything is read. */
  begin(): boolean {
    const length = this.request.headers['content-length'];
    if (length === undefined || Number(length) <= this.bodies.limit) return true;
    this.fail(tooLarge());
    return false;
  }

  /** Takes a part of the body. */
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
    // a type says nothing where there is no body, but clients send it with DELETE too
    if (this.size === 0 && request.method === 'DELETE') return receiver.body(null);
    let message: unknown;
    try {
      message = readJson(more === undefined ? first : Buffer.concat(more), request.headers['content-type']);
    } catch (error) {
      return receiver.body(error);
    }
    receiver.body(null, message);
  }

  /** The body is given up. Does nothing when it is complete. */
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
  // nearly all are ASCII, which needs no decoding
  if (isAscii(body)) return parseMessage(body.toString('latin1'));
  if (!isUtf8(body)) throw notUtf8();
  return parseMessage(body.toString());
}

import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout } from 'node:timers';

import { ConnectionError } from '../connection-error.js';
import { eventsOf } from './event-stream.js';
import { mediaTypeOf } from './http-request.js';

/** Where a stream can be resumed, and after how many milliseconds. */
export interface Position {
  lastEventId?: string;
  retryMs: number;
}

/** Milliseconds to wait before resuming a lost stream, unless the server sends `retry`, and at least and at most. */
const RETRY_MS = 100;
const MIN_RETRY_MS = 50;
const MAX_RETRY_MS = 30_000;

/** A stream that was open for so many milliseconds has not failed, even if it brought nothing. */
const LONG_MS = 5000;

/** After this many streams in a row that end without a new event, the client opens no more. */
const MAX_SILENT_STREAMS = 5;

/** Passes on the data of a stream's events, and remembers where to resume it. */
export async function readStream(
  stream: IncomingMessage,
  { position, maxLength }: { readonly position: Position; readonly maxLength: number },
  take: (data: string) => void,
): Promise<void> {
  for await (const { id, data, retry } of eventsOf(stream, maxLength)) {
    if (id !== undefined) position.lastEventId = id;
    if (retry !== undefined) position.retryMs = Math.min(Math.max(retry, MIN_RETRY_MS), MAX_RETRY_MS);
    if (data !== undefined && data !== '') take(data);
  }
}

/** How to read the stream of a request. */
export interface StreamReading {
  /** @returns whether the stream had the response */
  read(stream: IncomingMessage, position: Position): Promise<boolean>;
  reopen(position: Position): Promise<IncomingMessage>;
  readonly signal: AbortSignal;
}

/**
 * Reads a request's stream up to the response. Resumes it if it ends too early and has told where. Gives up if the
 * streams bring nothing new.
 */
export async function resumed(response: IncomingMessage, { read, reopen, signal }: StreamReading): Promise<void> {
  const position: Position = { retryMs: RETRY_MS };
  let stream = response;
  for (let silent = 0; silent < MAX_SILENT_STREAMS; silent += 1) {
    const { lastEventId } = position;
    if (await read(stream, position).catch(lost)) return;
    if (position.lastEventId === undefined || signal.aborted) return;
    if (position.lastEventId !== lastEventId) silent = 0;
    await pause(position.retryMs);
    stream = await reopen(position);
  }
}

/** What the stream of a session needs. */
export interface StandingOptions {
  open(position: Position): Promise<IncomingMessage>;
  read(stream: IncomingMessage, position: Position): Promise<unknown>;
  deafen(reason: Error): void;
  /** Called when the stream is open again after something may have been missed. */
  missed(): void;
  /** Whether to try again for as long as the session lasts. */
  readonly isPersistent: boolean;
  readonly signal: AbortSignal;
}

/** The GET stream of a session, which a server doesn't have to support. */
export class StandingStream {
  private stream: IncomingMessage | undefined;
  private isAwaited = false;
  /** Changes with each session. */
  private turn = {};

  constructor(private readonly options: StandingOptions) {}

  async start(): Promise<void> {
    const position: Position = { retryMs: RETRY_MS };
    const turn = (this.turn = {});
    const stream = await this.open(position).catch(() => undefined);
    if (stream === undefined) return;
    void this.keep(stream, position, turn).catch((error: Error) => {
      if (this.isCurrent(turn)) this.options.deafen(error);
    });
  }

  /** Reads no longer, because the session is over. */
  stop(): void {
    this.turn = {};
    this.stream?.destroy();
    this.stream = undefined;
  }

  hold(isAwaited: boolean): void {
    this.isAwaited = isAwaited;
    // null once the server has ended the stream and the connection serves other requests
    const socket: Socket | null | undefined = this.stream?.socket;
    // a destroyed socket waits for a connection that never comes
    if (!socket || socket.destroyed) return;
    if (isAwaited) socket.ref();
    else socket.unref();
  }

  private isCurrent(turn: object): boolean {
    return this.turn === turn && !this.options.signal.aborted;
  }

  private async keep(opened: IncomingMessage, position: Position, turn: object): Promise<void> {
    const { isPersistent, missed } = this.options;
    const limit = isPersistent ? Infinity : MAX_SILENT_STREAMS;
    let stream: IncomingMessage | undefined = opened;
    for (let silent = 0; this.isCurrent(turn) && silent < limit; silent += 1) {
      const { lastEventId } = position;
      const began = performance.now();
      if (stream !== undefined) await this.options.read(stream, position).catch(lost);
      const wasOpen = isPersistent && performance.now() - began > LONG_MS;
      if (position.lastEventId !== lastEventId || wasOpen) silent = 0;
      await pause(isPersistent ? Math.min(position.retryMs * 2 ** silent, MAX_RETRY_MS) : position.retryMs, 'idle');
      if (!this.isCurrent(turn)) return;
      stream = await this.open(position).catch(isPersistent ? nothing : undefined);
      if (stream === undefined && !isPersistent) break;
      // a stream that can be resumed brings what was missed
      if (stream !== undefined && position.lastEventId === undefined) missed();
    }
    throw new ConnectionError('closed', 'The server has closed its stream of notifications.');
  }

  private async open(position: Position): Promise<IncomingMessage | undefined> {
    const stream = await this.options.open(position);
    if (mediaTypeOf(stream) !== 'text/event-stream') return void stream.resume();
    this.stream = stream;
    this.hold(this.isAwaited);
    return stream;
  }
}

const nothing = () => undefined;

/** Treats a broken connection like a stream that the server closed: both can be resumed. */
function lost(error: unknown): false {
  if (error instanceof ConnectionError) throw error;
  return false;
}

/** @param idle if set, the timer doesn't keep the process alive */
async function pause(milliseconds: number, idle?: 'idle'): Promise<void> {
  await new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    if (idle) timer.unref();
  });
}

import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

import type { Sink, SinkOwner } from '../../endpoint/http-context.js';
import { SINK } from '../../fast/node-fields.js';
import { leftOn, onSocketClose } from './socket.js';

/** A response. Compression middleware, such as `compression`, adds a `flush` method that sends buffered data. */
type Response = ServerResponse & { [SINK]?: NodeSink; flush?(): void; readonly stream?: Channel };

/** What tells whether a reader keeps up: the stream of HTTP/2, whose response doesn't, or the response. */
type Channel = Pick<ServerResponse, 'destroyed' | 'writableNeedDrain'>;

/** A streamed Node response. */
export class NodeSink implements Sink {
  private owner: SinkOwner | undefined;
  private begun = false;
  private readonly channel: Channel;

  /** @param response its headers are already set */
  constructor(private readonly response: Response) {
    this.channel = response.stream ?? response;
  }

  get closed(): boolean {
    return this.channel.destroyed;
  }

  get backlog(): number {
    return this.response.writableLength;
  }

  /** A response has no socket while an earlier one on the same connection is unfinished. */
  get left(): number {
    const { socket, stream, writableLength } = this.response;
    // the streams of HTTP/2 share a socket
    if (stream) return writableLength;
    return socket === null ? 0 : leftOn(socket);
  }

  get slow(): boolean {
    return this.channel.writableNeedDrain;
  }

  own(owner: SinkOwner): void {
    const { response } = this;
    this.owner = owner;
    response[SINK] = this;
    response.on('error', ignore);
    response.on('drain', onDrain);
    // not `once`, which would allocate a wrapper for every open response
    response.on('close', onClose);
    // Node doesn't close responses that wait for an earlier one
    if (response.socket === null)
      response.once(
        'close',
        onSocketClose(response.req.socket, () => this.abandon()),
      );
  }

  start(): void {
    this.response.flushHeaders();
  }

  write(text: string): boolean {
    const { response } = this;
    if (!this.begun) this.begin();
    const isTaken = response.write(text, encodingOf(text));
    // Node's own method of this name is deprecated
    if (Object.hasOwn(response, 'flush')) response.flush?.();
    return isTaken;
  }

  end(text: string): void {
    // if an empty text is written last, Node sends garbage instead of the one before over HTTP/2
    if (text === '') this.response.end();
    else this.response.end(text, encodingOf(text));
  }

  destroy(): void {
    const { response } = this;
    if (response.socket === null) response.req.socket.destroy();
    response.destroy();
  }

  /**
   * Flushes the headers separately, but in the same packet as the text of this tick. If Node appended the first text to
   * them, every open response would retain the two dozen strings that its headers were concatenated from.
   *
   * Corks the socket, because as of Node 22 a corked response sends its end before the text, and may never drain.
   */
  private begin(): void {
    const { response } = this;
    const { socket } = response;
    this.begun = true;
    socket?.cork();
    response.flushHeaders();
    if (socket) process.nextTick(uncork, socket);
  }

  /** Tells the owner that the reader has caught up. */
  drained(): void {
    this.owner?.drained(this);
  }

  private abandon(): void {
    this.response.destroy();
    this.over();
  }

  /** Tells the owner that the response is closed. */
  over(): void {
    this.owner?.closed(this);
  }
}

// shared by all responses, to avoid closures for each
function ignore(): void {}

function uncork(socket: Socket): void {
  socket.uncork();
}

function onDrain(this: Response): void {
  this[SINK]?.drained();
}

function onClose(this: Response): void {
  this[SINK]?.over();
}

/** Writing ASCII text as Latin-1 gives the same bytes in a fraction of the time, and nearly all text is ASCII. */
function encodingOf(text: string): 'latin1' | 'utf8' {
  return Buffer.byteLength(text) === text.length ? 'latin1' : 'utf8';
}

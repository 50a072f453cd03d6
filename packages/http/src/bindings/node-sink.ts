import type { ServerResponse } from 'node:http';

import type { Sink, SinkOwner } from '../http-context.js';

const SINK = Symbol('sink');

type Response = ServerResponse & { [SINK]?: NodeSink };

/** A response of Node that is written piece by piece. */
export class NodeSink implements Sink {
  private owner: SinkOwner | undefined;
  private begun = false;

  /** @param response with its headers */
  constructor(private readonly response: Response) {}

  get closed(): boolean {
    return this.response.destroyed;
  }

  get backlog(): number {
    return this.response.writableLength;
  }

  get slow(): boolean {
    return this.response.writableNeedDrain;
  }

  own(owner: SinkOwner): void {
    const { response } = this;
    this.owner = owner;
    response[SINK] = this;
    response.on('error', ignore);
    response.on('drain', onDrain);
    response.once('close', onClose);
  }

  start(): void {
    this.response.flushHeaders();
  }

  write(text: string): boolean {
    if (!this.begun) this.begin();
    return this.response.write(text, encodingOf(text));
  }

  end(text: string): void {
    this.response.end(text, encodingOf(text));
  }

  destroy(): void {
    this.response.destroy();
  }

  /**
   * Hands over the headers by themselves, to be sent with what is written in this turn: otherwise Node adds the first
   * text to them, and each open response keeps the two dozen pieces that its headers were put together from.
   */
  private begin(): void {
    const { response } = this;
    this.begun = true;
    response.cork();
    response.flushHeaders();
    process.nextTick(uncork, response);
  }

  /** Tells the owner that the reader has caught up. */
  drained(): void {
    this.owner?.drained(this);
  }

  /** Tells the owner that the response is over. */
  over(): void {
    this.owner?.closed(this);
  }
}

// one of each for all responses
function ignore(): void {}

function uncork(response: Response): void {
  response.uncork();
}

function onDrain(this: Response): void {
  this[SINK]?.drained();
}

function onClose(this: Response): void {
  this[SINK]?.over();
}

/** What is ASCII, as nearly everything is, need not be encoded: that is the same and takes a fraction of the time. */
function encodingOf(text: string): 'latin1' | 'utf8' {
  return Buffer.byteLength(text) === text.length ? 'latin1' : 'utf8';
}

import { finished, type Readable, type Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';

import type { Kernel } from '../kernel/kernel.js';
import type { McpError } from '../protocol/errors.js';
import type { Session } from '../protocol/eras/stateful.js';
import { errorFrame, parseMessage } from '../protocol/jsonrpc.js';
import type { Reply } from '../protocol/reply.js';
import type { Wire } from '../protocol/wire.js';
import { LineReader, type LineSink } from './line-reader.js';
import { Outbox } from './outbox.js';
import { type Host, HOST, type HostPort, type Transport } from './transport.js';

/** Options of `StdioPipe`. */
export interface PipeOptions {
  readonly input: Readable;
  readonly output: Writable;
  /** Milliseconds that running calls have when the pipe ends. */
  readonly drainMs: number;
  /** Bytes that one message may have. */
  readonly maxMessageBytes: number;
  /** Characters that may wait for a slow reader. */
  readonly maxPendingChars: number;
}

/** Who ended the conversation: the other side, the server that was closed, or our own side. */
export type Ending = 'client' | 'server' | 'self';

// what a stream says when its other end has gone away
const GONE = new Set(['EPIPE', 'ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_DESTROYED']);

/** One client at the other end of two byte streams. */
export class StdioPipe implements LineSink, Transport {
  private readonly reader: LineReader;
  private readonly outbox: Outbox;
  private readonly wire: Wire;
  private kernel!: Kernel;
  private session!: Session;
  private reading = false;
  private readonly host: HostPort;
  private leaving: Promise<void> | undefined;
  private deadline = Number.POSITIVE_INFINITY;
  private over!: (ending: Ending) => void;
  private loseReader!: () => void;
  /** Resolves when nobody is left to answer. */
  private readonly unread = new Promise<void>((resolve) => {
    this.loseReader = resolve;
  });

  /** Resolves when the conversation is over. Never rejects. */
  readonly closed = new Promise<Ending>((resolve) => {
    this.over = resolve;
  });

  constructor(
    server: Host,
    private readonly options: PipeOptions,
  ) {
    this.host = server[HOST];
    const { input, output, maxMessageBytes, maxPendingChars } = options;
    // taken now: the property of process.stdout is about to lead elsewhere
    const write = output.write.bind(output) as (text: string, done: (error?: Error | null) => void) => boolean;
    this.reader = new LineReader(maxMessageBytes, this);
    this.outbox = new Outbox({
      write,
      limit: maxPendingChars,
      onPressure: (slow) => void (slow ? input.pause() : this.reading && input.resume()),
    });
    this.wire = {
      transport: { kind: 'stdio' },
      principal: undefined,
      owner: this,
      send: (frame) => this.outbox.send(frame),
    };
  }

  /** Starts to read. */
  async open(): Promise<void> {
    const { input, output } = this.options;
    this.kernel = await this.host.open(this);
    this.session = this.kernel.openSession({ push: (frame) => this.outbox.send(frame) });
    finished(output, { readable: false }, (error) => this.outputEnds(error));
    finished(input, { writable: false }, (error) => this.inputEnds(error));
    this.reading = true;
    input.on('data', this.read);
  }

  /**
   * Ends the conversation; only the first ending counts.
   * @param ending `client` and `self` let running calls end before, at most for `drainMs`
   */
  leave(ending: Ending): Promise<void> {
    this.leaving ??= this.disconnect(ending);
    return this.leaving;
  }

  /** Milliseconds that are left of `drainMs`. */
  get msLeft(): number {
    return Math.max(0, this.deadline - performance.now());
  }

  line(text: string): void {
    let message: unknown;
    try {
      message = parseMessage(text);
    } catch (error) {
      return this.unreadable(error as McpError);
    }
    const reply = this.kernel.handle(message, this.wire, this.session);
    if (reply instanceof Promise) void reply.then(this.answer);
    else this.answer(reply);
  }

  unreadable(error: McpError): void {
    this.outbox.write(errorFrame(this.session.revision.unreadableId, error));
  }

  stop(): void {
    this.kernel.inFlight.stop(this);
  }

  close(): Promise<void> {
    return this.leave('server');
  }

  private readonly read = (chunk: Buffer | string): void => {
    this.reader.feed(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
  };

  private readonly answer = ({ text }: Reply): void => {
    if (text !== undefined) this.outbox.write(text);
  };

  private inputEnds(error: NodeJS.ErrnoException | null | undefined): void {
    this.reportUnlessGone(error);
    // a last line without its newline is a line
    if (this.reading) this.reader.end();
    void this.leave('client');
  }

  private outputEnds(error: NodeJS.ErrnoException | null | undefined): void {
    this.reportUnlessGone(error);
    this.outbox.close();
    // nobody is left to answer: calls are given up at once
    this.kernel.closeSession(this.session);
    this.loseReader();
    void this.leave('client');
  }

  private reportUnlessGone(error: NodeJS.ErrnoException | null | undefined): void {
    if (error && !GONE.has(error.code ?? '')) this.host.report(error);
  }

  private async disconnect(ending: Ending): Promise<void> {
    const { input, drainMs } = this.options;
    this.deadline = performance.now() + drainMs;
    this.stop();
    if (ending !== 'server') await Promise.race([this.kernel.inFlight.drain(drainMs, this), this.unread]);
    this.reading = false;
    input.off('data', this.read);
    input.pause();
    this.host.detach(this);
    this.kernel.closeSession(this.session);
    await this.within(this.outbox.flushed());
    this.outbox.close();
    this.over(ending);
  }

  private async within(done: Promise<void>): Promise<void> {
    const timer = new AbortController();
    const late = wait(this.msLeft, undefined, { signal: timer.signal }).catch(() => {});
    await Promise.race([done, late]);
    timer.abort();
  }
}

import type { Readable, Writable } from 'node:stream';
import { finished } from 'node:stream/promises';

import type { Kernel } from '../kernel/kernel.js';
import type { McpError } from '../protocol/errors.js';
import type { Session } from '../protocol/eras/stateful.js';
import { errorFrame, parseMessage } from '../protocol/jsonrpc.js';
import type { Reply } from '../protocol/reply.js';
import type { Wire } from '../protocol/wire.js';
import { LineReader, type LineSink } from './line-reader.js';
import { Outbox } from './outbox.js';
import type { HostPort, Transport } from './transport.js';

/** Options of `serveStdio`. */
export interface StdioOptions {
  /** Where messages come from; by default `process.stdin`. The process ends with its own stdin, but with no other. */
  readonly input?: Readable;
  /** Where messages go; by default `process.stdout`, to which nothing else can write then. */
  readonly output?: Writable;
  /** Milliseconds that running calls have to end when the client goes, before they are cancelled. By default 1500. */
  readonly drainMs?: number;
  /** Bytes that one message may have. By default 4 MiB. */
  readonly maxMessageBytes?: number;
  /**
   * Characters that may wait for a slow reader. Beyond them progress and log messages are dropped, and no more requests
   * are read until the reader has caught up; responses are never dropped. Changes of lists and resources may take as much
   * again; the same one never waits twice. By default 1 Mi.
   */
  readonly maxPendingChars?: number;
}

/** Who ended the conversation: the other side, the server that was closed, or our own side. */
export type Ending = 'client' | 'server' | 'self';

// what a stream says when its other end has gone away
const GONE = new Set(['EPIPE', 'ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_DESTROYED']);

/** One client at the other end of two byte streams. */
export class StdioPipe implements LineSink, Transport {
  private readonly reader: LineReader;
  private readonly outbox: Outbox;
  private readonly wire: Wire = {
    transport: { kind: 'stdio' },
    principal: undefined,
    owner: this,
    send: (frame) => this.outbox.send(frame),
  };
  private kernel!: Kernel;
  private session!: Session;
  private reading = true;
  private leaving: Promise<void> | undefined;
  private deadline = Number.POSITIVE_INFINITY;
  private over!: (ending: Ending) => void;
  /** Resolves when nobody is left to answer. */
  private unread!: Promise<void>;

  /** Resolves when the conversation is over. Never rejects. */
  readonly closed = new Promise<Ending>((resolve) => {
    this.over = resolve;
  });

  constructor(
    private readonly host: HostPort,
    private readonly options: Required<StdioOptions>,
  ) {
    const { input, output, maxMessageBytes, maxPendingChars } = options;
    // taken now: the property of process.stdout is about to lead elsewhere
    const write = output.write.bind(output) as (text: string, done: (error?: Error | null) => void) => boolean;
    this.reader = new LineReader(maxMessageBytes, this);
    this.outbox = new Outbox({
      write,
      limit: maxPendingChars,
      onPressure: (slow) => void (slow ? input.pause() : this.reading && input.resume()),
    });
  }

  /** Starts to read. */
  async open(): Promise<void> {
    await this.host.open((kernel) => this.begin(kernel));
  }

  private begin(kernel: Kernel): this {
    const { input, output } = this.options;
    this.kernel = kernel;
    this.session = kernel.openSession({ push: (frame) => this.outbox.send(frame) });
    this.unread = finished(output, { readable: false }).catch(this.reportUnlessGone).then(this.outputEnds);
    void finished(input, { writable: false }).catch(this.reportUnlessGone).then(this.inputEnds);
    input.on('data', this.read);
    return this;
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

  private readonly reportUnlessGone = (error: NodeJS.ErrnoException): void => {
    if (!GONE.has(error.code ?? '')) this.host.report(error);
  };

  private readonly inputEnds = (): void => {
    // a last line without its newline is a line
    if (this.reading) this.reader.end();
    void this.leave('client');
  };

  private readonly outputEnds = (): void => {
    this.outbox.close();
    // nobody is left to answer: calls are given up at once
    this.kernel.closeSession(this.session);
    void this.leave('client');
  };

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
    // nobody waits longer than that for a reader that does not read
    const timer = setTimeout(() => this.outbox.close(), this.msLeft);
    await this.outbox.flushed();
    clearTimeout(timer);
    this.outbox.close();
    this.over(ending);
  }
}

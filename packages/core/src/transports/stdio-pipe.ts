import type { Readable, Writable } from 'node:stream';
import { finished } from 'node:stream/promises';

import type { Kernel } from '../kernel/kernel.js';
import type { McpError } from '../protocol/errors.js';
import type { Session } from '../protocol/eras/stateful.js';
import type { Frame } from '../protocol/frame.js';
import { errorFrame, parseMessage } from '../protocol/jsonrpc.js';
import { McpLimitError } from '../protocol/limits.js';
import type { Reply } from '../protocol/reply.js';
import type { Principal, Wire } from '../protocol/wire.js';
import { Expiry } from './expiry.js';
import { LineReader, type LineSink } from './line-reader.js';
import { Outbox } from './outbox.js';
import { type HostPort, requireNoScopes, type Transport } from './transport.js';

/** Options of `serveStdio`. */
export interface StdioOptions {
  /** Stream to read messages from. Defaults to `process.stdin`; the process ends when its own stdin ends. */
  readonly input?: Readable;
  /** Stream to write messages to. Defaults to `process.stdout`, which is then reserved for protocol messages. */
  readonly output?: Writable;
  /**
   * Milliseconds that calls in flight may take to finish when the client disconnects, before they are cancelled.
   * Clients send SIGTERM after 2000. Defaults to 1500.
   */
  readonly drainMs?: number;
  /**
   * The caller: the user who started the process. Required if the server has members with scopes. From its `expiresAt` on,
   * requests are refused.
   */
  readonly principal?: Principal | undefined;
  /**
   * Whether a thread kills the process if its client is gone and its event loop is blocked, for example by a regular
   * expression. Such a process sees neither the end of stdin nor SIGTERM. It is killed `drainMs` and 2 more seconds
   * after its parent process has ended or, which is all that works on Windows, after it has seen the end of stdin.
   * Requires the process's own stdin. Defaults to false.
   */
  readonly watchdog?: boolean;
  /** Limits on messages from the client, and on data that is pending for the client. */
  readonly limits?: StdioLimits;
}

/** Limits of `serveStdio`. */
export interface StdioLimits {
  /** Maximum bytes per message. Defaults to 4 MiB. */
  readonly maxMessageBytes?: number;
  /**
   * Maximum characters that may be pending for a slow reader. Above this limit, progress and log messages are dropped,
   * and no requests are read until the reader has caught up. Responses are never dropped. Changes to lists and
   * resources have a cap of the same size, and repeated changes are coalesced. Defaults to 1 Mi.
   */
  readonly maxPendingChars?: number;
}

/** Options with defaults applied. */
export type ResolvedStdioOptions = Required<Omit<StdioOptions, 'limits' | 'principal' | 'watchdog'>> &
  Pick<StdioOptions, 'principal'> &
  Required<StdioLimits>;

/** Who ended the connection: the client, a server that was closed, or the connection's `close()`. */
export type Ending = 'client' | 'server' | 'self';

// error codes of a stream whose other end has closed
const GONE = new Set(['EPIPE', 'ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_DESTROYED']);

/** A client connected through two byte streams. */
export class StdioPipe implements LineSink, Transport {
  private readonly reader: LineReader;
  private readonly outbox: Outbox;
  private readonly wire: Wire;
  private kernel!: Kernel;
  private session!: Session;
  private expiry: Expiry | undefined;
  private reading = true;
  private leaving: Promise<void> | undefined;
  private deadline = Number.POSITIVE_INFINITY;
  private over!: (ending: Ending) => void;
  /** Resolves when the client can no longer receive responses. */
  private unread!: Promise<void>;

  /** Resolves when the connection has ended. Never rejects. */
  readonly closed = new Promise<Ending>((resolve) => {
    this.over = resolve;
  });

  constructor(
    private readonly host: HostPort,
    private readonly options: ResolvedStdioOptions,
  ) {
    const { input, output, principal, maxMessageBytes, maxPendingChars } = options;
    // bind now: serveStdio replaces process.stdout.write
    const write = output.write.bind(output) as (text: string, done: (error?: Error | null) => void) => boolean;
    const send = (frame: Frame) => this.outbox.send(frame);
    this.wire = { transport: { kind: 'stdio' }, principal, owner: this, send };
    this.reader = new LineReader(maxMessageBytes, this);
    this.outbox = new Outbox({
      write,
      limit: maxPendingChars,
      onPressure: (slow) => {
        if (!slow) return void (this.reading && input.resume());
        input.pause();
        host.hit({ limit: 'maxPendingChars' });
      },
    });
  }

  /** Starts reading. */
  async open(): Promise<void> {
    await this.host.open((kernel) => this.begin(kernel));
  }

  private begin(kernel: Kernel): this {
    const { input, output, principal } = this.options;
    if (principal === undefined)
      requireNoScopes(kernel, 'serveStdio', 'Pass `principal`: the user who started the process');
    this.kernel = kernel;
    const push = (frame: Frame) => void (this.expiry?.hasPassed() || this.wire.send(frame));
    this.session = kernel.openSession({ principal }, { push, transport: this.wire.transport });
    this.expiry = Expiry.of(principal, () => kernel.inFlight.expire(this));
    this.unread = finished(output, { readable: false }).catch(this.reportUnlessGone).then(this.outputEnds);
    void finished(input, { writable: false }).catch(this.reportUnlessGone).then(this.inputEnds);
    input.on('data', this.read);
    return this;
  }

  /**
   * Ends the connection. Only the first call counts.
   * @param ending with `client` and `self`, calls in flight may finish first, within `drainMs`
   */
  leave(ending: Ending): Promise<void> {
    this.leaving ??= this.disconnect(ending);
    return this.leaving;
  }

  /** Milliseconds left of `drainMs`. */
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
    this.expiry?.hasPassed();
    const reply = this.kernel.handle(message, this.wire, this.session);
    if (reply instanceof Promise) void reply.then(this.answer);
    else this.answer(reply);
  }

  unreadable(error: McpError): void {
    if (error instanceof McpLimitError) this.host.hit({ limit: error.limit });
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
    // the last line may lack its newline
    if (this.reading) this.reader.end();
    void this.leave('client');
  };

  private readonly outputEnds = (): void => {
    this.outbox.close();
    // nobody can receive the responses, so cancel calls immediately
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
    this.expiry?.stop();
    this.host.detach(this);
    this.kernel.closeSession(this.session);
    // don't wait past the deadline for a reader that has stopped reading
    const timer = setTimeout(() => this.outbox.close(), this.msLeft);
    await this.outbox.flushed();
    clearTimeout(timer);
    this.outbox.close();
    this.over(ending);
  }
}

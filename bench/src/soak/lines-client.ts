import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';

import { type Call, LOST_MS } from './call.js';
import { Client, type Identity } from './client.js';
import type { Message } from './messages.js';

/** The streams of a client. A socket is both streams. */
export interface Lines {
  readonly input: Readable;
  readonly output: Writable;
}

/** A client that sends and receives one message per line. */
export class LinesClient extends Client {
  private rest = '';
  private ending = false;

  constructor(
    identity: Identity,
    private readonly lines: Lines,
  ) {
    super(identity);
    const { input, output } = lines;
    input.setEncoding('utf8').on('data', (chunk: string) => this.read(chunk));
    // both ends may be gone, because the client has cut them or the server was killed
    output.on('error', () => {});
    input.on('error', () => {});
    input.once('close', () => {
      if (!this.ending) this.lost('was in flight when the server closed the connection');
    });
  }

  /** A no-op, because everything arrives on the same connection. */
  override async listen(): Promise<void> {}

  override async cancel(call: Call): Promise<void> {
    call.abandon();
    this.notify('notifications/cancelled', { requestId: call.id });
  }

  override pause(): () => void {
    this.lines.input.pause();
    return () => void this.lines.input.resume();
  }

  /** Sends any text, such as part of a message. */
  write(text: string | Buffer): void {
    this.lines.output.write(text);
  }

  /** Ends the input, and waits until the server has ended the output. */
  override async leave(): Promise<void> {
    const { input, output } = this.lines;
    const closed = input.closed ? undefined : once(input, 'close', { signal: AbortSignal.timeout(LOST_MS) });
    output.end();
    await closed;
    this.ending = true;
  }

  protected override cut(): void {
    this.ending = true;
    this.lines.input.destroy();
    this.lines.output.destroy();
  }

  protected override transmit(message: Message | readonly Message[]): void {
    this.write(`${JSON.stringify(message)}\n`);
  }

  private read(chunk: string): void {
    const lines = (this.rest + chunk).split('\n');
    this.rest = lines.pop() ?? '';
    for (const line of lines) this.receive(line);
  }
}

import { connect, type Socket } from 'node:net';

import type { PreparedCall } from './requests.js';

const END_OF_HEADERS = Buffer.from('\r\n\r\n');
const OK = Buffer.from('HTTP/1.1 200 ');

/**
 * A keep-alive connection that sends one call again and again, the next one when the answer has come. It knows just
 * enough of HTTP/1.1 for answers with a `content-length`, so that making load costs less than serving it.
 */
export class Connection {
  private readonly socket: Socket;
  private pending: Buffer = Buffer.alloc(0);
  private expected: Buffer | undefined;
  private waiting: { readonly resolve: () => void; readonly reject: (error: Error) => void } | undefined;
  private more: () => boolean = () => false;

  constructor(
    url: URL,
    private readonly call: PreparedCall,
  ) {
    this.socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true });
    this.socket.on('data', (chunk: Buffer) => this.receive(chunk));
    this.socket.on('error', (error) => this.waiting?.reject(error));
    this.socket.on('close', () => this.waiting?.reject(new Error('the server closed a connection')));
  }

  /** Bytes of an answer's body; known after the first. */
  get answerBytes(): number {
    return this.expected?.length ?? 0;
  }

  /**
   * Sends calls, one after the other.
   * @param more asked before each call whether to send it
   */
  async run(more: () => boolean): Promise<void> {
    this.more = more;
    if (!more()) return;
    await new Promise<void>((resolve, reject) => {
      this.waiting = { resolve, reject };
      this.socket.write(this.call.request);
    });
  }

  close(): void {
    this.waiting = undefined;
    this.socket.destroy();
  }

  private receive(chunk: Buffer): void {
    this.pending = this.pending.length === 0 ? chunk : Buffer.concat([this.pending, chunk]);
    const body = this.pending.indexOf(END_OF_HEADERS) + END_OF_HEADERS.length;
    if (body < END_OF_HEADERS.length) return;
    const expected = this.expected ?? Buffer.alloc(contentLength(this.pending.toString('latin1', 0, body)));
    if (this.pending.length < body + expected.length) return;
    try {
      this.check(this.pending, body);
    } catch (error) {
      this.waiting?.reject(error as Error);
      return;
    }
    this.pending = Buffer.alloc(0);
    if (this.more()) this.socket.write(this.call.request);
    else this.waiting?.resolve();
  }

  /** The first answer is read and understood; the others must be the same bytes, which is cheap to see. */
  private check(answer: Buffer, body: number): void {
    if (OK.compare(answer, 0, OK.length) !== 0) throw new Error(`not answered with 200: ${answer.toString()}`);
    if (this.expected === undefined) {
      this.call.verify(answer.toString('utf8', body));
      this.expected = Buffer.from(answer.subarray(body));
    } else if (this.expected.compare(answer, body) !== 0) {
      throw new Error(`an answer differs from the first: ${answer.toString('utf8', body)}`);
    }
  }
}

function contentLength(headers: string): number {
  const length = /\r\ncontent-length: (\d+)/i.exec(headers)?.[1];
  if (length === undefined) throw new Error(`an answer without content-length: ${headers}`);
  return Number(length);
}

import { connect, type Socket } from 'node:net';

import { type Call, type Message, PROGRESS_STEPS } from './calls.js';

const END_OF_HEADERS = Buffer.from('\r\n\r\n');
const END_OF_CHUNKS = Buffer.from('\r\n0\r\n\r\n');
const STEP = Buffer.from('"notifications/progress"');
const OK = Buffer.from('HTTP/1.1 200 ');
const EMPTY = Buffer.alloc(0);

/** What a connection sends, and to whom. */
export interface ConnectionOptions {
  readonly url: URL;
  readonly call: Call;
  readonly client: number;
  readonly request: Buffer;
}

/**
 * A keep-alive connection that sends one call again and again, the next one when the answer has come. It knows just
 * enough of HTTP/1.1 for answers with a `content-length` and for chunked ones, so that making load costs less than
 * serving it.
 */
export class Connection {
  private socket: Socket;
  /** Of the current answer. */
  private pending: Buffer = EMPTY;
  private chunks: Buffer[] = [];
  private isChunked = false;
  private expected: Buffer | undefined;
  private waiting: { readonly resolve: () => void; readonly reject: (error: Error) => void } | undefined;
  private more: () => boolean = () => false;

  constructor(private readonly options: ConnectionOptions) {
    this.socket = this.connect();
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
      this.socket.write(this.options.request);
    });
  }

  /** Begins anew: servers close connections that are idle for long. */
  reconnect(): void {
    this.close();
    this.socket = this.connect();
  }

  close(): void {
    this.waiting = undefined;
    this.socket.destroy();
  }

  private connect(): Socket {
    const { url } = this.options;
    const socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true });
    socket.on('data', (chunk: Buffer) => {
      try {
        this.receive(chunk);
      } catch (error) {
        this.waiting?.reject(error as Error);
      }
    });
    const fail = (error: Error) => void (socket === this.socket && this.waiting?.reject(error));
    socket.on('error', fail);
    socket.on('close', () => fail(new Error('the server closed a connection')));
    return socket;
  }

  private receive(chunk: Buffer): void {
    if (this.isChunked) return this.receiveChunked(chunk);
    this.pending = this.pending.length === 0 ? chunk : Buffer.concat([this.pending, chunk]);
    const body = this.pending.indexOf(END_OF_HEADERS) + END_OF_HEADERS.length;
    if (body < END_OF_HEADERS.length) return;
    const length = this.expected?.length ?? this.lengthIn(this.pending.toString('latin1', 0, body));
    if (this.isChunked) return this.receiveChunked(this.pending);
    if (this.pending.length < body + length) return;
    this.check(this.pending, body);
    this.next();
  }

  /** Answers in chunks end with an empty one, behind which nothing comes before the next request. */
  private receiveChunked(chunk: Buffer): void {
    this.chunks.push(chunk);
    const end = chunk.length < END_OF_CHUNKS.length ? Buffer.concat(this.chunks) : chunk;
    if (!end.subarray(-END_OF_CHUNKS.length).equals(END_OF_CHUNKS)) return;
    const answer = Buffer.concat(this.chunks);
    requireOk(answer);
    const { call, client } = this.options;
    // ids of events differ from answer to answer, so bytes cannot be compared, and to parse long streams is too much
    if (!call.streams || this.expected === undefined) call.verify(messagesOf(bodyOf(answer)), client);
    else if (countOf(STEP, answer) !== PROGRESS_STEPS) throw new Error(`a stream with ${countOf(STEP, answer)} steps`);
    this.expected = answer;
    this.next();
  }

  private next(): void {
    this.pending = EMPTY;
    this.chunks = [];
    if (this.more()) this.socket.write(this.options.request);
    else this.waiting?.resolve();
  }

  /** The first answer is read and understood; the others must be the same bytes, which is cheap to see. */
  private check(answer: Buffer, body: number): void {
    requireOk(answer);
    if (this.expected === undefined) {
      this.options.call.verify(messagesOf(answer.toString('utf8', body)), this.options.client);
      this.expected = Buffer.from(answer.subarray(body));
    } else if (this.expected.compare(answer, body) !== 0) {
      throw new Error(`an answer differs from the first: ${answer.toString('utf8', body)}`);
    }
  }

  private lengthIn(headers: string): number {
    const length = /\r\ncontent-length: (\d+)/i.exec(headers)?.[1];
    this.isChunked = length === undefined && /\r\ntransfer-encoding: chunked/i.test(headers);
    if (length === undefined && !this.isChunked) throw new Error(`an answer of unknown length: ${headers}`);
    return Number(length);
  }
}

function requireOk(answer: Buffer): void {
  if (OK.compare(answer, 0, OK.length) !== 0) throw new Error(`not answered with 200: ${answer.toString()}`);
}

/** The body of a chunked answer. */
function bodyOf(answer: Buffer): string {
  const parts: Buffer[] = [];
  let at = answer.indexOf(END_OF_HEADERS) + END_OF_HEADERS.length;
  for (;;) {
    const line = answer.indexOf('\r\n', at);
    const size = Number.parseInt(answer.toString('latin1', at, line), 16);
    if (!(size > 0)) return Buffer.concat(parts).toString();
    parts.push(answer.subarray(line + 2, line + 2 + size));
    at = line + 2 + size + 2;
  }
}

/** How often a needle is in bytes. */
export function countOf(needle: Buffer, bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(needle); at >= 0; at = bytes.indexOf(needle, at + needle.length)) count += 1;
  return count;
}

/** The messages in a body: JSON, or an event stream. An event without data primes the stream, and has none. */
export function messagesOf(body: string): Message[] {
  if (body.startsWith('{')) return [JSON.parse(body) as Message];
  return [...body.matchAll(/^data: (\{.*\})$/gm)].map(([, data = '']) => JSON.parse(data) as Message);
}

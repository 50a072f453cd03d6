import { connect, type Socket } from 'node:net';

import { type Call, type Message, PROGRESS_STEPS } from './calls.js';

const END_OF_HEADERS = Buffer.from('\r\n\r\n');
const END_OF_CHUNKS = Buffer.from('\r\n0\r\n\r\n');
const STEP = Buffer.from('"notifications/progress"');
const OK = Buffer.from('HTTP/1.1 200 ');
const EMPTY = Buffer.alloc(0);

/** The target of a connection and the request to send. */
export interface ConnectionOptions {
  readonly url: URL;
  readonly call: Call;
  readonly client: number;
  readonly request: Buffer;
}

/**
 * A keep-alive connection that repeats one call, each time after the previous response. It implements just enough of
 * HTTP/1.1 to read chunked responses and those with a `content-length`, so that generating the load costs less than
 * serving it.
 */
export class Connection {
  private socket: Socket;
  /** Received bytes of the current response. */
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
   * Sends calls one after the other.
   * @param more called before each call; returns whether to send it
   */
  async run(more: () => boolean): Promise<void> {
    this.more = more;
    if (!more()) return;
    await new Promise<void>((resolve, reject) => {
      this.waiting = { resolve, reject };
      this.socket.write(this.options.request);
    });
  }

  /** Replaces the socket, because servers close idle connections. */
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
    socket.on('close', () => fail(new Error('The server closed a connection.')));
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

  /** A chunked response ends with an empty chunk, and nothing follows until the next request. */
  private receiveChunked(chunk: Buffer): void {
    this.chunks.push(chunk);
    const end = chunk.length < END_OF_CHUNKS.length ? Buffer.concat(this.chunks) : chunk;
    if (!end.subarray(-END_OF_CHUNKS.length).equals(END_OF_CHUNKS)) return;
    const answer = Buffer.concat(this.chunks);
    requireOk(answer);
    const { call, client } = this.options;
    // event ids differ between responses, which rules out comparing bytes, and parsing long streams is too expensive
    if (!call.streams || this.expected === undefined) call.verify(messagesOf(bodyOf(answer)), client);
    else if (countOf(STEP, answer) !== PROGRESS_STEPS) throw new Error(`A stream had ${countOf(STEP, answer)} steps.`);
    this.expected = answer;
    this.next();
  }

  private next(): void {
    this.pending = EMPTY;
    this.chunks = [];
    if (this.more()) this.socket.write(this.options.request);
    else this.waiting?.resolve();
  }

  /** Parses and verifies the first response. All others must be identical, which is cheap to check. */
  private check(answer: Buffer, body: number): void {
    requireOk(answer);
    if (this.expected === undefined) {
      this.options.call.verify(messagesOf(answer.toString('utf8', body)), this.options.client);
      this.expected = Buffer.from(answer.subarray(body));
    } else if (this.expected.compare(answer, body) !== 0) {
      throw new Error(`A response differs from the first: ${answer.toString('utf8', body)}`);
    }
  }

  private lengthIn(headers: string): number {
    const length = /\r\ncontent-length: (\d+)/i.exec(headers)?.[1];
    this.isChunked = length === undefined && /\r\ntransfer-encoding: chunked/i.test(headers);
    if (length === undefined && !this.isChunked) throw new Error(`A response has no length: ${headers}`);
    return Number(length);
  }
}

function requireOk(answer: Buffer): void {
  if (OK.compare(answer, 0, OK.length) !== 0) throw new Error(`The status is not 200: ${answer.toString()}`);
}

/** Decodes the body of a chunked response. */
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

/** Counts the occurrences of `needle`. */
export function countOf(needle: Buffer, bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(needle); at >= 0; at = bytes.indexOf(needle, at + needle.length)) count += 1;
  return count;
}

/** The messages in a JSON body or an event stream. Priming events have no data and are skipped. */
export function messagesOf(body: string): Message[] {
  if (body.startsWith('{')) return [JSON.parse(body) as Message];
  return [...body.matchAll(/^data: (\{.*\})$/gm)].map(([, data = '']) => JSON.parse(data) as Message);
}

// A raw connection, for endless requests and clients that disconnect.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

import { afterwards } from './fixture.js';
import type { Fields } from './messages.js';

/** One connection to an endpoint. */
export class Connection {
  /** The received text. */
  text = '';
  private isOver = false;
  private onText = () => {};

  private constructor(
    private readonly url: URL,
    readonly socket: Socket,
  ) {
    socket.setEncoding('utf8');
    socket.on('data', (text: string) => {
      this.text += text;
      this.onText();
    });
    socket.once('close', () => {
      this.isOver = true;
      this.onText();
    });
    // the close event shows that the server has disconnected
    socket.on('error', () => {});
    afterwards(() => this.leave());
  }

  /** Connects without sending anything. */
  static async open(url: string): Promise<Connection> {
    const target = new URL(url);
    const socket = connect(Number(target.port), target.hostname);
    await once(socket, 'connect');
    return new Connection(target, socket);
  }

  /** Sends the head of a request and the start of its body. Without a length, the body is chunked. */
  head(method: string, headers: Fields, length?: number, body = ''): void {
    const all = {
      host: this.url.host,
      ...headers,
      ...(length === undefined ? { 'transfer-encoding': 'chunked' } : { 'content-length': String(length) }),
    };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
    this.socket.write(`${method} ${this.url.pathname}${this.url.search} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
  }

  /** Sends a complete POST. */
  post(message: unknown, headers: Fields): void {
    const body = JSON.stringify(message);
    this.head('POST', { 'content-type': 'application/json', ...headers }, Buffer.byteLength(body), body);
  }

  /** Sends the head of a request and an endless body. */
  endless(method: string, headers: Fields): this {
    this.head(method, headers);
    const timer = setInterval(() => this.socket.writable && this.socket.write('1\r\nx\r\n'), 5);
    this.socket.once('close', () => clearInterval(timer));
    return this;
  }

  /** Waits until the received text matches or the connection closes. */
  async until(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.text) && !this.isOver) {
      await new Promise<void>((resolve) => {
        this.onText = resolve;
      });
    }
    return this.text;
  }

  /** Waits until the server closes the connection. */
  async closed(): Promise<string> {
    // matches nothing
    return await this.until(/(?!)/);
  }

  /** Drops the connection. */
  leave(): void {
    this.socket.destroy();
  }
}

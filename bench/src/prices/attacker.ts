import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

import { Client, type Sent } from './client.js';

/** Cap on open connections: more than the server accepts, and fewer than the files that this process may open. */
const MAX_SOCKETS = 6_000;

/** A client that never reads responses, except to requests sent with `client`. */
export class Attacker {
  readonly client: Client;
  requests = 0;
  bytes = 0;
  private readonly url: URL;
  private readonly sockets = new Set<Socket>();
  private readonly over: Promise<void>;
  private end = () => {};
  private ended = false;

  constructor(url: string) {
    this.client = new Client(url);
    this.url = new URL(url);
    this.over = new Promise((resolve) => {
      this.end = resolve;
    });
  }

  /** Calls `act` again and again, several times at once, until the flood ends. */
  async repeat(atOnce: number, act: (count: number) => Promise<unknown>): Promise<void> {
    let count = 0;
    const loop = async () => {
      // ignore refused connections: a limit may cause them
      while (!this.ended) await Promise.race([act((count += 1)).catch(() => {}), this.over]);
    };
    await Promise.all(Array.from({ length: atOnce }, loop));
  }

  /** Sends a request and reads the answer. */
  async post(sent: Sent) {
    this.count(Buffer.byteLength(sent.body ?? ''));
    return await this.client.send(sent);
  }

  /** Opens a connection. Nothing is read from it. */
  async connect(): Promise<Socket> {
    const [oldest] = this.sockets;
    if (oldest && this.sockets.size >= MAX_SOCKETS) {
      oldest.destroy();
      await once(oldest, 'close');
    }
    const socket = connect({ host: this.url.hostname, port: Number(this.url.port) });
    socket.pause();
    this.sockets.add(socket);
    socket.on('error', () => {}).on('close', () => this.sockets.delete(socket));
    await new Promise((resolve) => socket.once('connect', resolve).once('close', resolve));
    if (socket.destroyed) throw new Error('The connection was refused.');
    return socket;
  }

  /** Writes bytes, and waits until they are flushed or the connection has ended. */
  async write(socket: Socket, bytes: Buffer | string): Promise<void> {
    this.count(Buffer.byteLength(bytes));
    if (socket.destroyed) throw new Error('The connection is closed.');
    await new Promise<void>((resolve) => void socket.write(bytes, () => resolve()));
  }

  /** Serializes a request. `length` can declare a longer body than the request has. */
  raw({ method = 'POST', headers = {}, body = '' }: Sent, length = Buffer.byteLength(body)): Buffer {
    const all = { host: this.url.host, ...headers, ...(method === 'POST' && { 'content-length': String(length) }) };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
    const head = `${method} ${this.url.pathname} HTTP/1.1\r\n${lines.join('')}\r\n`;
    return Buffer.concat([Buffer.from(head), Buffer.from(body)]);
  }

  /** Ends the flood. */
  stop(): void {
    this.ended = true;
    this.end();
  }

  /** Closes all connections. */
  close(): void {
    for (const socket of this.sockets) socket.destroy();
    this.client.close();
  }

  private count(bytes: number): void {
    this.requests += 1;
    this.bytes += bytes;
  }
}

import { connect, type Socket } from 'node:net';

import { CALLS } from './calls.js';
import { countOf, messagesOf } from './connection.js';
import { costOf, type Entrant, type Measured } from './entrant.js';
import type { PartName } from './parts.js';
import { requestOf } from './requests.js';

const UPDATED = Buffer.from('"notifications/resources/updated"');

/** Options of `ListenEntrant`. */
export interface ListenOptions {
  readonly part: PartName;
  readonly url: string;
  readonly bare: boolean;
  /** Number of open streams. */
  readonly streams: number;
}

/** Open streams that receive changes. One call is one change sent to one stream. */
export class ListenEntrant implements Entrant {
  private sockets: readonly Socket[] = [];
  private came = 0;
  private awaited = Number.POSITIVE_INFINITY;
  private arrived = () => {};

  constructor(
    private readonly measured: Measured,
    private readonly options: ListenOptions,
  ) {}

  async prepare(): Promise<void> {
    const clients = Array.from({ length: this.options.streams }, (_, client) => client);
    this.sockets = await Promise.all(clients.map((client) => this.open(client)));
    await this.slice(clients.length);
  }

  async slice(calls: number): Promise<number> {
    const { part, streams } = this.options;
    const times = Math.ceil(calls / streams);
    const micros = await costOf(this.measured, async () => {
      const all = this.expect(times * streams);
      await this.measured.ask({ kind: 'tell', part, times });
      await all;
    });
    return (micros * calls) / (times * streams);
  }

  async finish(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
  }

  /** Opens a stream and verifies the acknowledgement. */
  private async open(client: number): Promise<Socket> {
    const { bare, url } = this.options;
    const call = CALLS.listen;
    const target = new URL(bare ? (call.limitPath ?? '') : '', url);
    const request = requestOf(target, { call, style: bare ? 'plain' : 'stateless', client });
    const socket = connect({ host: target.hostname, port: Number(target.port), noDelay: true });
    socket.write(request);
    await new Promise<void>((resolve, reject) => {
      let begun = '';
      const begin = (chunk: Buffer) => {
        begun += chunk.toString();
        if (!begun.endsWith('\n\n\r\n')) return;
        socket.off('data', begin);
        socket.on('data', (later: Buffer) => this.receive(later));
        resolve();
        call.verify(messagesOf(begun), client);
      };
      socket.on('data', begin);
      socket.on('error', reject);
    });
    return socket;
  }

  private receive(chunk: Buffer): void {
    this.came += countOf(UPDATED, chunk);
    if (this.came >= this.awaited) this.arrived();
  }

  private async expect(count: number): Promise<void> {
    this.came = 0;
    this.awaited = count;
    await new Promise<void>((resolve) => {
      this.arrived = resolve;
    });
    this.awaited = Number.POSITIVE_INFINITY;
  }
}

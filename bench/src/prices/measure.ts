import type { Duplex } from 'node:stream';

import { Client, INITIALIZE, META, type Message, type Sent, stateless } from './client.js';
import { type Answer, type Question, readLines } from './host.js';
import type { Era, Kind, World } from './kinds.js';

/** A host, in this process or another one. */
export interface Attacked {
  ask(question: Question): Promise<Answer>;
  /** The client's end of a pipe. */
  pipe(index: number): Pick<Duplex, 'write'> & NodeJS.ReadableStream;
}

/** How a kind was sent, and what it cost. */
export interface Measurement {
  readonly kind: Kind;
  readonly way: string;
  /** Bytes per message, including HTTP headers. */
  readonly bytes: number;
  /** Microseconds of CPU time per message, and of the bare route for the same bytes. */
  readonly micros: number;
  readonly bare: number;
  /** Bytes that stay in memory per KiB sent. */
  readonly kept: number;
}

/**
 * Memory growth that counts as noise, in bytes: no two collections leave the same heap, and compilers keep optimizing.
 */
export const NOISE = 1024 * 1024;

/** How long to measure. */
export interface Effort {
  /** CPU time of one measurement, in microseconds. */
  readonly micros: number;
  /**
   * Number of measurements. The cheapest counts, because collections and other processes only make them more expensive.
   */
  readonly repeats: number;
  /** Bytes to send before measuring memory; 0 to skip this measurement. */
  readonly sent: number;
}

/** One way of sending a kind. */
interface Way {
  readonly name: string;
  readonly bytes: number;
  send(): Promise<unknown>;
  /** Sends the same bytes to the bare route. */
  bare(): Promise<unknown>;
}

/** Sends lines to one pipe, and knows when the server has handled them. */
class Lines {
  private pings = 0;
  private onPing: (() => void) | undefined;

  constructor(
    private readonly pipe: ReturnType<Attacked['pipe']>,
    private readonly era: Era,
  ) {
    readLines(pipe as never, (line) => {
      if (line.includes(`"id":"ping${this.pings}"`)) this.onPing?.();
    });
  }

  async open(): Promise<void> {
    if (this.era === 'session') await this.send(JSON.stringify(INITIALIZE));
  }

  /** Sends a line, and then a request whose response shows that the line was handled. */
  send(line: string | Buffer): Promise<void> {
    this.pings += 1;
    const [method, params] = this.era === 'session' ? ['ping', {}] : ['server/discover', { _meta: META }];
    this.pipe.write(line);
    this.pipe.write(`\n${JSON.stringify({ jsonrpc: '2.0', id: `ping${this.pings}`, method, params })}\n`);
    return new Promise((resolve) => {
      this.onPing = resolve;
    });
  }
}

/** Measures kinds, one after the other. */
export class Scales {
  private constructor(
    private readonly attacked: Attacked,
    private readonly clients: { readonly target: Client; readonly bare: Client },
    private readonly lines: Readonly<Record<Era, Lines>>,
  ) {}

  static async open(attacked: Attacked): Promise<Scales> {
    const { urls } = await attacked.ask({ kind: 'open' });
    const clients = { target: new Client(urls?.target ?? ''), bare: new Client(urls?.bare ?? '') };
    const lines = {
      session: new Lines(attacked.pipe(0), 'session'),
      stateless: new Lines(attacked.pipe(1), 'stateless'),
    };
    for (const each of Object.values(lines)) await each.open();
    return new Scales(attacked, clients, lines);
  }

  close(): void {
    this.clients.target.close();
    this.clients.bare.close();
  }

  /** Measures each way of sending a kind. */
  async measure(kind: Kind, effort: Effort): Promise<Measurement[]> {
    const measurements: Measurement[] = [];
    for (const way of await this.waysOf(kind)) {
      // let the server compile its code and schemas first
      for (let count = 0; count < 2; count += 1) await Promise.all([way.send(), way.bare()]);
      const micros = await this.cpu(() => way.send(), effort);
      const bare = await this.cpu(() => way.bare(), effort);
      const kept = effort.sent === 0 ? 0 : await this.kept(way, effort.sent);
      measurements.push({ kind, way: way.name, bytes: way.bytes, micros, bare, kept });
    }
    return measurements;
  }

  /** Bytes that stay in memory after sending all kinds, and the bytes that may stay. */
  async keptOf(kinds: readonly Kind[], sent: number): Promise<{ readonly grown: number; readonly allowed: number }> {
    const ways: { readonly way: Way; readonly kind: Kind }[] = [];
    for (const kind of kinds) ways.push(...(await this.waysOf(kind)).map((way) => ({ way, kind })));
    for (const { way } of ways) await way.send();
    const before = await this.used();
    let allowed = NOISE;
    for (const { way, kind } of ways) allowed += (kind.kept * (await this.sendAll(way, sent))) / 1024;
    return { grown: (await this.used()) - before, allowed };
  }

  private async waysOf(kind: Kind): Promise<Way[]> {
    const { target } = this.clients;
    const { text } = await target.send(stateless('tools/call', { name: 'ask', arguments: {} }));
    const state = String((JSON.parse(text) as Message).result?.['requestState']);
    return this.waysIn({ session: await target.session(), state }, kind);
  }

  private waysIn(world: World, { message, eras = ['stateless'], body, http }: Kind): Way[] {
    if (http !== undefined) return [this.http('HTTP', http(world))];
    if (body !== undefined) {
      const { headers } = stateless('tools/list', {});
      return [this.http('HTTP', { headers, body }), this.stdio('stdio', body, 'stateless')];
    }
    return eras.flatMap((era) => {
      const { method = '', params = {}, isNotification = false } = message ?? {};
      const id = isNotification ? {} : { id: 1 };
      const text = JSON.stringify({ jsonrpc: '2.0', ...id, method, params });
      const sent = era === 'session' ? { headers: world.session, body: text } : stateless(method, params);
      const line = era === 'session' ? text : stateless(method, params).body;
      return [this.http(`HTTP, ${era}`, sent), this.stdio(`stdio, ${era}`, line, era)];
    });
  }

  private http(name: string, sent: Sent): Way {
    const { target, bare } = this.clients;
    const { headers = {}, body = '' } = sent;
    const head = Object.entries(headers).reduce((size, [key, value]) => size + key.length + value.length + 4, 0);
    // some requests break the connection, which counts as a response
    const send = (client: Client) => client.send(sent).catch(() => {});
    const bytes = head + Buffer.byteLength(body);
    return { name, bytes, send: () => send(target), bare: () => send(bare) };
  }

  private stdio(name: string, line: string | Buffer, era: Era): Way {
    const bare = () => this.clients.bare.send({ body: line });
    return { name, bytes: Buffer.byteLength(line), send: () => this.lines[era].send(line), bare };
  }

  /** CPU time per call of `send`, in microseconds. */
  private async cpu(send: () => Promise<unknown>, { micros, repeats }: Effort): Promise<number> {
    let least = Number.POSITIVE_INFINITY;
    for (let repeat = 0; repeat < repeats; repeat += 1) {
      const before = await this.micros();
      let spent = 0;
      let count = 0;
      while (spent < micros) {
        for (let more = Math.max(1, count); more > 0; more -= 1, count += 1) await send();
        spent = (await this.micros()) - before;
      }
      least = Math.min(least, spent / count);
    }
    return least;
  }

  private async kept(way: Way, sent: number): Promise<number> {
    const before = await this.used();
    const bytes = await this.sendAll(way, sent);
    const grown = (await this.used()) - before;
    return grown < NOISE ? 0 : grown / (bytes / 1024);
  }

  /** Sends at least `sent` bytes, and returns the exact number. */
  private async sendAll({ send, bytes }: Way, sent: number): Promise<number> {
    const count = Math.ceil(sent / bytes);
    for (let left = count; left > 0; left -= 1) await send();
    return count * bytes;
  }

  private async micros(): Promise<number> {
    return (await this.attacked.ask({ kind: 'cpu' })).micros ?? NaN;
  }

  private async used(): Promise<number> {
    return (await this.attacked.ask({ kind: 'memory' })).used ?? NaN;
  }
}

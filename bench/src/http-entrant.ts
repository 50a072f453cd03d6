import type { Call, Style } from './calls.js';
import { Connection } from './connection.js';
import { costOf, type Entrant, type Measured } from './entrant.js';
import { closeSession, NO_SESSION, openSession, requestOf, type Session } from './requests.js';

/** Milliseconds after which to reconnect. Node closes connections that are idle for 5 seconds. */
const IDLE_MS = 3000;

/** Options of calls over HTTP. */
export interface HttpOptions {
  readonly url: string;
  readonly call: Call;
  readonly style: Style;
  readonly connections: number;
  /** Whether `url` is the bare route. It has no sessions, so its requests carry a made-up session id. */
  readonly bare: boolean;
  /**
   * Access tokens. Each connection has its own, because simultaneous requests with the same token share one
   * verification.
   */
  readonly tokens?: readonly string[] | undefined;
}

/** Keep-alive connections with one call in flight each. In the style `session`, each has its own session. */
export class HttpEntrant implements Entrant {
  private sessions: readonly Session[] = [];
  private connections: readonly Connection[] = [];
  private usedAt = 0;
  private readonly url: URL;

  constructor(
    private readonly measured: Measured,
    private readonly options: HttpOptions,
  ) {
    const { bare, call, url } = options;
    this.url = new URL(bare ? (call.limitPath ?? '') : '', url);
  }

  async prepare(): Promise<void> {
    const { bare, call, connections, style, tokens = [] } = this.options;
    const clients = Array.from({ length: connections }, (_, client) => client);
    const needed = style === 'session' ? clients : [];
    this.sessions = await Promise.all(needed.map(() => (bare ? NO_SESSION : openSession(this.url))));
    this.connections = clients.map((client) => {
      const session = this.sessions[client] ?? NO_SESSION;
      const request = requestOf(this.url, { call, style, session, client, token: tokens[client % tokens.length] });
      return new Connection({ url: this.url, call, client, request });
    });
    await this.send(connections);
  }

  async slice(calls: number): Promise<number> {
    if (performance.now() - this.usedAt > IDLE_MS) {
      for (const connection of this.connections) connection.reconnect();
      await this.send(this.connections.length);
    }
    return await costOf(this.measured, () => this.send(calls));
  }

  async finish(): Promise<void> {
    for (const connection of this.connections) connection.close();
    if (!this.options.bare) await Promise.all(this.sessions.map((session) => closeSession(this.url, session)));
  }

  private async send(calls: number): Promise<void> {
    let left = calls;
    await Promise.all(this.connections.map((connection) => connection.run(() => left-- > 0)));
    this.usedAt = performance.now();
  }
}

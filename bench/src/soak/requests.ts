import { Agent, type ClientRequest, request, type RequestOptions } from 'node:http';

/** The requests of one client, over connections that it keeps. */
export class Requests {
  private readonly agent: Agent;
  private readonly open = new Set<ClientRequest>();

  /** @param maxSockets cap on the connections; further requests wait for one */
  constructor(maxSockets: number) {
    this.agent = new Agent({ keepAlive: true, maxSockets });
  }

  /** Begins a request. */
  send(url: URL, options: RequestOptions): ClientRequest {
    const sent = request(url, { ...options, agent: this.agent });
    this.open.add(sent);
    return sent.once('close', () => this.open.delete(sent));
  }

  /** Closes all connections. */
  cut(): void {
    // the agent would open new connections for requests that still wait for one, and keep those
    for (const sent of this.open) sent.destroy();
    this.agent.destroy();
  }
}

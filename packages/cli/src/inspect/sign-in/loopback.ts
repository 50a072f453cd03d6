import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const HOST = '127.0.0.1';
const PATH = '/callback';

const page = (text: string) =>
  `<!doctype html><meta charset="utf-8"><title>Decorum</title><p>${text} You can close this page.</p>`;

/** Waits on this machine for the browser to come back from the authorization server (RFC 8252, 7.3). */
export class Loopback {
  private readonly server: Server;
  private state: string | undefined;
  private came: (url: URL) => void = () => {};

  private constructor() {
    this.server = createServer((request, response) => this.answer(request, response));
  }

  /**
   * Begins to listen.
   * @param port that of a redirect URI that is registered already; 0 for any
   * @throws if the port is taken
   */
  static async open(port: number): Promise<Loopback> {
    const loopback = new Loopback();
    loopback.server.listen(port, HOST);
    await once(loopback.server, 'listening');
    return loopback;
  }

  /** The port, of which `redirectUrl` is made. */
  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Where the authorization server sends the browser. */
  get redirectUrl(): string {
    return `http://${HOST}:${this.port}${PATH}`;
  }

  /** Resolves with the URL at which the browser came back. Requests with another `state` are refused. */
  async back(state: string): Promise<URL> {
    this.state = state;
    return await new Promise((resolve) => {
      this.came = resolve;
    });
  }

  /** Stops listening. */
  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  private answer({ url = '', method }: IncomingMessage, response: ServerResponse): void {
    const to = URL.canParse(url, this.redirectUrl) ? new URL(url, this.redirectUrl) : undefined;
    const isMeant = method === 'GET' && to?.pathname === PATH && to.searchParams.get('state') === this.state;
    const hasFailed = to?.searchParams.has('error') === true;
    response.writeHead(isMeant ? 200 : 404, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      connection: 'close',
    });
    if (!isMeant || to === undefined || this.state === undefined)
      return void response.end(page('Nothing waits for this.'));
    this.state = undefined;
    response.end(page(hasFailed ? 'The sign-in has failed.' : 'You are signed in.'), () => this.came(to));
  }
}

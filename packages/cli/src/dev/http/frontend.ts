import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { CommandFailure, EXIT } from 'create-decorum';

import type { ActiveProgram } from '../active-program.js';
import type { CardServer } from '../cards/card-server.js';
import type { About, Frontend, Migration } from '../frontend.js';
import { RequestCounts } from '../request-counts.js';
import { inTime } from '../in-time.js';
import { haveCards } from '../lists.js';
import type { Program } from '../program.js';
import { Clients } from './clients.js';
import { Guard } from './guard.js';
import { Incoming } from './incoming.js';
import { Router } from './router.js';

/** The clients over HTTP. The relay owns the port; programs come and go behind it. */
export class HttpFrontend implements Frontend {
  private readonly server: Server;
  private readonly guard: Guard;
  private readonly clients: Clients;
  private readonly inFlight = new RequestCounts();
  private readonly router: Router;
  private host = '127.0.0.1';
  /** The page that shows cards, once a program has any. */
  private cards: CardServer | undefined;
  private served = false;
  private isClosing = false;
  /** The path of the program's MCP endpoint. */
  private path = '/mcp';
  /** The port that clients use, once the relay listens. */
  port: number | undefined;

  readonly disconnected = new Promise<void>(() => {});

  constructor(
    active: ActiveProgram,
    private readonly defaultPort: number,
    /** Host names that the user allows. */
    allowedHosts: readonly string[],
  ) {
    this.guard = new Guard(allowedHosts);
    this.clients = new Clients(this.guard);
    this.router = new Router(active, this.clients, this.inFlight);
    // streams stay open for as long as clients like
    this.server = createServer({ requestTimeout: 0, headersTimeout: 60_000 }, (request, response) =>
      this.handle(request, response),
    );
  }

  private handle(request: IncomingMessage, response: ServerResponse): void {
    const incoming = new Incoming(request, response, this.guard);
    this.router.route(incoming).catch(() => response.destroy());
  }

  /**
   * Listens, unless it does so already.
   * @throws {CommandFailure} if the port is taken
   */
  async listen(port: number, host = '127.0.0.1'): Promise<void> {
    if (this.port !== undefined) return;
    const { server } = this;
    try {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject).listen({ port, host }, () => {
          server.off('error', reject);
          resolve();
        });
      });
    } catch (error) {
      throw portFailure(error as NodeJS.ErrnoException, port);
    }
    this.host = host;
    this.port = (server.address() as AddressInfo).port;
    this.guard.listens(this.port, host);
  }

  async open(program: Program | undefined): Promise<void> {
    await this.listen(program?.asked?.port ?? this.defaultPort, program?.asked?.host);
  }

  receive(): void {}

  async migrate(next: Program, activate: () => void): Promise<Migration> {
    const notify = await this.clients.move(next);
    activate();
    const moved = await notify();
    // the first program is asked by `about`, as soon as it serves
    const cards = this.served && !next.isStandIn ? await inTime(this.showCards(next, false)) : undefined;
    if (!next.isStandIn) this.cards?.tell('changed');
    return { ...moved, cards };
  }

  fail(program: Program, problem: string): void {
    for (const post of this.clients.posts) if (post.program === program) post.fail(problem);
    for (const session of this.clients.sessions.values()) session.forget(program);
  }

  idle(program: Program): Promise<void> {
    return this.inFlight.idle(program);
  }

  async about(program: Program): Promise<About> {
    const host = this.host === '0.0.0.0' ? '127.0.0.1' : this.host.includes(':') ? 'localhost' : this.host;
    this.served = true;
    const catalog = await this.clients.catalogOf(program, true);
    const cards = await this.showCards(program, true);
    return { catalog, place: `http://${host}:${this.port}${catalog?.path ?? ''}`, cards };
  }

  /**
   * Opens the page that shows cards when a program has cards for the first time. Only this loads its code.
   * @returns its address, if it has been opened now
   */
  private async showCards(program: Program, isFirst: boolean): Promise<string | undefined> {
    const catalog = await this.clients.catalogOf(program, isFirst);
    if (catalog === undefined) return undefined;
    this.path = catalog.path;
    if (this.cards || this.isClosing || this.port === undefined || !haveCards(catalog.lists)) return undefined;
    const { CardServer } = await import('../cards/card-server.js');
    // without a free port, there is no page
    const cards = await CardServer.open(this.port, (request, response) => {
      request.headers.host = `127.0.0.1:${this.port}`;
      request.url = this.path;
      this.handle(request, response);
    }).catch(() => undefined);
    if (this.isClosing) cards?.close();
    else this.cards = cards;
    return this.cards?.url;
  }

  log(text: string): void {
    this.cards?.tell('problem', { text });
    for (const { memory, streams } of this.clients.sessions.values()) {
      if (!memory.joined || !memory.wantsErrors) continue;
      const [stream] = streams;
      stream?.notify('notifications/message', { level: 'error', logger: 'decorum dev', data: text });
    }
  }

  async close(drainMs: number): Promise<void> {
    this.isClosing = true;
    const closed = new Promise((resolve) => this.server.close(resolve));
    await inTime(this.inFlight.allIdle(), drainMs);
    for (const { streams } of this.clients.sessions.values()) for (const stream of streams) stream.end();
    for (const stream of this.clients.listens) stream.end();
    this.server.closeIdleConnections();
    await inTime(closed, 100);
    this.server.closeAllConnections();
    this.cards?.close();
  }
}

function portFailure({ code, message }: NodeJS.ErrnoException, port: number): CommandFailure {
  const problem =
    code === 'EADDRINUSE'
      ? `Port ${port} is taken by another program. Stop it, or pass another port: --port ${port + 1}`
      : code === 'EACCES'
        ? `Port ${port} needs privileges. Pass another port: --port 3000`
        : `Can't listen on port ${port}: ${message}. Pass another port with --port`;
  return new CommandFailure(problem, EXIT.environment);
}

import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';

import { listenLocally, type Loopback } from './loopback.js';
import { type CardDomains, pagePolicy, policyOf } from './policy.js';

/** Handles a request to the program's MCP endpoint, as if a client had sent it to the relay. */
export type Forward = (request: IncomingMessage, response: ServerResponse) => void;

/** What the page hears of. */
type PageEvent = 'changed' | 'problem' | 'blocked';

/** A request and its response. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The path without its query. */
  readonly path: string;
  /** The port that the browser uses, which may be a forwarded one. */
  readonly port: string;
}

/** The page, and the frame around a card. Both names are this machine, but they are different origins and sites. */
const PAGE = '127.0.0.1';
const SANDBOX = 'localhost';
const HOST = new RegExp(`^(${PAGE.replaceAll('.', '\\.')}|${SANDBOX}):(\\d{1,5})$`);

/** Added to the relay's port, so that the address of the page stays the same. */
const DISTANCE = 10_000;
const MAX_PORT = 65_535;
const MAX_REPORT_BYTES = 16_384;
/** Cap on open pages. */
const MAX_PAGES = 50;

const TYPES: Readonly<Record<string, string>> = { html: 'text/html', css: 'text/css', js: 'text/javascript' };
const PAGE_FILES: Readonly<Record<string, string>> = {
  '/': 'page.html',
  '/page.css': 'page.css',
  '/page.js': 'page.js',
};

/** The headers of MCP. Others, such as the cookies of other programs on this machine, stay here. */
const FORWARDED = /^(?:accept|content-(?:type|length)|transfer-encoding|authorization|last-event-id|mcp-[\w-]+)$/;

/** Shows the program's cards in a page that plays the host. Only this machine can reach it. */
export class CardServer {
  /** The event streams of the open pages. */
  private readonly pages = new Set<ServerResponse>();
  private loopback: Loopback = { port: 0, servers: [] };
  /** Browsers send reports here. Other web pages could send some too if they knew the path. */
  private readonly reports = `/blocked/${randomBytes(16).toString('base64url')}`;

  private constructor(private readonly forward: Forward) {}

  /**
   * Begins to listen.
   * @param relayPort the port of the relay
   * @throws {Error} if no port is free
   */
  static async open(relayPort: number, forward: Forward): Promise<CardServer> {
    const cards = new CardServer(forward);
    const wanted = relayPort + DISTANCE > MAX_PORT ? 0 : relayPort + DISTANCE;
    cards.loopback = await listenLocally(wanted, (request, response) => cards.handle(request, response));
    return cards;
  }

  /** The address of the page. */
  get url(): string {
    return `http://${PAGE}:${this.loopback.port}/`;
  }

  /** Tells the open pages. */
  tell(event: PageEvent, data: object = {}): void {
    for (const page of this.pages) page.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  close(): void {
    for (const server of this.loopback.servers) {
      server.close();
      server.closeAllConnections();
    }
  }

  private handle(request: IncomingMessage, response: ServerResponse): void {
    response.on('error', () => {});
    const [, name, port] = HOST.exec(request.headers.host ?? '') ?? [];
    const [path = '/'] = (request.url ?? '/').split('?', 1);
    // an attacker's own name may lead here too
    if (name === undefined || port === undefined) return refuse(request, response);
    const exchange = { request, response, path, port };
    if (name === PAGE) this.page(exchange);
    else this.sandbox(exchange);
  }

  private page({ request, response, path, port }: Exchange): void {
    const file = PAGE_FILES[path];
    if (file !== undefined && request.method === 'GET') {
      const policy = pagePolicy(`http://${SANDBOX}:${port}`);
      return void sendFile(response, file, { ...policyHeader(policy), 'cross-origin-opener-policy': 'same-origin' });
    }
    if (!isFromPage(request, port)) return refuse(request, response);
    if (path === '/events' && request.method === 'GET') return this.listen(response);
    if (path !== '/mcp') return refuse(request, response, 404);
    for (const each of Object.keys(request.headers)) if (!FORWARDED.test(each)) delete request.headers[each];
    this.forward(request, response);
  }

  private listen(response: ServerResponse): void {
    if (this.pages.size >= MAX_PAGES) return void response.writeHead(503).end();
    this.pages.add(response.once('close', () => this.pages.delete(response)));
    response.writeHead(200, { ...SHARED, 'content-type': 'text/event-stream' });
    response.flushHeaders();
  }

  private sandbox({ request, response, path, port }: Exchange): void {
    const page = `http://${PAGE}:${port}`;
    // people type this name
    if (path === '/' && request.method === 'GET') return void response.writeHead(302, { location: `${page}/` }).end();
    if (path === '/sandbox' && request.method === 'GET') {
      return void sendFile(
        response,
        'sandbox.html',
        policyHeader(policyOf(domainsIn(request.url ?? ''), page, this.reports)),
      );
    }
    if (path === '/sandbox.js' && request.method === 'GET') return void sendFile(response, 'sandbox.js', {});
    if (path === this.reports && request.method === 'POST') return this.report(request, response);
    refuse(request, response, 404);
  }

  /** Passes on what the browser says of a request that a card's policy has blocked. */
  private report(request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MAX_REPORT_BYTES) chunks.push(chunk);
    });
    request.once('end', () => {
      response.writeHead(204, SHARED).end();
      const report = size > MAX_REPORT_BYTES ? undefined : blockedIn(Buffer.concat(chunks).toString());
      if (report) this.tell('blocked', report);
    });
  }
}

const SHARED = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-dns-prefetch-control': 'off',
};

const policyHeader = (policy: string) => ({ 'content-security-policy': policy });

/**
 * Whether a request is from the page itself: other pages, the frames of cards among them, can't set these headers.
 * Browsers leave out `Origin` of a GET request to the page's own origin.
 */
function isFromPage({ headers }: IncomingMessage, port: string): boolean {
  const { origin, 'sec-fetch-site': site } = headers;
  return origin === undefined ? site === 'same-origin' : origin === `http://${PAGE}:${port}`;
}

function refuse(request: IncomingMessage, response: ServerResponse, status = 403): void {
  response
    .writeHead(status, { ...SHARED, 'content-type': 'text/plain' })
    .end(status === 403 ? 'Forbidden' : 'Not found');
  request.resume();
}

async function sendFile(response: ServerResponse, name: string, headers: OutgoingHttpHeaders): Promise<void> {
  const text = await readFile(new URL(`page/${name}`, import.meta.url)).catch(() => undefined);
  const type = TYPES[name.slice(name.lastIndexOf('.') + 1)];
  const own = { 'content-type': `${type}; charset=utf-8`, 'cross-origin-resource-policy': 'same-origin' };
  response.writeHead(text ? 200 : 500, { ...SHARED, ...own, ...headers }).end(text);
}

function json(text: string): Record<string, unknown> {
  try {
    const found: unknown = JSON.parse(text);
    return typeof found === 'object' && found !== null ? (found as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

const domainsIn = (url: string): CardDomains =>
  json(new URLSearchParams(url.slice(url.indexOf('?'))).get('domains') ?? '');

/** The directive and the address in a browser's report. Zod, and so each card of ext-apps, tries whether it may `eval`. */
function blockedIn(text: string): object | undefined {
  const { 'csp-report': report } = json(text);
  const { 'effective-directive': directive, 'blocked-uri': uri } = (report ?? {}) as Record<string, unknown>;
  if (typeof directive !== 'string' || typeof uri !== 'string' || uri === 'eval') return undefined;
  return { directive, uri };
}

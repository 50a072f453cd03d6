// A small web server for Fetch API handlers. It gives only the guarantees that all hosts of such handlers give.
// A reverse proxy from HTTP/1.1 to HTTP/2, so that this suite's clients can speak to servers for HTTP/2.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { type ClientHttp2Session, connect, constants, type IncomingHttpHeaders } from 'node:http2';
import { type AddressInfo, connect as connectSocket } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { setImmediate as turn } from 'node:timers/promises';

/** Connection details in addition to the request. */
export interface ConnectionInfo {
  readonly remoteAddress?: string;
  readonly localPort?: number;
}

type Handler = (request: Request, info: ConnectionInfo) => Promise<Response>;

/** Serves a handler over `node:http`. */
export function bridge(handler: Handler): RequestListener {
  return (incoming, outgoing) => {
    answer(handler, incoming, outgoing).catch(() => outgoing.destroy());
  };
}

async function answer(handler: Handler, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const { remoteAddress, localPort } = incoming.socket;
  const left = new AbortController();
  const request = requestOf(incoming, left.signal);
  outgoing.once('close', () => {
    // Node aborts the signal of a request only while the request is referenced
    if (!outgoing.writableFinished && !request.signal.aborted) left.abort();
  });
  const response = await handler(request, {
    ...(remoteAddress !== undefined && { remoteAddress }),
    ...(localPort !== undefined && { localPort }),
  });
  response.headers.forEach((value, name) => outgoing.setHeader(name, value));
  // a short body arrives together with the headers, but is parsed a moment later
  if (!incoming.complete) await turn();
  // the connection can't be reused if the body is not read
  if (!incoming.complete) outgoing.setHeader('connection', 'close');
  outgoing.writeHead(response.status);
  outgoing.once('finish', () => incoming.resume());
  if (response.body === null) return void outgoing.end();
  outgoing.flushHeaders();
  // a disconnecting reader ends the pipeline, which cancels the body
  await pipeline(Readable.fromWeb(response.body as ReadableStream), outgoing).catch(() => {});
}

function requestOf(incoming: IncomingMessage, signal: AbortSignal): Request {
  const { method = 'GET', headers: fields, url = '/' } = incoming;
  const headers = new Headers();
  for (const [name, value] of Object.entries(fields)) headers.set(name, String(value));
  // `headers` has only the first one in Node; other hosts join them, as the Fetch standard requires
  const { authorization } = incoming.headersDistinct;
  if (authorization) headers.set('authorization', authorization.join(', '));
  const hasBody =
    method !== 'GET' && method !== 'HEAD' && ('content-length' in fields || 'transfer-encoding' in fields);
  const body = hasBody ? (Readable.toWeb(incoming) as RequestInit['body'] & object) : null;
  return new Request(new URL(url, baseOf(fields.host)), { method, headers, body, signal, duplex: 'half' });
}

/** The base URL from the `Host` header, which may be invalid. */
function baseOf(host: string | undefined): string {
  return URL.canParse(`http://${host}`) ? `http://${host}` : 'http://unknown.invalid';
}

/** Headers of a connection of HTTP/1.1. HTTP/2 has none of them. */
const HOP_BY_HOP = new Set(['connection', 'host', 'keep-alive', 'transfer-encoding', 'upgrade', 'content-length']);

/** Where a server for HTTP/2 has to listen: at the port that clients know, on another loopback address. */
export interface Behind {
  readonly port: number;
  readonly host: string;
}

export interface Front {
  readonly server: Server;
  readonly behind: Behind;
  /** Closes the connection to the server for HTTP/2 when its requests have ended. */
  leave(): void;
}

/** Listens on a free port, and sends all requests on one connection to a server for HTTP/2. */
export async function openFront(): Promise<Front> {
  let session: ClientHttp2Session | undefined;
  const connected = () => {
    if (session === undefined || session.closed || session.destroyed) {
      const target = { ...behind, localAddress: '127.0.0.1' };
      session = connect(`http://${behind.host}`, { createConnection: () => connectSocket(target) });
      session.on('error', () => {});
    }
    return session;
  };
  const server = createServer((incoming, outgoing) => {
    forward(connected(), incoming, outgoing).catch(() => outgoing.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const behind = { port: (server.address() as AddressInfo).port, host: '127.0.0.2' };
  return { server, behind, leave: () => session?.close() };
}

async function forward(session: ClientHttp2Session, incoming: IncomingMessage, outgoing: ServerResponse) {
  const { method = 'GET', url = '/', headers } = incoming;
  const hasBody = 'content-length' in headers || 'transfer-encoding' in headers;
  const kept = Object.entries(headers).filter(
    ([name]) => !HOP_BY_HOP.has(name) || (hasBody && name === 'content-length'),
  );
  const stream = session.request(
    { ':method': method, ':path': url, ':authority': headers.host ?? '', ...Object.fromEntries(kept) },
    { endStream: !hasBody },
  );
  stream.on('error', () => outgoing.destroy());
  outgoing.once('close', () => stream.close(constants.NGHTTP2_CANCEL));
  if (hasBody) incoming.pipe(stream);
  const [{ ':status': status, ...answered }] = (await once(stream, 'response')) as [IncomingHttpHeaders];
  // a short body arrives together with the headers, but is parsed a moment later
  if (!incoming.complete) await turn();
  if (!incoming.complete) outgoing.setHeader('connection', 'close');
  outgoing.writeHead(Number(status), answered as Record<string, string>).flushHeaders();
  outgoing.once('finish', () => incoming.unpipe(stream).resume());
  stream.pipe(outgoing);
}

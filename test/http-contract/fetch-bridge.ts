// A small web server for handlers of the Fetch API, as every host of these has one: what it does is what a handler can
// count on, and nothing more.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { setImmediate as turn } from 'node:timers/promises';

/** What the bridge knows of a request beside it. */
export interface ConnectionInfo {
  readonly remoteAddress?: string;
  readonly localPort?: number;
}

type Handler = (request: Request, info: ConnectionInfo) => Promise<Response>;

/** Serves a handler by `node:http`. */
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
    // Node aborts the signal of a request only as long as somebody has the request
    if (!outgoing.writableFinished && !request.signal.aborted) left.abort();
  });
  const response = await handler(request, {
    ...(remoteAddress !== undefined && { remoteAddress }),
    ...(localPort !== undefined && { localPort }),
  });
  response.headers.forEach((value, name) => outgoing.setHeader(name, value));
  // a short body has come with the head, but is seen a moment later
  if (!incoming.complete) await turn();
  // nothing can follow on this connection where nobody reads on
  if (!incoming.complete) outgoing.setHeader('connection', 'close');
  outgoing.writeHead(response.status);
  outgoing.once('finish', () => incoming.resume());
  if (response.body === null) return void outgoing.end();
  outgoing.flushHeaders();
  // a reader that leaves ends the pipeline, which cancels the body
  await pipeline(Readable.fromWeb(response.body as ReadableStream), outgoing).catch(() => {});
}

function requestOf(incoming: IncomingMessage, signal: AbortSignal): Request {
  const { method = 'GET', headers: fields, url = '/' } = incoming;
  const headers = new Headers();
  for (const [name, value] of Object.entries(fields)) headers.set(name, String(value));
  const hasBody =
    method !== 'GET' && method !== 'HEAD' && ('content-length' in fields || 'transfer-encoding' in fields);
  const body = hasBody ? (Readable.toWeb(incoming) as RequestInit['body'] & object) : null;
  return new Request(new URL(url, baseOf(fields.host)), { method, headers, body, signal, duplex: 'half' });
}

/** Where the client says that it is, which can be anything. */
function baseOf(host: string | undefined): string {
  return URL.canParse(`http://${host}`) ? `http://${host}` : 'http://unknown.invalid';
}

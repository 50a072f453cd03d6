// A small web server for Fetch API handlers. It gives only the guarantees that all hosts of such handlers give.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
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

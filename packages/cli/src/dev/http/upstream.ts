import { type IncomingHttpHeaders, IncomingMessage, request } from 'node:http';

import { isJson, type Json, parse } from '../message.js';
import type { Program } from '../program.js';
import { readEvents } from './sse.js';

/** A request to a program. */
export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** A client's request is streamed. */
  readonly body?: string | Buffer | IncomingMessage;
  /** Aborts the request. */
  readonly signal?: AbortSignal;
}

// RFC 9110, section 7.6.1, plus `content-length`, which is set anew
const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'content-length',
];

/** The headers that may be forwarded. */
export function endToEnd(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const kept = { ...headers };
  for (const name of [...HOP_BY_HOP, ...(headers.connection ?? '').toLowerCase().split(/\s*,\s*/)]) delete kept[name];
  return kept;
}

function bodyHeaders(body: Sent['body']): IncomingHttpHeaders {
  if (body === undefined) return {};
  if (!(body instanceof IncomingMessage)) return { 'content-length': String(Buffer.byteLength(body)) };
  const { 'content-length': length, 'transfer-encoding': encoding } = body.headers;
  if (encoding !== undefined) return { 'transfer-encoding': 'chunked' };
  return length === undefined ? {} : { 'content-length': length };
}

/** The headers for a program. A stand-in has no hosts of its own, so it gets only what the relay's guard allows. */
function headersFor({ asked, isStandIn }: Program, headers: IncomingHttpHeaders): IncomingHttpHeaders {
  // the address that the program believes it listens on
  const host = `127.0.0.1:${asked?.port}`;
  const kept = { host, ...endToEnd(headers) };
  if (!isStandIn) return kept;
  const { origin: _origin, ...rest } = kept;
  return { ...rest, host };
}

/** A program's response, and how to abandon it. */
export interface Received {
  readonly response: IncomingMessage;
  readonly abandon: () => void;
}

/**
 * Sends a request to a program. Each request has its own connection: a program may close an idle one at any time, and
 * the request would be lost.
 */
export function send(program: Program, { method, path, headers, body, signal }: Sent): Promise<Received> {
  return new Promise((resolve, reject) => {
    const sent = request({
      host: '127.0.0.1',
      port: program.port,
      method,
      path,
      agent: false,
      ...(signal && { signal }),
      headers: { ...headersFor(program, headers), ...bodyHeaders(body) },
    });
    sent.on('error', reject);
    sent.on('response', (response) => {
      response.on('error', () => {});
      resolve({ response, abandon: () => sent.destroy() });
    });
    if (body instanceof IncomingMessage) body.pipe(sent);
    else sent.end(body);
  });
}

/** Whether a response is an event stream. */
export const isEventStream = ({ headers }: IncomingMessage): boolean =>
  headers['content-type']?.startsWith('text/event-stream') === true;

/** Reads the whole body of a program's response. */
export async function readBody(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** A program's response to one of the relay's own messages. */
export interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Undefined if there is none, as for notifications. */
  readonly message: Json | undefined;
  readonly body: string;
}

/** Sends one of the relay's own messages, and waits for the response. */
export async function converse(program: Program, sent: Sent): Promise<Answered> {
  const { response, abandon } = await send(program, sent);
  const { statusCode: status = 0, headers } = response;
  if (!isEventStream(response)) {
    const body = (await readBody(response)).toString();
    const message = parse(body);
    return { status, headers, body, message: isJson(message) ? message : undefined };
  }
  const message = await new Promise<Json | undefined>((resolve) => {
    readEvents(response, ({ data = '' }) => {
      const found = parse(data);
      if (isJson(found) && found['method'] === undefined) resolve(found);
    });
    response.once('close', () => resolve(undefined));
  });
  abandon();
  return { status, headers, body: '', message };
}

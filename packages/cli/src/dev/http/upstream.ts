import { type IncomingHttpHeaders, IncomingMessage, request } from 'node:http';

import { isJson, type Json, parse } from '../message.js';
import type { Program } from '../program.js';
import { readEvents } from './sse.js';

/** A request to a program. */
export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The session's id in this program. */
  readonly session?: string | undefined;
  /** A client's request is streamed. */
  readonly body?: string | Buffer | IncomingMessage | undefined;
  /** Aborts the request. */
  readonly signal?: AbortSignal;
  /** Whether the response is passed on as is. Any other is read here, so it must not be compressed. */
  readonly isProxied?: true;
}

/** The header with the session id. */
export const SESSION = 'mcp-session-id';

// RFC 9110, section 7.6.1, plus `content-length`, which is set anew
const HOP_BY_HOP =
  'connection,keep-alive,proxy-connection,te,trailer,transfer-encoding,upgrade,expect,content-length'.split(',');

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
function headersFor({ asked, isStandIn }: Program, sent: Sent): IncomingHttpHeaders {
  // the address that the program believes it listens on
  const host = `127.0.0.1:${asked?.port}`;
  const headers: IncomingHttpHeaders = { host, ...endToEnd(sent.headers), ...bodyHeaders(sent.body) };
  if (sent.session !== undefined) headers[SESSION] = sent.session;
  if (!sent.isProxied) delete headers['accept-encoding'];
  if (!isStandIn) return headers;
  const { origin: _origin, ...rest } = headers;
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
export function send(program: Program, sent: Sent): Promise<Received> {
  const { method, path, body, signal } = sent;
  return new Promise((resolve, reject) => {
    const target = { host: '127.0.0.1', port: program.port, method, path, headers: headersFor(program, sent) };
    const outgoing = request({ ...target, agent: false, ...(signal && { signal }) });
    outgoing.on('error', reject);
    outgoing.on('response', (response) => {
      response.on('error', () => {});
      resolve({ response, abandon: () => outgoing.destroy() });
    });
    if (body instanceof IncomingMessage) body.pipe(outgoing);
    else outgoing.end(body);
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

const POSTED = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

/** Posts one of the relay's own messages, and waits for the response. */
export async function converse(program: Program, sent: Omit<Sent, 'method'>): Promise<Answered> {
  const headers = { ...sent.headers, ...POSTED };
  const { response, abandon } = await send(program, { ...sent, method: 'POST', headers });
  const answered = { status: response.statusCode ?? 0, headers: response.headers };
  if (!isEventStream(response)) {
    const body = (await readBody(response)).toString();
    const message = parse(body);
    return { ...answered, body, message: isJson(message) ? message : undefined };
  }
  const message = await new Promise<Json | undefined>((resolve) => {
    readEvents(response, ({ data = '' }) => {
      const found = parse(data);
      if (isJson(found) && found['method'] === undefined) resolve(found);
    });
    response.once('close', () => resolve(undefined));
  });
  abandon();
  return { ...answered, body: '', message };
}

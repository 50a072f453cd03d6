import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';

import { isJson, type Json, parse } from '../message.js';
import type { Program } from '../program.js';
import { readEvents } from './sse.js';

/** A request to a program. */
export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body?: string | Buffer;
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
      headers: {
        // the address that the program believes it listens on
        host: `127.0.0.1:${program.asked?.port}`,
        ...endToEnd(headers),
        ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
      },
    });
    sent.on('error', reject);
    sent.on('response', (response) => {
      response.on('error', () => {});
      resolve({ response, abandon: () => sent.destroy() });
    });
    sent.end(body);
  });
}

/** Whether a response is an event stream. */
export const isEventStream = ({ headers }: IncomingMessage): boolean =>
  headers['content-type']?.startsWith('text/event-stream') === true;

/** Reads a whole body. */
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

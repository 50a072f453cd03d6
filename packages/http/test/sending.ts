// What clients send over HTTP.
import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';

import { type Fields, initialize, INITIALIZED, request } from './messages.js';

const JSON_HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

/**
 * Posts a body in parts, once the server has received the headers.
 * @param begun resolves when that has happened
 * @returns the text of the response
 */
export async function postParts(
  url: string,
  { headers, begun }: { readonly headers: Fields; readonly begun: Promise<unknown> },
  parts: readonly string[],
): Promise<string> {
  const sent = httpRequest(url, { method: 'POST', headers: { ...JSON_HEADERS, ...headers } });
  sent.flushHeaders();
  await begun;
  for (const part of parts) sent.write(part);
  sent.end();
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  return String(Buffer.concat((await answer.toArray()) as Buffer[]));
}

/** A POST for a fetch handler. */
export function posted(message: unknown, headers: Fields = {}, init: RequestInit = {}): Request {
  const body = typeof message === 'string' ? message : JSON.stringify(message);
  return new Request('http://localhost:3000/mcp', {
    method: 'POST',
    headers: { ...JSON_HEADERS, ...headers },
    body,
    ...init,
  });
}

/** The status of the answer to a message, by default a ping. */
export const statusOf = async (url: string, headers: Fields = {}, message: unknown = request('ping', 'ping')) =>
  (await post(url, message, headers)).status;

/** The status of the answer to a GET for a stream. */
export async function statusOfGet(url: string, headers: Fields): Promise<number> {
  const answer = await fetch(url, { headers: { accept: 'text/event-stream', ...headers } });
  await answer.body?.cancel();
  return answer.status;
}

/** Posts a message like the official clients. */
export async function post(
  url: string,
  message: unknown,
  headers: Fields = {},
  signal?: AbortSignal,
): Promise<Response> {
  const body = typeof message === 'string' || message instanceof Uint8Array ? message : JSON.stringify(message);
  return await fetch(url, {
    method: 'POST',
    headers: { ...JSON_HEADERS, ...headers },
    body: body as string,
    ...(signal && { signal }),
  });
}

/** Initializes a session. Resolves with the headers for later requests of the session. */
export async function openSession(url: string, headers: Fields = {}, version = '2025-11-25'): Promise<Fields> {
  const response = await post(url, initialize(version), headers);
  const id = response.headers.get('mcp-session-id');
  if (response.status !== 200 || id === null) throw new Error(`${response.status} ${await response.text()}`);
  await response.text();
  const session = { ...headers, 'mcp-session-id': id, 'mcp-protocol-version': version };
  const ready = await post(url, INITIALIZED, session);
  if (ready.status !== 202) throw new Error(`${ready.status} ${await ready.text()}`);
  return session;
}

/** Sends a request with arbitrary headers, which `fetch` doesn't allow. */
export async function raw(url: string, method: string, headers: Fields, body = ''): Promise<[IncomingMessage, string]> {
  const sent = httpRequest(url, { method, headers, agent: false });
  // with a string, Node would also write the headers as UTF-8
  sent.end(body === '' ? body : Buffer.from(body));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return [response, Buffer.concat(chunks).toString()];
}

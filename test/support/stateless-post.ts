// One POST of a client without a session, with what HTTP says about its answer.
import { afterEach } from '@jest/globals';
import type { JsonObject, McpServer } from '@decorum/core';
import { listen, type Listening } from '@decorum/http';

import { statelessHeaders } from './http-transports.js';
import type { Message } from './raw-client.js';
import { STATELESS } from './requirements.js';

/** What the keys of the protocol in `_meta` begin with. */
export const PREFIX = 'io.modelcontextprotocol/';
export const VERSION = `${PREFIX}protocolVersion`;
export const CAPABILITIES = `${PREFIX}clientCapabilities`;

/** A request in the words of the revision, of a client that says no more of itself than it has to. */
export const asked = (
  id: string | number,
  method: string,
  params: JsonObject = {},
  meta: JsonObject = {},
): Message => ({
  jsonrpc: '2.0',
  id,
  method,
  params: { ...params, _meta: { [VERSION]: STATELESS, [CAPABILITIES]: {}, ...meta } },
});

/** A call of a tool. */
export const called = (id: string | number, name: string, meta?: JsonObject) => asked(id, 'tools/call', { name }, meta);

/** What a message has in the `_meta` of its params or of its result. */
export const metaOf = ({ params, result }: Message): JsonObject => (params ?? result)?.['_meta'] as JsonObject;

/** Goes into `_meta`: what the client can do. */
export const declares = (capabilities: JsonObject): JsonObject => ({ [CAPABILITIES]: capabilities });

const LISTENING = new Map<McpServer, Promise<Listening>>();

afterEach(async () => {
  const all = [...LISTENING.values()];
  LISTENING.clear();
  await Promise.all(all.map(async (listening) => await (await listening).close()));
});

/** Where a server can be posted to until the test is over. */
export async function urlOf(server: McpServer): Promise<string> {
  const listening = LISTENING.get(server) ?? listen(server, { port: 0, closeDeadlineMs: 50 });
  LISTENING.set(server, listening);
  return (await listening).url;
}

/** Posts a message as a client of the revision without sessions does. */
export async function postTo(
  server: McpServer,
  message: object | string,
  headers: Record<string, string> = {},
): Promise<Response> {
  const single = typeof message === 'string' || Array.isArray(message) ? {} : statelessHeaders(message as Message);
  return await fetch(await urlOf(server), {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...single,
      ...headers,
    },
    body: typeof message === 'string' ? message : JSON.stringify(message),
  });
}

/** The status of the answer, and the answer. */
export async function answerTo(...args: Parameters<typeof postTo>): Promise<[status: number, message: Message]> {
  const response = await postTo(...args);
  return [response.status, (await response.json()) as Message];
}

/** The messages of a stream, when it has ended. */
export async function messagesOf(response: Response): Promise<Message[]> {
  const text = await response.text();
  return [...text.matchAll(/^data: (.+)$/gm)].map(([, data]) => JSON.parse(data as string) as Message);
}

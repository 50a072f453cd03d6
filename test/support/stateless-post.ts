// Posts single messages as a stateless client, and gives the test the HTTP response.
import type { JsonObject, McpServer } from '@decorum/core';

import { endpointOf, statelessHeaders } from './http-transports.js';
import type { Message } from './raw-client.js';
import { STATELESS } from './requirements.js';

/** Prefix of the protocol's keys in `_meta`. */
export const PREFIX = 'io.modelcontextprotocol/';
export const VERSION = `${PREFIX}protocolVersion`;
export const CAPABILITIES = `${PREFIX}clientCapabilities`;

/** A stateless request with only the required `_meta`. */
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

/** A tool call. */
export const called = (id: string | number, name: string, meta?: JsonObject) => asked(id, 'tools/call', { name }, meta);

/** The `_meta` in the params or the result of a message. */
export const metaOf = ({ params, result }: Message): JsonObject => (params ?? result)?.['_meta'] as JsonObject;

/** The `_meta` entry that declares the client's capabilities. */
export const declares = (capabilities: JsonObject): JsonObject => ({ [CAPABILITIES]: capabilities });

/** The URL of a server. It listens until the end of the test. */
export const urlOf = async (server: McpServer): Promise<string> => (await endpointOf(server)).url;

/** Posts a message as a stateless client. */
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

/** Posts a message and returns the status and body of the response. */
export async function answerTo(...args: Parameters<typeof postTo>): Promise<[status: number, message: Message]> {
  const response = await postTo(...args);
  return [response.status, (await response.json()) as Message];
}

/** The messages of a stream, once it has ended. */
export async function messagesOf(response: Response): Promise<Message[]> {
  const text = await response.text();
  return [...text.matchAll(/^data: (.+)$/gm)].map(([, data]) => JSON.parse(data as string) as Message);
}

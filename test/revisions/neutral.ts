// What lets one test say the same of both eras.
import type { JsonObject, McpServer } from '@decorum/core';

import { transportsOf } from '../support/http-transports.js';
import { RawClient } from '../support/raw-client.js';
import { STATELESS } from '../support/requirements.js';

const META = 'io.modelcontextprotocol/';
const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';

/** A result without what every result of the revision without sessions has. */
export function bare(result: JsonObject): JsonObject {
  if (result['resultType'] !== 'complete') return result;
  const { resultType: _type, ttlMs: _ttl, cacheScope: _scope, _meta, ...content } = result;
  const { [`${META}serverInfo`]: _server, ...meta } = _meta as JsonObject;
  return Object.keys(meta).length > 0 ? { ...content, _meta: meta } : content;
}

/** A notification without the name of the subscription it belongs to, where there are such names. */
export function plain({ _meta, ...params }: JsonObject = {}): JsonObject {
  if (_meta === undefined) return params;
  const { [`${META}subscriptionId`]: _subscription, ...meta } = _meta as JsonObject;
  return Object.keys(meta).length > 0 ? { ...params, _meta: meta } : params;
}

/** Listens, and gives what the server has acknowledged; only where there are no sessions. */
export async function listen(client: RawClient, notifications: JsonObject, id = 'listening'): Promise<unknown> {
  void client.send(client.buildMessage(id, 'subscriptions/listen', { notifications }));
  const { params } = await client.find(
    ({ method, params: { _meta } = {} }) =>
      method === ACKNOWLEDGED && (_meta as JsonObject)[`${META}subscriptionId`] === id,
  );
  return params?.['notifications'];
}

/** Hears of a list from now on: in sessions, everybody does. */
export async function followList(client: RawClient, list: 'tools' | 'prompts' | 'resources'): Promise<void> {
  if (client.stateless) await listen(client, { [`${list}ListChanged`]: true });
}

/** Hears of a resource from now on. */
export async function followResource(client: RawClient, uri: string): Promise<void> {
  if (client.stateless) await listen(client, { resourceSubscriptions: [uri] });
  else await client.result('resources/subscribe', { uri });
}

/**
 * The answers to one request on two connections of one caller, over every transport, as they came: without sessions.
 * @param before what else is done on the second connection, which also says other things of itself
 */
export async function answersOnTwo(
  server: McpServer,
  method: string,
  before: (client: RawClient) => Promise<unknown>,
): Promise<[one: string | undefined, other: string | undefined][]> {
  const opening = Object.values(transportsOf(STATELESS)).map(async (transport) => {
    const caller = { revision: STATELESS, principal: { subject: 'ada' } } as const;
    const one = await RawClient.connect(server, { ...caller, logLevel: 'debug' }, transport);
    const other = await RawClient.connect(server, { ...caller, capabilities: { elicitation: {} } }, transport);
    await one.request(method, undefined, 'same');
    await before(other);
    await other.request(method, undefined, 'same');
    const answerOf = ({ texts }: RawClient) => texts.find((text) => text.includes('"id":"same"'));
    return [answerOf(one), answerOf(other)] as [string | undefined, string | undefined];
  });
  return await Promise.all(opening);
}

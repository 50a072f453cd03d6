// Functions that let one test cover both eras.
import type { JsonObject, McpServer } from '@decorum/core';

import { transportsOf } from '../support/http-transports.js';
import { RawClient } from '../support/raw-client.js';
import { STATELESS } from '../support/requirements.js';

const META = 'io.modelcontextprotocol/';
const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';

/** Removes the fields that all stateless results have. */
export function bare(result: JsonObject): JsonObject {
  if (result['resultType'] !== 'complete') return result;
  const { resultType: _type, ttlMs: _ttl, cacheScope: _scope, _meta, ...content } = result;
  const { [`${META}serverInfo`]: _server, ...meta } = _meta as JsonObject;
  return Object.keys(meta).length > 0 ? { ...content, _meta: meta } : content;
}

/** Removes the subscription id from the params of a notification, if there is one. */
export function plain({ _meta, ...params }: JsonObject = {}): JsonObject {
  if (_meta === undefined) return params;
  const { [`${META}subscriptionId`]: _subscription, ...meta } = _meta as JsonObject;
  return Object.keys(meta).length > 0 ? { ...params, _meta: meta } : params;
}

/** Opens a stateless subscription and returns the acknowledged notifications. */
export async function listen(client: RawClient, notifications: JsonObject, id = 'listening'): Promise<unknown> {
  void client.send(client.buildMessage(id, 'subscriptions/listen', { notifications }));
  const { params } = await client.find(
    ({ method, params: { _meta } = {} }) =>
      method === ACKNOWLEDGED && (_meta as JsonObject)[`${META}subscriptionId`] === id,
  );
  return params?.['notifications'];
}

/** Subscribes to list changes. Session clients get them without a subscription. */
export async function followList(client: RawClient, list: 'tools' | 'prompts' | 'resources'): Promise<void> {
  if (client.stateless) await listen(client, { [`${list}ListChanged`]: true });
}

/** Subscribes to a resource. */
export async function followResource(client: RawClient, uri: string): Promise<void> {
  if (client.stateless) await listen(client, { resourceSubscriptions: [uri] });
  else await client.result('resources/subscribe', { uri });
}

/**
 * The raw responses to the same stateless request on two connections of one caller, over every transport.
 * @param before other actions on the second connection, which also has different client info
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

// Functions that let one test cover both eras, and small requests.
import type { Context, JsonObject } from '@decorum/core';

import type { Message, RawClient } from '../support/raw-client.js';

const META = 'io.modelcontextprotocol/';
/** Acknowledges a stateless subscription. */
export const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';

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
export async function listen(client: RawClient, notifications: JsonObject, id: string | number = 'listening') {
  void client.send(client.buildMessage(id, 'subscriptions/listen', { notifications }));
  const { params } = await client.find(
    ({ method, params: { _meta } = {} }) =>
      method === ACKNOWLEDGED && (_meta as JsonObject)[`${META}subscriptionId`] === id,
  );
  return params?.['notifications'];
}

/** Subscribes to a resource. */
export async function followResource(client: RawClient, uri: string): Promise<void> {
  if (client.stateless) await listen(client, { resourceSubscriptions: [uri] });
  else await client.result('resources/subscribe', { uri });
}

/** A tool that reports what it returns. */
export const echo = {
  echo(context: Context, { text }: JsonObject) {
    context.progress(1, 1, text as string);
    return text;
  },
};
/** A request that every server supports. */
export const probe = (client: RawClient, id: unknown) =>
  client.buildMessage(id as string, client.stateless ? 'server/discover' : 'ping');

/** Sends a message, and waits for its response. */
export async function responseTo(client: RawClient, message: object | string): Promise<Message> {
  const from = client.received.length;
  void client.send(message);
  return await client.at(from);
}

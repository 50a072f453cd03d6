import type { JsonObject } from '@decorum/core';

import type { Message, RawClient } from '../support/raw-client.js';

export const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';

/** Subscribes to tool list changes, and waits for the acknowledgement. */
export async function listening(client: RawClient, id: string | number, meta: JsonObject = {}): Promise<void> {
  const params = { notifications: { toolsListChanged: true }, _meta: meta };
  void client.send(client.buildMessage(id, 'subscriptions/listen', params));
  const subscription = { 'io.modelcontextprotocol/subscriptionId': id };
  const fits = ({ method, params: { _meta } = {} }: Message) =>
    method === ACKNOWLEDGED && JSON.stringify(_meta) === JSON.stringify(subscription);
  await client.find(fits);
}

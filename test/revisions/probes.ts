// Small requests, and a function that gets the response to one message.
import type { Context, JsonObject } from '@decorum/core';

import type { Message, RawClient } from '../support/raw-client.js';

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
export async function answerTo(client: RawClient, message: object | string): Promise<Message> {
  const from = client.received.length;
  void client.send(message);
  return await client.at(from);
}

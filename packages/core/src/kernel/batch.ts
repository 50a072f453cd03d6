import { belongsToSession, type Conversation } from '../protocol/exchange.js';
import { isObject, type JsonRpcMessage } from '../protocol/jsonrpc.js';
import { beginsConversation } from '../protocol/methods.js';
import type { Reply } from '../protocol/reply.js';

/** How many messages a batch may hold. */
const MAX_BATCH = 100;

/** Why a batch is refused as a whole, if it is. */
export function batchFault(batch: readonly unknown[]): string | undefined {
  if (batch.length === 0) return 'The batch is empty.';
  if (batch.length > MAX_BATCH) return `A batch holds at most ${MAX_BATCH} messages.`;
  if (batch.some((message) => Array.isArray(message))) return 'A batch cannot hold another batch.';
  if (batch.some(beginsConversation)) return 'A batch cannot hold "initialize".';
  // those that belong to no session have headers, each its own
  return batch.some(standsAlone) ? 'A batch holds messages of its session only.' : undefined;
}

/** The reply to a batch. A batch without requests gets none. */
export function joined(parts: readonly Reply[]): Reply {
  const texts = parts.flatMap(({ text }) => text ?? []);
  return { text: texts.length === 0 ? undefined : `[${texts.join(',')}]`, parts };
}

/**
 * The id of an error whose message has no readable id. A client that sends an array before `initialize` speaks the
 * revision with batches, where that id is null, unless a message in the array belongs to no session.
 */
export function unreadableId(message: unknown, session: Conversation | undefined): null | undefined {
  if (Array.isArray(message) && session?.initialized === false) return message.some(standsAlone) ? undefined : null;
  return session?.revision.unreadableId;
}

const standsAlone = (message: unknown): boolean =>
  isObject(message) && !belongsToSession(message as unknown as JsonRpcMessage, undefined);

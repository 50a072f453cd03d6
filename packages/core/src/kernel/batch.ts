import { isObject } from '@decorum/schema/internal';

import { belongsToSession } from '../protocol/exchange.js';
import type { Conversation } from '../protocol/peer.js';
import { McpError } from '../protocol/errors.js';
import type { JsonRpcMessage } from '../protocol/jsonrpc.js';
import { McpLimitError } from '../protocol/limits.js';
import { beginsConversation } from '../protocol/methods.js';
import { type Reply, UNTAKEN } from '../protocol/reply.js';

/** The error that rejects an invalid batch; undefined if the batch is valid. */
export function batchFault(batch: readonly unknown[], maxBatch: number): McpError | undefined {
  if (batch.length === 0) return invalid('The batch is empty.');
  if (batch.length > maxBatch)
    return new McpLimitError('maxBatch', `A batch can contain at most ${maxBatch} messages.`);
  if (batch.some((message) => Array.isArray(message))) return invalid('A batch cannot contain another batch.');
  if (batch.some(beginsConversation)) return invalid('A batch cannot contain "initialize".');
  // messages outside a session have headers of their own, which a batch cannot carry
  return batch.some(standsAlone) ? invalid('A batch can only contain messages of its session.') : undefined;
}

const invalid = (problem: string) => new McpError('invalid-request', problem);

/**
 * Joins the replies to a batch. A batch without requests gets no response, but it fails if no process waits for one of its
 * answers, so that the client may send it again.
 * @param failure the error that denied the whole batch
 */
export function joined(parts: readonly Reply[], failure?: McpError): Reply {
  const texts = parts.flatMap(({ text }) => text ?? []);
  const fault = failure ?? (texts.length === 0 && parts.includes(UNTAKEN) ? UNTAKEN.failure : undefined);
  return { text: texts.length === 0 ? undefined : `[${texts.join(',')}]`, parts, ...(fault && { failure: fault }) };
}

/**
 * The id of the error response to a message whose own id can't be read: null, or undefined to omit it. Before
 * `initialize`, an array gets null, as in the revision with batches, unless one of its messages belongs to no session.
 */
export function unreadableId(message: unknown, session: Conversation | undefined): null | undefined {
  if (Array.isArray(message) && session?.initialized === false) return message.some(standsAlone) ? undefined : null;
  return session?.revision.unreadableId;
}

const standsAlone = (message: unknown): boolean =>
  isObject(message) && !belongsToSession(message as unknown as JsonRpcMessage, undefined);

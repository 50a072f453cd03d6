import type { Conversation } from '../protocol/peer.js';
import type { JsonRpcNotification, JsonRpcRequest } from '../protocol/jsonrpc.js';
import type { Wire } from '../protocol/wire.js';

/** A message without an exchange. */
export interface Unopened {
  readonly message: JsonRpcRequest | JsonRpcNotification;
  readonly wire: Wire;
  readonly conversation: Conversation | undefined;
}

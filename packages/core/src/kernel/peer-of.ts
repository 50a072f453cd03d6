import { McpError } from '../protocol/errors.js';
import { openStateless, type StatelessMeans } from '../protocol/eras/stateless.js';
import { belongsToSession } from '../protocol/exchange.js';
import type { JsonRpcRequest } from '../protocol/jsonrpc.js';
import type { Conversation, Peer } from '../protocol/peer.js';
import type { Wire } from '../protocol/wire.js';

/**
 * The peer of a request: its conversation, or the envelope of a request outside a session.
 * @throws {McpError} `invalid-request` before `initialize`, and the errors of `openStateless`
 */
export function peerOf(
  request: JsonRpcRequest,
  { wire, conversation }: { readonly wire: Wire; readonly conversation: Conversation | undefined },
  means: StatelessMeans,
): Peer {
  if (conversation === undefined || !belongsToSession(request, wire.declaredVersion)) {
    return openStateless(request, wire, means);
  }
  if (!conversation.initialized && conversation.revision.methods.get(request.method)?.early !== true) {
    throw new McpError('invalid-request', 'The first request of a session is "initialize".');
  }
  return conversation;
}

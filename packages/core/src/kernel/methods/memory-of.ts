import { McpError } from '../../protocol/errors.js';
import type { Exchange } from '../../protocol/exchange.js';
import type { Memory } from '../../protocol/peer.js';

/**
 * The memory of the session that a request belongs to; undefined if there is none.
 * @throws {McpError} `unauthorized` for a request of an anonymous caller, if a principal has adopted the session since
 */
export function memoryOf({ peer, wire }: Exchange): Memory | undefined {
  const { memory } = peer;
  if (memory?.principal !== undefined && wire.principal === undefined) {
    const scopes = wire.authorization?.scopes ?? [];
    throw new McpError('unauthorized', 'Authorization is required.', { scopes });
  }
  return memory;
}

import type { JsonObject } from '@decorum/schema/internal';

import { UNKNOWN_CLIENT } from '../checks.js';
import { McpError } from '../errors.js';
import type { Conversation, PeerMeans, Tickets } from '../peer.js';
import type { Records } from '../records.js';
import { newestOf } from '../revisions/index.js';
import type { Revision } from '../revisions/revision.js';
import { agreedRevision } from './negotiation.js';

/** For questions to a client whose capabilities are unknown, because the server has forgotten its `initialize`. */
export function unaskable(): McpError {
  return new McpError('missing-capability', 'The client cannot be asked: the server keeps no sessions.');
}

/**
 * Stands in for a session during one request, on servers without sessions. It knows only the client's revision,
 * remembers nothing and can't send questions to the client. It sends no log messages either, because the client has no
 * way to set a level.
 */
export class TransientPeer implements Conversation {
  readonly client = UNKNOWN_CLIENT;
  readonly initialized: boolean;
  readonly tickets: Tickets;
  readonly records: Records;
  revision: Revision;

  /** @param revision the revision that was negotiated earlier; undefined for `initialize` */
  constructor({ tickets, records }: PeerMeans, revision: Revision | undefined) {
    this.tickets = tickets;
    this.records = records;
    this.initialized = revision !== undefined;
    this.revision = revision ?? newestOf('stateful');
  }

  initialize(params: JsonObject): Revision {
    this.revision = agreedRevision(params);
    return this.revision;
  }

  /** Always throws: the answer would arrive in another request, with nothing to connect it to this one. */
  async ask(): Promise<never> {
    throw unaskable();
  }

  settle(): boolean {
    return true;
  }

  take(): void {}
}

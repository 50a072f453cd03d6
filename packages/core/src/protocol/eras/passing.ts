import { UNKNOWN_CLIENT } from '../checks.js';
import { McpError } from '../errors.js';
import type { Conversation, Tickets } from '../exchange.js';
import type { JsonObject } from '../model.js';
import { newestOf } from '../revisions/index.js';
import type { Revision } from '../revisions/revision.js';
import { agreedRevision } from './stateful.js';

/**
 * Stands in for a session during one request, where no sessions are kept: nothing is known of the client but its
 * revision, nothing is remembered, and nothing can be asked. A client that cannot set a level is not told of log
 * messages either.
 */
export class PassingPeer implements Conversation {
  readonly client = UNKNOWN_CLIENT;
  readonly initialized: boolean;
  revision: Revision;

  /** @param revision what the client has agreed on elsewhere; undefined for the request that does */
  constructor(
    readonly tickets: Tickets,
    revision: Revision | undefined,
  ) {
    this.initialized = revision !== undefined;
    this.revision = revision ?? newestOf('stateful');
  }

  initialize(params: JsonObject): Revision {
    this.revision = agreedRevision(params);
    return this.revision;
  }

  /** An answer would come with another request, which nothing connects with the one that waits for it. */
  async ask(): Promise<never> {
    throw new McpError('missing-capability', 'The client cannot be asked: the server keeps no sessions.');
  }

  settle(): void {}

  take(): void {}
}

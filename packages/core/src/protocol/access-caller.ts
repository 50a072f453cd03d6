import type { JsonObject } from '@decorum/schema/internal';

import type { Client } from './client.js';

/** What an access function is told of the caller, besides its principal and transport. */
export interface AccessCaller {
  /**
   * How the client describes itself, as in `ctx.client`. Any client can claim to be another one, so use it to leave out
   * what a client can't handle, not to protect anything.
   */
  readonly client: Client;
  /** The id of the protocol revision, such as `2025-11-25`. */
  readonly revision: string;
  /** The session id, if the transport has sessions. Undefined for requests that belong to none. */
  readonly sessionId: string | undefined;
  /**
   * The request's `_meta`, as the client sent it: unchecked, and not to be trusted. For notifications on the stream of a
   * listen request, that of the listen request. Undefined for notifications to a session, which belong to no request.
   */
  readonly meta: JsonObject | undefined;
}

/** The tags that a session shows and hides, whatever holds for others. It can be written as JSON. */
export interface TagVisibility {
  readonly shown: readonly string[];
  readonly hidden: readonly string[];
}

/** The key of the tags that the caller's session shows and hides. A symbol, because only the server reads it. */
export const TAGS: unique symbol = Symbol.for('decorum:tags');

/** A caller, as the conditions for tags see it. */
export interface TaggedCaller extends AccessCaller {
  readonly [TAGS]?: TagVisibility | undefined;
}

import { andThen, type JsonObject, requireFinite } from '@decorum/schema/internal';

import type { ResultEnvelope } from '../protocol/jsonrpc.js';
import type { Implementation } from '../protocol/model.js';
import { REVISIONS } from '../protocol/revisions/index.js';
import type { CacheHint, Revision } from '../protocol/revisions/revision.js';
import type { Outcome } from './members.js';

/** Serializes results in the format of each revision. */
export class Results {
  /** The serialized fields that every result has, by the rank of the revision. */
  readonly envelopes: readonly ResultEnvelope[];

  constructor(private readonly server: Implementation) {
    this.envelopes = REVISIONS.map((revision) => revision.resultEnvelope(server));
  }

  /**
   * Serializes a result.
   * @param result the result as encoded by the revision
   * @param cache the cache hint, if the client may cache it
   * @throws {NotFinite} if it has a number that JSON lacks
   */
  write(revision: Revision, result: object, cache?: CacheHint): string {
    const json = JSON.stringify(revision.complete(result as JsonObject, this.server, cache));
    requireFinite(result, json);
    return json;
  }

  /**
   * Serializes an outcome: its result, or the questions sent in its place.
   * @throws the failed outcome's error
   */
  writeOutcome<R>(
    revision: Revision,
    running: Outcome<R> | Promise<Outcome<R>>,
    write: (result: R) => string,
  ): string | Promise<string> {
    return andThen(running, (outcome) => {
      if (outcome.kind === 'failed') throw outcome.error;
      return outcome.kind === 'complete' ? write(outcome.result) : this.write(revision, outcome.questions);
    });
  }
}

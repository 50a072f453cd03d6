import type { ResultEnvelope } from '../protocol/jsonrpc.js';
import { andThen } from '../protocol/maybe-promise.js';
import type { Implementation, JsonObject } from '../protocol/model.js';
import { REVISIONS } from '../protocol/revisions/index.js';
import type { CacheHint, Revision } from '../protocol/revisions/revision.js';
import type { Outcome } from './members.js';

/** Writes results as JSON, each as its revision has it. */
export class Results {
  /** What every result carries, written once; by the rank of the revision. */
  readonly envelopes: readonly ResultEnvelope[];

  constructor(private readonly server: Implementation) {
    this.envelopes = REVISIONS.map((revision) => revision.resultEnvelope(server));
  }

  /**
   * The JSON of a result.
   * @param result worded by the revision
   * @param cache where the client may keep it
   */
  write(revision: Revision, result: object, cache?: CacheHint): string {
    return JSON.stringify(revision.complete(result as JsonObject, this.server, cache));
  }

  /**
   * The JSON of an outcome: of its result, or of the questions that take its place.
   * @throws the error of an outcome that failed
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

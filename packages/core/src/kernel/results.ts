import type { ResultEnvelope } from '../protocol/jsonrpc.js';
import type { Implementation, JsonObject } from '../protocol/model.js';
import { REVISIONS } from '../protocol/revisions/index.js';
import type { CacheHint, Revision } from '../protocol/revisions/revision.js';
import type { Unfinished } from './members.js';

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
   * The JSON of what takes the place of a result.
   * @throws the error of an outcome that failed
   */
  writeUnfinished(revision: Revision, outcome: Unfinished): string {
    if (outcome.kind === 'failed') throw outcome.error;
    return this.write(revision, outcome.questions);
  }
}

import type { JsonObject } from '@decorum/core';

import type { Connection } from './connection.js';
import type { Question } from '@decorum/client';

/** Where a result or an error came from. */
export interface Origin {
  readonly connection: Connection;
  /** Parameters of the request. */
  readonly params: JsonObject;
  /** The server's questions during the request. */
  readonly questions: readonly Question[];
}

const origins = new WeakMap<object, Origin>();

/** Remembers where a result or an error came from. */
export function noteOrigin(outcome: object, origin: Origin): void {
  origins.set(outcome, origin);
}

/** Where a result or an error came from, if it came from a `TestClient`. */
export function originOf(outcome: unknown): Origin | undefined {
  return typeof outcome === 'object' && outcome !== null ? origins.get(outcome) : undefined;
}

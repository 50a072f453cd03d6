import type { Principal } from '@decorum/core';

import type { IssuerKey } from './key-set.js';

/** Credentials that were verified. */
export interface Verified {
  readonly principal: Principal;
  /** The key that signed them. Once its issuer removes it, they are no longer valid. */
  readonly key?: IssuerKey;
  /** When they expire, in milliseconds since 1970. */
  readonly until: number;
  /** How long the result may be used, in milliseconds. */
  readonly keptMs: number;
}

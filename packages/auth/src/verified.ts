import type { IssuerKey } from './key-set.js';
import type { TokenPrincipal } from './principal.js';

/** Credentials that were verified. */
export interface Verified {
  readonly principal: TokenPrincipal;
  /** The key that signed them. Once its issuer removes it, they are no longer valid. */
  readonly key?: IssuerKey;
  /** When they expire, in milliseconds since 1970. */
  readonly until: number;
  /** How long the result may be used, in milliseconds. */
  readonly keptMs: number;
}

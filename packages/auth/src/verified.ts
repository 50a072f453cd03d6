import type { LiveGrant } from './grants.js';
import type { IssuerKey } from './issuer-key.js';
import type { TokenPrincipal } from './principal.js';

/** Verified credentials. */
export interface Verified {
  readonly principal: TokenPrincipal;
  /** The key that signed the credentials. Once the issuer removes the key, they are no longer valid. */
  readonly key?: IssuerKey;
  /** The grant that the credentials belong to. Once it is revoked, they are no longer valid. */
  readonly grant?: LiveGrant;
  /** When the credentials expire, in milliseconds since 1970. */
  readonly until: number;
  /** How long the result may be cached, in milliseconds. */
  readonly keptMs: number;
}

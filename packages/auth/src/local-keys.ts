import type { JWK } from 'jose';

import { type IssuerKey, type KeySource, keysOf, markRemoved, theOnly, type WantedKey } from './issuer-key.js';

/** The keys of an issuer inside this process. Nothing is fetched, whatever key a token names. */
export class LocalKeys implements KeySource {
  readonly failure = undefined;
  private keys: readonly IssuerKey[] = [];

  /** @param list the current keys. Only their public members are used */
  constructor(private readonly list: () => readonly JWK[]) {}

  /** The key that a token names, if it is listed now. */
  async find(wanted: WantedKey): Promise<IssuerKey | 'unknown'> {
    this.refresh();
    return theOnly(this.keys, wanted) ?? 'unknown';
  }

  /** Reads the list again. Call it after a key was removed: verified tokens that it signed are then refused at once. */
  refresh(): void {
    const keys = keysOf(this.list(), this.keys);
    markRemoved(keys, this.keys);
    this.keys = keys;
  }
}

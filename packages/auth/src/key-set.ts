import type { JWK } from 'jose';

import type { Discovery } from './discovery.js';
import { fetchJson, type Platform } from './fetch-json.js';
import { type IssuerKey, type KeySource, keysOf, markRemoved, theOnly, type WantedKey } from './issuer-key.js';
import { Kept } from './kept.js';

/** Age at which the keys of an issuer are fetched again. */
const FRESH_MS = 5 * 60 * 1000;

/** Cap on the keys of an issuer. */
const MAX_KEYS = 100;

/** The keys of an issuer. Known keys stay usable while the issuer is unavailable. */
export class KeySet implements KeySource {
  private readonly keys: Kept<readonly IssuerKey[]>;

  constructor(
    private readonly discovery: Discovery,
    private readonly platform: Platform,
  ) {
    this.keys = new Kept({
      load: () => this.load(),
      replaced: (keys, previous) => markRemoved(keys, previous),
      now: () => platform.now(),
      freshMs: FRESH_MS,
    });
  }

  /** Why the last attempt to fetch the keys failed; undefined if it succeeded. */
  get failure(): unknown {
    return this.keys.failure;
  }

  /** The key that a token names. If the key is unknown, the issuer's keys are fetched again, but not too often. */
  async find(wanted: WantedKey): Promise<IssuerKey | 'unknown' | 'unavailable'> {
    const keys = await this.keys.get();
    if (keys === undefined) return 'unavailable';
    const known = theOnly(keys, wanted);
    if (known !== undefined) return known;
    await this.keys.refresh();
    return theOnly(this.keys.current ?? [], wanted) ?? 'unknown';
  }

  private async load(): Promise<readonly IssuerKey[]> {
    const url = await this.discovery.endpoint('jwks_uri');
    try {
      const { json } = await fetchJson(url, this.platform);
      const { keys } = json;
      if (!Array.isArray(keys)) throw new Error(`${url} has no \`keys\``);
      const jwks = keys.filter((key: Partial<JWK> | null) => typeof key?.kty === 'string');
      // an issuer that has lost its keys has not revoked them: without any key, it can't have signed with another one
      if (jwks.length === 0) throw new Error(`${url} has no keys`);
      return keysOf(jwks.slice(0, MAX_KEYS), this.keys.current);
    } catch (error) {
      // the issuer may have moved its keys
      this.discovery.metadata.expire();
      throw error;
    }
  }
}

import { timingSafeEqual } from 'node:crypto';

import type { Principal } from '@decorum/core';

import { deepFreeze } from './principal.js';
import type { KnownApiKey } from './settings.js';

/** Finds the holders of API keys. */
export class ApiKeys {
  private readonly keys: readonly { readonly digest: Uint8Array; readonly principal: Principal }[];

  /** @param expand adds the scopes that the given scopes imply */
  constructor(keys: readonly KnownApiKey[], expand: (scopes: readonly string[]) => readonly string[]) {
    this.keys = keys.map(({ name, digest, scopes }) => ({
      digest,
      principal: deepFreeze({ subject: name, issuer: ISSUER, kind: 'apiKey', scopes: expand(scopes) }),
    }));
  }

  /**
   * The holder of a key. Takes the same time for every key, known or not.
   * @param digest SHA-256 of the key
   */
  find(digest: Uint8Array): Principal | undefined {
    let found: Principal | undefined;
    for (const key of this.keys) if (timingSafeEqual(key.digest, digest)) found = key.principal;
    return found;
  }
}

/** Keeps the holder of an API key distinct from a user with the same name. It isn't a URL, so no issuer can have it. */
const ISSUER = 'apiKeys';

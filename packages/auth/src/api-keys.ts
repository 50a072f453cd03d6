import { timingSafeEqual } from 'node:crypto';

import type { Principal } from '@decorum/core';

import { deepFreeze } from './principal.js';
import type { KnownApiKey } from './settings.js';

/** Finds the holders of API keys. */
export class ApiKeys {
  private readonly keys: readonly { readonly digest: Uint8Array; readonly principal: Principal }[];

  /** @param expand adds to scopes what they imply */
  constructor(keys: readonly KnownApiKey[], expand: (scopes: readonly string[]) => readonly string[]) {
    this.keys = keys.map(({ name, digest, scopes }) => ({
      digest,
      principal: deepFreeze({ subject: name, issuer: ISSUER, kind: 'apiKey', scopes: expand(scopes) }),
    }));
  }

  /**
   * The holder of a key. It takes the same time for every key, known or not.
   * @param digest SHA-256 of the key
   */
  find(digest: Uint8Array): Principal | undefined {
    let found: Principal | undefined;
    for (const key of this.keys) if (timingSafeEqual(key.digest, digest)) found = key.principal;
    return found;
  }
}

/** Keeps the name of an API key from being the subject of a user. It is no URL, so no issuer can have it. */
const ISSUER = 'apiKeys';

import { calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose';

import type { Clock } from '../platform.js';
import type { AuthStore } from '../store/auth-store.js';
import { invalidSecret, type Sealer } from './sealer.js';

const RECORD = 'key:signing';
const PURPOSE = 'signing-keys';

const ALGORITHM = 'ES256';

const MINUTE_MS = 60_000;

/** Age at which a key gets a successor. */
const MAX_AGE_MS = 90 * 24 * 60 * MINUTE_MS;

/** How long a key is published before it signs, so that all processes and all who verify tokens know it by then. */
const PUBLISHED_MS = 10 * MINUTE_MS;

/** How long a key is published after its successor began to sign. Tokens last 5 minutes, and clocks may differ. */
const KEPT_MS = 60 * MINUTE_MS;

/** Cap on the writes of others that an update meets: as many processes may start at once. */
const MAX_CONFLICTS = 100;

/** A private key for ES256 as a JWK. */
export interface SigningJwk {
  readonly kty: 'EC';
  readonly crv: 'P-256';
  readonly x: string;
  readonly y: string;
  readonly d: string;
  /** The thumbprint (RFC 7638). */
  readonly kid: string;
  readonly alg: typeof ALGORITHM;
  readonly use: 'sig';
}

/** The public part of a `SigningJwk`. */
export type PublicJwk = Omit<SigningJwk, 'd'>;

interface DatedKey {
  readonly jwk: SigningJwk;
  /** When it begins to sign, in milliseconds since 1970. */
  readonly signsFrom: number;
}

async function createJwk(): Promise<SigningJwk> {
  const { privateKey } = await generateKeyPair(ALGORITHM, { extractable: true });
  const jwk = await exportJWK(privateKey);
  return { ...jwk, kid: await calculateJwkThumbprint(jwk), alg: ALGORITHM, use: 'sig' } as SigningJwk;
}

/** The keys without those whose last token has expired, oldest first. */
const withoutExpired = (keys: readonly DatedKey[], now: number): readonly DatedKey[] =>
  keys.filter((_key, at) => now - (keys[at + 1]?.signsFrom ?? now) < KEPT_MS);

/** The keys with a successor, if the newest is too old. The first key signs at once. */
async function withSuccessor(keys: readonly DatedKey[], now: number): Promise<readonly DatedKey[]> {
  const newest = keys.at(-1);
  if (newest === undefined) return [{ jwk: await createJwk(), signsFrom: now }];
  if (now - newest.signsFrom < MAX_AGE_MS) return keys;
  return [...keys, { jwk: await createJwk(), signsFrom: now + PUBLISHED_MS }];
}

/** What a `SigningKeys` needs. */
export interface SigningKeysParts {
  readonly store: AuthStore;
  readonly sealer: Sealer;
  readonly clock: Clock;
}

/** The keys that sign the tokens of the issuer, sealed in one record of the store. All processes use the same. */
export class SigningKeys {
  private keys: readonly DatedKey[] = [];

  constructor(private readonly parts: SigningKeysParts) {}

  /**
   * Loads the keys, or creates the first one, and seals them with the first secret of the sealer.
   * @throws {DecorumError} `DECORUM_INVALID_OPTION` if they were sealed with another secret
   */
  async open(): Promise<void> {
    await this.update(true);
  }

  /**
   * Loads the keys that other processes have created, and replaces old ones. Call it every minute or so. If it rejects,
   * the known keys stay in use.
   */
  async refresh(): Promise<void> {
    await this.update(false);
  }

  /** The key to sign with. */
  get current(): SigningJwk {
    const now = this.parts.clock.now();
    const key = this.keys.findLast(({ signsFrom }) => signsFrom <= now) ?? this.keys[0];
    if (key === undefined) throw new Error('The signing keys are not open.');
    return key.jwk;
  }

  /** All private keys, the one to sign with first. */
  get all(): readonly SigningJwk[] {
    const { current } = this;
    return [current, ...this.keys.map(({ jwk }) => jwk).filter((jwk) => jwk !== current)];
  }

  /** The public keys, to publish and to verify tokens with. */
  get publicKeys(): readonly PublicJwk[] {
    return this.all.map(({ d: _secret, ...jwk }) => jwk);
  }

  /** Tries again when another process has written the record meanwhile. */
  private async update(isSealedAnew: boolean): Promise<void> {
    const { store, sealer, clock } = this.parts;
    for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts++) {
      const sealed = await store.get(RECORD);
      const known = sealed === undefined ? [] : this.unsealed(sealed);
      const now = clock.now();
      const keys = await withSuccessor(withoutExpired(known, now), now);
      const isSame = keys.length === known.length && keys.at(-1) === known.at(-1);
      if (isSame && !isSealedAnew) return void (this.keys = keys);
      const value = sealer.seal(PURPOSE, JSON.stringify(keys));
      if (await store.write([{ key: RECORD, value, expected: sealed ?? null }])) return void (this.keys = keys);
    }
    throw new Error(`The store refused ${MAX_CONFLICTS} times to write ${RECORD} as it was read.`);
  }

  private unsealed(sealed: string): readonly DatedKey[] {
    const text = this.parts.sealer.open(PURPOSE, sealed);
    if (text !== undefined) return JSON.parse(text) as DatedKey[];
    throw invalidSecret(
      'is not the secret that the keys in the store are sealed with. Put the previous secret back, after the new one and a comma if you want to replace it. If it is lost, delete the contents of the store: all users then sign in again',
    );
  }
}

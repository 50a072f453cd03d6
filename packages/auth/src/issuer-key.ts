import { importJWK, type JWK } from 'jose';

/** The signature algorithms that tokens may use (asymmetric only), with the key of each (RFC 7518, RFC 8037, RFC 9864). */
const KEY_TYPES = {
  RS256: { kty: 'RSA', crv: undefined },
  PS256: { kty: 'RSA', crv: undefined },
  ES256: { kty: 'EC', crv: 'P-256' },
  ES384: { kty: 'EC', crv: 'P-384' },
  EdDSA: { kty: 'OKP', crv: 'Ed25519' },
  Ed25519: { kty: 'OKP', crv: 'Ed25519' },
} as const;

/** `Ed25519` is the newer name of what these keys do with `EdDSA` (RFC 9864, section 2.2). Issuers mix both names. */
const sameAlgorithm = (alg: string) => (alg === 'EdDSA' ? 'Ed25519' : alg);

/** A signature algorithm that tokens may use. */
export type Algorithm = keyof typeof KEY_TYPES;

/** Whether tokens may use an algorithm. */
export const isAlgorithm = (alg: unknown): alg is Algorithm => typeof alg === 'string' && Object.hasOwn(KEY_TYPES, alg);

/** The algorithms as a list, for messages. */
export const ALGORITHM_NAMES = Object.keys(KEY_TYPES).join(', ');

/** The key that a token asks for. */
export interface WantedKey {
  readonly alg: Algorithm;
  readonly kid: string | undefined;
}

/** A public key of an issuer. */
export class IssuerKey {
  /** Whether the issuer has removed the key. Tokens that the key signed are then no longer valid. */
  removed = false;
  private readonly imported = new Map<Algorithm, ReturnType<typeof importJWK>>();

  constructor(private readonly jwk: JWK) {}

  /** Equal for equal entries. */
  get identity(): string {
    const { kid, alg, use } = this.jwk;
    return JSON.stringify([this.material, kid, alg, use]);
  }

  /** Equal for the same key, also if the issuer lists it several times. */
  get material(): string {
    const { kty, crv, n, e, x, y } = this.jwk;
    return JSON.stringify([kty, crv, n, e, x, y]);
  }

  /** Whether the key can verify a token. */
  fits({ alg, kid }: WantedKey): boolean {
    const { jwk } = this;
    const { kty, crv } = KEY_TYPES[alg];
    const { use = 'sig', key_ops: uses = ['verify'], alg: own = alg } = jwk;
    // the issuer may send anything
    const mayVerify = use === 'sig' && Array.isArray(uses) && uses.includes('verify');
    const isOfType = jwk.kty === kty && (crv === undefined || jwk.crv === crv);
    return mayVerify && isOfType && sameAlgorithm(own) === sameAlgorithm(alg) && (kid === undefined || jwk.kid === kid);
  }

  /** The key, imported for verification. Rejects if the key is malformed. */
  async import(alg: Algorithm): ReturnType<typeof importJWK> {
    let key = this.imported.get(alg);
    if (key === undefined) {
      const { kty, crv, n, e, x, y } = this.jwk;
      // the public members only: a private key could not verify
      const members = Object.entries({ kty, crv, n, e, x, y }).filter(([, value]) => value !== undefined);
      key = importJWK(Object.fromEntries(members) as JWK, alg);
      this.imported.set(alg, key);
    }
    return await key;
  }
}

/** Where the keys of an issuer come from. */
export interface KeySource {
  /** Why keys are unavailable; undefined if they aren't. */
  readonly failure: unknown;
  /** The key that a token names. */
  find(wanted: WantedKey): Promise<IssuerKey | 'unknown' | 'unavailable'>;
}

/** The only key that fits. A token without `kid` can only be verified if there is exactly one. */
export function theOnly(keys: readonly IssuerKey[], wanted: WantedKey): IssuerKey | undefined {
  const [first, ...others] = keys.filter((key) => key.fits(wanted));
  return others.every(({ material }) => material === first?.material) ? first : undefined;
}

/** Marks the keys that the issuer no longer has. */
export function markRemoved(keys: readonly IssuerKey[], previous: readonly IssuerKey[] = []): void {
  for (const key of previous) key.removed = !keys.includes(key);
}

/** Creates the keys of these entries. Entries that were known before keep their keys, which are imported already. */
export function keysOf(jwks: readonly JWK[], previous: readonly IssuerKey[] = []): readonly IssuerKey[] {
  const known = new Map(previous.map((key) => [key.identity, key]));
  return jwks.map((jwk) => new IssuerKey(jwk)).map((key) => known.get(key.identity) ?? key);
}

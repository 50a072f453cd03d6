import { Buffer } from 'node:buffer';

import { compactVerify } from 'jose';

import { refusedClaims } from './claims.js';
import { unavailable } from './issuer-problems.js';
import { type Algorithm, isAlgorithm, type IssuerKey } from './issuer-key.js';
import { type Claims, principalOf } from './principal.js';
import { type Refused, shown } from './reasons.js';
import type { IssuerSettings } from './settings.js';
import type { Verified } from './verified.js';

type Header = Readonly<Record<string, unknown>>;

/** A JWT as sent: nothing in it can be trusted before its signature is verified. */
export interface UnverifiedJwt {
  readonly token: string;
  readonly header: Header;
  readonly claims: Claims;
}

/** The signature of a token with the algorithm `none` is empty. */
const JWT = /^([\w-]+)\.([\w-]+)\.([\w-]*)$/;

function parseObject(part: string): Header | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(part, 'base64url')));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Header) : undefined;
  } catch {
    return undefined;
  }
}

/** Reads a JWT. Undefined for anything else, such as an opaque token. */
export function readJwt(token: string): UnverifiedJwt | undefined {
  const [, head, body = '', signature = ''] = JWT.exec(token) ?? [];
  // several spellings decode to the same signature: accept only one, so that a changed token is never valid
  if (head === undefined || Buffer.from(signature, 'base64url').toString('base64url') !== signature) return undefined;
  const header = parseObject(head);
  const claims = parseObject(body);
  return header && claims && { token, header, claims };
}

/** The type of access tokens (RFC 9068, section 4). */
const ACCESS_TOKEN = 'at+jwt';

/** The media type of a token, without the optional prefix (RFC 7515, section 4.1.9). */
const typeOf = (typ: unknown): unknown =>
  typ === undefined ? '' : typeof typ === 'string' ? typ.toLowerCase().replace(/^application\//, '') : typ;

/** Claims of ID tokens and logout tokens (OpenID Connect) that access tokens don't have. */
const FOREIGN_CLAIMS = ['nonce', 'at_hash', 'events'];

/**
 * Runs all checks that need no key. They come first: a token that can't be valid must not make the server fetch or
 * compute anything.
 */
function refusedUnverified(
  { header, claims }: UnverifiedJwt,
  issuer: IssuerSettings,
  now: number,
): Refused | undefined {
  const { alg, crit, typ } = header;
  if (!isAlgorithm(alg)) return { reason: 'algorithm', found: `alg is ${shown(alg)}` };
  if (crit !== undefined) return { reason: 'critical', found: `crit is ${shown(crit)}` };
  const type = typeOf(typ);
  if (type !== ACCESS_TOKEN) {
    if (!issuer.tokenTypes.has(type)) return { reason: 'token-type', found: `typ is ${shown(typ)}` };
    const foreign = FOREIGN_CLAIMS.find((name) => claims[name] !== undefined);
    if (foreign !== undefined) return { reason: 'id-token', found: `it has the claim "${foreign}"` };
  }
  const { sub } = claims;
  if (typeof sub !== 'string' || sub === '') return { reason: 'subject', found: `sub is ${shown(sub)}` };
  return refusedClaims(claims, issuer, now);
}

/** Verifies a JWT that names this issuer. */
export async function verifyJwt(jwt: UnverifiedJwt, issuer: IssuerSettings, now: number): Promise<Verified | Refused> {
  const refused = refusedUnverified(jwt, issuer, now);
  if (refused) return refused;
  const { alg, kid } = jwt.header as { alg: Algorithm; kid?: unknown };
  if (kid !== undefined && typeof kid !== 'string') return { reason: 'key', found: `kid is ${shown(kid)}` };
  const key = await issuer.keys.find({ alg, kid });
  if (key === 'unavailable') return unavailable(issuer);
  if (key === 'unknown') return { reason: 'key', found: `kid is ${shown(kid)}` };
  if (!(await isSigned(jwt.token, key, alg))) return { reason: 'signature', found: 'the signature does not fit' };
  const principal = principalOf(jwt.claims, issuer);
  return { principal, key, until: principal.expiresAt, keptMs: Number.POSITIVE_INFINITY };
}

/** Whether a key signed a token. False for an unusable key too, such as one that is too short. */
async function isSigned(token: string, key: IssuerKey, alg: Algorithm): Promise<boolean> {
  try {
    await compactVerify(token, await key.import(alg), { algorithms: [alg] });
    return true;
  } catch {
    return false;
  }
}

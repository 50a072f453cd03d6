import { Buffer } from 'node:buffer';
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** A grant, a random part, and a signature of both. None of them has the separator. */
const TOKEN = /^([\w-]{1,128})~([\w-]{32})~([\w-]{43})$/;

/**
 * Refresh tokens that name their grant. A client that refreshes every few minutes uses up thousands of them. Because they
 * are signed, one that was used long ago is known without its record, and still ends its grant.
 */
export class RefreshTokens {
  /** @param keys the first one signs, and each verifies */
  constructor(private readonly keys: readonly [string, ...string[]]) {}

  /** A new token of a grant. */
  create(grantId: string): string {
    const body = `${grantId}~${randomBytes(24).toString('base64url')}`;
    return `${body}~${signatureOf(body, this.keys[0])}`;
  }

  /** The grant that a token was issued for; undefined for anything that this server has not issued. */
  grantOf(token: string): string | undefined {
    const [, grantId, random, signature = ''] = TOKEN.exec(token) ?? [];
    const isOurs = this.keys.some((key) => isSame(signature, signatureOf(`${grantId}~${random}`, key)));
    return isOurs ? grantId : undefined;
  }
}

const signatureOf = (body: string, key: string): string => createHmac('sha256', key).update(body).digest('base64url');

const isSame = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));

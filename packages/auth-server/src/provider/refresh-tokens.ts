import { createHmac, randomBytes } from 'node:crypto';

import type { Clock } from '../platform.js';
import { LIFETIMES } from './lifetimes.js';
import { isSameText } from './same-text.js';

/** A grant, when the token expires, a random part, and a signature of all. None of them has the separator. */
const TOKEN = /^(([\w-]{1,128})~([\da-z]{1,9})~[\w-]{32})~([\w-]{43})$/;

/** The base of a time in a token, in seconds since 1970. */
const RADIX = 36;

/**
 * Refresh tokens that name their grant. A client that refreshes every few minutes uses up thousands of them. Because they
 * are signed, one that was used long ago is known without its record, and still ends its grant.
 */
export class RefreshTokens {
  /** @param keys the first one signs, and each verifies */
  constructor(
    private readonly keys: readonly [string, ...string[]],
    private readonly clock: Pick<Clock, 'now'>,
  ) {}

  /** A new token of a grant. */
  create(grantId: string): string {
    const until = Math.floor(this.clock.now() / 1000) + LIFETIMES.RefreshToken;
    const body = `${grantId}~${until.toString(RADIX)}~${randomBytes(24).toString('base64url')}`;
    return `${body}~${signatureOf(body, this.keys[0])}`;
  }

  /**
   * The grant that a token was issued for; undefined for anything that this server has not issued. One that has expired
   * may never have been used, and is no sign of a thief.
   */
  grantOf(token: string): string | undefined {
    const [, body = '', grantId, until = '', signature = ''] = TOKEN.exec(token) ?? [];
    if (!this.keys.some((key) => isSameText(signature, signatureOf(body, key)))) return undefined;
    return Number.parseInt(until, RADIX) * 1000 > this.clock.now() ? grantId : undefined;
  }
}

const signatureOf = (body: string, key: string): string => createHmac('sha256', key).update(body).digest('base64url');

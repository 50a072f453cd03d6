import { createHash } from 'node:crypto';

import { networkOf } from '../clients/public-address.js';
import type { Clock } from '../platform.js';
import { type FailureLimits, Failures } from './failures.js';
import { normalizeName } from './user-directory.js';

/** More than can fail in 15 minutes, because checking a password takes a quarter of a second or more. */
const MAX_KEYS = 20_000;

/** After as many failures, a name at one address is locked out. */
const PER_PAIR: FailureLimits = { limit: 5, maxKeys: MAX_KEYS };
/** After as many failures, an address is locked out. */
const PER_ADDRESS: FailureLimits = { limit: 20, maxKeys: MAX_KEYS };
/** After as many failures, the delay of a name no longer grows. */
const PER_NAME: FailureLimits = { limit: 9, maxKeys: MAX_KEYS };

/** How many failures of a name have no delay. */
const UNDELAYED = 5;
const FIRST_DELAY_MS = 500;

/** The delay after some failures of a name: from half a second to 8 seconds. */
const delayAfter = (failures: number): number =>
  failures < UNDELAYED ? 0 : FIRST_DELAY_MS * 2 ** (failures - UNDELAYED);

/** Who tries to sign in. */
export interface Attempt {
  readonly name: string;
  /** The address of the client; undefined if its connection has ended already. Such attempts count together. */
  readonly address: string | undefined;
}

/** How an attempt to sign in ended. */
export type AttemptResult<T> =
  | { readonly kind: 'signed-in'; readonly value: T }
  /** @property isLockedOut whether this failure has locked the caller out */
  | { readonly kind: 'wrong'; readonly isLockedOut: boolean }
  /** @property retryAfter when to try again, in seconds. The password wasn't checked */
  | { readonly kind: 'locked'; readonly retryAfter: number };

interface Keys {
  readonly pair: string;
  readonly address: string;
  readonly name: string;
}

/** Names may be of any length, and are nobody's business in a dump of the memory. */
const digestOf = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 22);

function keysOf({ name, address }: Attempt): Keys {
  const place = address === undefined ? 'unknown' : networkOf(address);
  // some directories compare names without case or width, and each spelling would get its own guesses
  const folded = normalizeName(name).normalize('NFKC').toUpperCase().toLowerCase();
  return { pair: digestOf(`${place} ${folded}`), address: digestOf(place), name: digestOf(folded) };
}

/**
 * Locks out who guesses passwords: a name at one address after 5 failures, and an address after 20. Failures at other
 * addresses only delay a name, so that strangers can't lock its user out. Names that nobody has are treated alike.
 */
export class SignInAttempts {
  private readonly pairs = new Failures(PER_PAIR);
  private readonly addresses = new Failures(PER_ADDRESS);
  private readonly names = new Failures(PER_NAME);

  constructor(private readonly clock: Clock) {}

  /**
   * Checks a password, unless the caller is locked out. An attempt counts as a failure until it has succeeded, so
   * parallel guesses are no way around the limits. An error counts as no attempt.
   * @param verify checks the name and the password. Resolves with undefined if they are wrong
   */
  async attempt<T>(who: Attempt, verify: () => Promise<T | undefined>): Promise<AttemptResult<T>> {
    const keys = keysOf(who);
    const now = this.clock.now();
    const locked = this.lockedFor(keys, now);
    if (locked > 0) return { kind: 'locked', retryAfter: Math.ceil(locked / 1000) };
    const delay = delayAfter(this.names.count(keys.name, now));
    this.count(keys, now);
    const isLast = this.lockedFor(keys, now) > 0;
    try {
      if (delay > 0) await this.clock.wait(delay);
      const value = await verify();
      if (value === undefined) return { kind: 'wrong', isLockedOut: isLast && this.lockedFor(keys, now) > 0 };
      this.takeBack(keys, now);
      // other attempts of the address and for the name still count: their user may be a guesser with an account
      this.pairs.clear(keys.pair);
      return { kind: 'signed-in', value };
    } catch (error) {
      this.takeBack(keys, now);
      throw error;
    }
  }

  private lockedFor({ pair, address }: Keys, now: number): number {
    return Math.max(this.pairs.fullFor(pair, now), this.addresses.fullFor(address, now));
  }

  private count({ pair, address, name }: Keys, now: number): void {
    this.pairs.add(pair, now);
    this.addresses.add(address, now);
    this.names.add(name, now);
  }

  private takeBack({ pair, address, name }: Keys, time: number): void {
    this.pairs.takeBack(pair, time);
    this.addresses.takeBack(address, time);
    this.names.takeBack(name, time);
  }
}

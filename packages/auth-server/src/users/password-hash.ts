import { Buffer } from 'node:buffer';
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';

import { Derivations } from './derivations.js';

/** A parsed hash: the parameters of scrypt (RFC 7914), and its result. */
export interface PasswordHash {
  /** The logarithm of N. */
  readonly ln: number;
  readonly r: number;
  readonly p: number;
  readonly salt: Buffer;
  readonly digest: Buffer;
}

/** The parameters of new hashes: 128 MiB, and about a third of a second. */
const NEW = { ln: 17, r: 8, p: 1 };

const SALT_BYTES = 16;
const DIGEST_BYTES = 32;

/** In units of N·r·p: a cheaper hash is too easy to guess, and a more expensive one would keep a thread for seconds. */
const COST = { min: 5 * 8 * 2 ** 14, max: 8 * 8 * 2 ** 17 };
const MEMORY = { min: 8 * 2 ** 20, max: 256 * 2 ** 20 };

const FORMAT =
  /^\$scrypt\$ln=(?<ln>[1-9]\d?),r=(?<r>[1-9]\d?),p=(?<p>[1-9]\d?)\$(?<salt>[A-Za-z0-9+/]{22,86})\$(?<digest>[A-Za-z0-9+/]{43,86})$/;

const unpadded = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');

// one for the process, because its threads are what they share
const derivations = new Derivations();

function derive(password: string, hash: PasswordHash, maxWaiting?: number): Promise<Buffer> {
  const { ln, r, p, salt, digest } = hash;
  // the same text may be encoded in several ways, depending on the keyboard
  const text = password.normalize('NFKC');
  const options = { N: 2 ** ln, r, p, maxmem: 2 * MEMORY.max };
  return derivations.run(
    () =>
      new Promise((resolve, reject) => {
        scrypt(text, salt, digest.length, options, (error, key) => (error ? reject(error) : resolve(key)));
      }),
    maxWaiting,
  );
}

/**
 * Hashes a password for the file of `usersFile`, as `decorum hash-password` does.
 * @throws {TypeError} if the password is empty or not a string
 */
export async function hashPassword(password: string): Promise<string> {
  if (typeof password !== 'string' || password === '') throw new TypeError('The password must be a string, not empty');
  const hash = { ...NEW, salt: randomBytes(SALT_BYTES), digest: Buffer.alloc(DIGEST_BYTES) };
  // a program may hash the passwords of many users at once
  const digest = await derive(password, hash, Number.POSITIVE_INFINITY);
  return `$scrypt$ln=${NEW.ln},r=${NEW.r},p=${NEW.p}$${unpadded(hash.salt)}$${unpadded(digest)}`;
}

/**
 * Reads a hash.
 * @returns the problem, if it can't be used. It doesn't contain the text, which may be a password
 */
export function parseHash(text: string): PasswordHash | string {
  const { ln, r, p, salt = '', digest = '' } = FORMAT.exec(text)?.groups ?? {};
  if (ln === undefined) return 'must be a hash, not a password. Run `decorum hash-password`, and write what it prints';
  const hash = {
    ln: Number(ln),
    r: Number(r),
    p: Number(p),
    salt: Buffer.from(salt, 'base64'),
    digest: Buffer.from(digest, 'base64'),
  };
  const cost = 2 ** hash.ln * hash.r * hash.p;
  const memory = 128 * hash.r * 2 ** hash.ln;
  if (cost < COST.min || memory < MEMORY.min) {
    return 'is a hash that is too easy to guess. Run `decorum hash-password` to get a stronger one';
  }
  if (cost > COST.max || memory > MEMORY.max) {
    return 'is a hash that takes too long to check. Run `decorum hash-password` to get one that does not';
  }
  return hash;
}

/**
 * Whether a hash is that of a password.
 * @throws {SignInBusyError} if too many users are signing in at the moment
 */
export async function matchesHash(password: string, hash: PasswordHash): Promise<boolean> {
  return timingSafeEqual(await derive(password, hash), hash.digest);
}

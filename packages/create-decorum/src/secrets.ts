import { randomBytes, scryptSync } from 'node:crypto';

/** The secrets of a project that is its own authorization server. */
export interface Secrets {
  /** For `DECORUM_SECRET`. */
  readonly secret: string;
  /** The password of the first user. */
  readonly password: string;
  /** Its hash, as `decorum hash-password` prints it. */
  readonly hash: string;
}

const SALT_BYTES = 16;
const DIGEST_BYTES = 32;

/** The parameters that `@decorum/auth-server` uses for new hashes. */
const { ln, r, p } = { ln: 17, r: 8, p: 1 };
const MEMORY = 256 * 2 ** 20;

const unpadded = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');

/** Creates random secrets. */
export function newSecrets(): Secrets {
  const password = randomBytes(12).toString('base64url');
  const salt = randomBytes(SALT_BYTES);
  const digest = scryptSync(password, salt, DIGEST_BYTES, { N: 2 ** ln, r, p, maxmem: MEMORY });
  const hash = `$scrypt$ln=${ln},r=${r},p=${p}$${unpadded(salt)}$${unpadded(digest)}`;
  return { secret: randomBytes(32).toString('base64'), password, hash };
}

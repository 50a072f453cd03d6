import { randomBytes, scrypt } from 'node:crypto';

/** What OWASP recommends. `usersFile` of @decorum/auth-server, which isn't needed here, accepts these and stronger ones. */
const PARAMETERS = { ln: 17, r: 8, p: 1 };

const unpadded = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');

/** The hash of a password, as `usersFile` reads it. */
export async function hashPassword(password: string): Promise<string> {
  const { ln, r, p } = PARAMETERS;
  const salt = randomBytes(16);
  const options = { N: 2 ** ln, r, p, maxmem: 2 ** 28 };
  const digest = await new Promise<Buffer>((resolve, reject) => {
    // the same text may be encoded in several ways, depending on the keyboard
    scrypt(password.normalize('NFKC'), salt, 32, options, (error, key) => (error ? reject(error) : resolve(key)));
  });
  return `$scrypt$ln=${ln},r=${r},p=${p}$${unpadded(salt)}$${unpadded(digest)}`;
}

import { createHash } from 'node:crypto';

import { isObject, isScope } from '@decorum/core/internal';

import { parseHash, type PasswordHash } from './password-hash.js';
import { normalizeName, type User } from './user-directory.js';

/** A user with the hash of the password. */
export interface Entry {
  readonly user: User;
  readonly hash: PasswordHash;
}

/** A mistake in a file of users. The message continues a sentence about the file, and has no hash or password. */
export class UsersProblem extends Error {
  override readonly name = 'UsersProblem';
}

const KEYS = ['password', 'scopes'];

/** The users of a file. */
export class Users {
  private readonly hashes: readonly PasswordHash[];
  private readonly secret: string;

  constructor(private readonly entries: ReadonlyMap<string, Entry>) {
    this.hashes = [...entries.values()].map(({ hash }) => hash);
    this.secret = this.hashes.map(({ digest }) => digest.toString('base64')).join();
  }

  get(name: string): Entry | undefined {
    return this.entries.get(normalizeName(name));
  }

  /**
   * The hash to check for an unknown name: that of some user, so that it takes as long as for users. It stays the same
   * for a name, and nobody without the file knows which one it is.
   */
  decoy(name: string): PasswordHash {
    const digest = createHash('sha256')
      .update(`${this.secret}\n${normalizeName(name)}`)
      .digest();
    return this.hashes[digest.readUInt32BE() % this.hashes.length] as PasswordHash;
  }
}

/** The message of `JSON.parse` contains parts of the text, which may be a password. */
function lineOf(error: unknown, text: string): string {
  const position = /position (\d+)/.exec(String(error))?.[1];
  return position === undefined ? '' : ` (line ${text.slice(0, Number(position)).split('\n').length})`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsersProblem(`is not valid JSON${lineOf(error, text)}`);
  }
}

function parseEntry(name: string, entry: unknown): Entry {
  const where = `has a mistake at ${JSON.stringify(name)}:`;
  if (name === '') throw new UsersProblem('has a user without a name');
  if (name !== normalizeName(name) || /\p{Cc}/u.test(name) || name.length > 200) {
    throw new UsersProblem(`${where} names have at most 200 characters, no spaces around them, and are in NFC`);
  }
  if (!isObject(entry)) throw new UsersProblem(`${where} must be { "password": "<hash>" }`);
  const unknown = Object.keys(entry).find((key) => !KEYS.includes(key));
  if (unknown !== undefined) throw new UsersProblem(`${where} "${unknown}" is unknown. Use ${KEYS.join(' and ')}`);
  const { password, scopes } = entry as { readonly password?: unknown; readonly scopes?: unknown };
  if (typeof password !== 'string') {
    throw new UsersProblem(`${where} "password" is missing. Run \`decorum hash-password\`, and write what it prints`);
  }
  const hash = parseHash(password);
  if (typeof hash === 'string') throw new UsersProblem(`${where} "password" ${hash}`);
  if (scopes === undefined) return { user: { subject: name, name }, hash };
  if (!Array.isArray(scopes) || !scopes.every((scope) => typeof scope === 'string' && isScope(scope))) {
    throw new UsersProblem(`${where} "scopes" must be an array of scopes`);
  }
  return { user: { subject: name, name, scopes: scopes as readonly string[] }, hash };
}

/**
 * Reads a file of users.
 * @throws {UsersProblem} if it has a mistake
 */
export function parseUsers(text: string): Users {
  const parsed = parseJson(text.replace(/^\uFEFF/, ''));
  if (!isObject(parsed)) {
    throw new UsersProblem('must contain an object: { "alice": { "password": "<hash>" } }');
  }
  const entries = new Map(Object.entries(parsed).map(([name, entry]) => [name, parseEntry(name, entry)]));
  if (entries.size === 0) throw new UsersProblem('has no users. Add one: { "alice": { "password": "<hash>" } }');
  return new Users(entries);
}

import { type BigIntStats, readFileSync, statSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import process from 'node:process';

import { startupError } from '@decorum/core/plugin';

import { parseUsers, type Users, UsersProblem } from './parse-users.js';
import { matchesHash } from './password-hash.js';
import type { User, UserDirectory } from './user-directory.js';

const versionOf = ({ mtimeNs, ctimeNs, size, ino }: BigIntStats): string => [mtimeNs, ctimeNs, size, ino].join(':');

/** What is wrong with a file, as the end of a sentence. */
function problemOf(error: unknown): string {
  if (error instanceof UsersProblem) return error.message;
  const { code, message } = error as NodeJS.ErrnoException;
  if (code !== 'ENOENT') return `can't be read: ${code ?? message}`;
  return 'does not exist. Create it: { "alice": { "password": "<what `decorum hash-password` prints>" } }';
}

/** Users in a file, which is read again when it has changed. */
class UsersFile implements UserDirectory {
  private users: Users;
  private version: string;
  private reading: Promise<void> | undefined;

  constructor(private readonly path: string) {
    try {
      // before the file is read, so that a change in between is seen later
      this.version = versionOf(statSync(path, { bigint: true }));
      this.users = parseUsers(readFileSync(path, 'utf8'));
    } catch (error) {
      const problem = `is the file ${path}, which ${problemOf(error)}`;
      throw startupError('DECORUM_INVALID_OPTION', 'authorizationServer', 'users', problem);
    }
  }

  async verify(name: string, password: string): Promise<User | undefined> {
    const users = await this.current();
    const entry = users.get(name);
    const matches = await matchesHash(password, entry?.hash ?? users.decoy(name));
    return matches ? entry?.user : undefined;
  }

  async find(subject: string): Promise<User | undefined> {
    return (await this.current()).get(subject)?.user;
  }

  private async current(): Promise<Users> {
    this.reading ??= this.refresh();
    await this.reading;
    return this.users;
  }

  private async refresh(): Promise<void> {
    try {
      const version = await stat(this.path, { bigint: true }).then(versionOf, String);
      if (version === this.version) return;
      // also if it has a mistake, of which one warning is enough
      this.version = version;
      this.users = parseUsers(await readFile(this.path, 'utf8'));
    } catch (error) {
      process.emitWarning(`${this.path} ${problemOf(error)}. The users that were read before stay valid`, {
        type: 'DecorumWarning',
        code: 'DECORUM_USERS_FILE',
      });
    } finally {
      this.reading = undefined;
    }
  }
}

/**
 * Users in a JSON file. It is read again when it changes. If it then has a mistake, a warning says so, and the users
 * that were read before stay valid.
 * @param path relative to the working directory. The file has an entry for each user:
 *   `{ "alice": { "password": "<hash>", "scopes": ["mcp"] } }`. `decorum hash-password` prints the hash. Without
 *   `scopes`, the user may grant all scopes
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`, if the file is missing or has a mistake
 */
export function usersFile(path: string): UserDirectory {
  if (typeof path !== 'string' || path === '') {
    throw startupError('DECORUM_INVALID_OPTION', 'usersFile', 'path', 'must be the path of a JSON file');
  }
  return new UsersFile(resolve(path));
}

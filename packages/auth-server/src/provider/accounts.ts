import { isObject } from '@decorum/core/internal';

import type { Clock } from '../platform.js';
import { type AttemptResult, SignInAttempts } from '../users/sign-in-attempts.js';
import type { User, UserDirectory } from '../users/user-directory.js';
import type { AuthorizationServerOptions, LoginRedirect, LoginRequest } from '../options.js';
import { SealedRecords } from './sealed-records.js';

/** A name and a password, and where they come from. */
export interface Credentials {
  readonly name: string;
  readonly password: string;
  readonly address: string | undefined;
}

/** Who can sign in, and how. */
export interface Accounts {
  /** Signs a user in with a password; undefined if the application does that. */
  readonly passwords: { verify(credentials: Credentials): Promise<AttemptResult<User>> } | undefined;
  /** The user of a subject; undefined if there is none any more. */
  find(subject: string): Promise<User | undefined>;
  /** The user that the application knows, or where to sign in. */
  signedIn(request: LoginRequest): Promise<User | LoginRedirect | undefined>;
}

/** The users of a directory, who sign in with a password on a page of ours. */
export class PasswordAccounts implements Accounts {
  readonly passwords = this;
  private readonly attempts: SignInAttempts;

  constructor(
    private readonly users: UserDirectory,
    clock: Clock,
  ) {
    this.attempts = new SignInAttempts(clock);
  }

  async find(subject: string): Promise<User | undefined> {
    return userIn(await this.users.find(subject), '`find` of `users` must resolve');
  }

  async signedIn(): Promise<undefined> {}

  /** See `SignInAttempts`. */
  async verify({ name, password, address }: Credentials): Promise<AttemptResult<User>> {
    return await this.attempts.attempt({ name, address }, async () => {
      return userIn(await this.users.verify(name, password), '`verify` of `users` must resolve');
    });
  }
}

/** How long a user is known who signs in elsewhere: as long as a grant. */
const KNOWN_MS = 366 * 24 * 60 * 60 * 1000;

/** Users who sign in elsewhere, and are known here from then on. */
export class KnownUsers implements Accounts {
  readonly passwords = undefined;

  constructor(
    private readonly records: SealedRecords,
    private readonly clock: Clock,
  ) {}

  async find(subject: string): Promise<User | undefined> {
    return (await this.records.get(keyOf(subject))) as User | undefined;
  }

  async signedIn(): Promise<undefined> {}

  /** Remembers who has signed in. */
  async remember({ subject, name, scopes }: User): Promise<User> {
    const user = { subject, ...(name !== undefined && { name }), ...(scopes !== undefined && { scopes }) };
    await this.records.put(keyOf(subject), user, this.clock.now() + KNOWN_MS);
    return user;
  }
}

/** The users of the application, who sign in there. */
export class ApplicationAccounts implements Accounts {
  readonly passwords = undefined;

  constructor(
    private readonly login: NonNullable<AuthorizationServerOptions['login']>,
    private readonly users: KnownUsers,
  ) {}

  async find(subject: string): Promise<User | undefined> {
    return await this.users.find(subject);
  }

  /** @throws {TypeError} if the application returns neither a user nor a location */
  async signedIn(request: LoginRequest): Promise<User | LoginRedirect | undefined> {
    const found = (await this.login(request)) as unknown;
    if (found === undefined || found === null) return undefined;
    if (isObject(found) && typeof found['location'] === 'string') return found as unknown as LoginRedirect;
    if (!isUser(found)) {
      const problem = 'a user with a `subject`, and maybe a `name` and a list of `scopes`';
      throw new TypeError(`\`login\` must return ${problem}, an object with a \`location\`, or undefined.`);
    }
    return await this.users.remember(found);
  }
}

const isUser = (value: unknown): value is User =>
  isObject(value) && typeof value['subject'] === 'string' && value['subject'] !== '' && isUserData(value);

/** Whether a value has what may be known of a user. A mistake must not let the user grant everything. */
export function isUserData(value: unknown): value is Omit<User, 'subject'> {
  if (!isObject(value)) return false;
  const { name = '', scopes = [] } = value;
  return typeof name === 'string' && Array.isArray(scopes) && scopes.every((scope) => typeof scope === 'string');
}

/** What a directory has found. Databases say `null` for nothing. */
function userIn(found: unknown, must: string): User | undefined {
  if (found === undefined || found === null) return undefined;
  if (isUser(found)) return found;
  throw new TypeError(`${must} with a user with a \`subject\`, or undefined.`);
}

const keyOf = (subject: string): string => SealedRecords.key('user', subject);

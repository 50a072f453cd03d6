/** Somebody who can sign in. */
export interface User {
  /** Identifies the user in tokens, for good. Don't give it to somebody else later. */
  readonly subject: string;
  /** What the consent page calls the user. By default, the subject. */
  readonly name?: string | undefined;
  /** The scopes that the user may grant. By default, all. */
  readonly scopes?: readonly string[] | undefined;
}

/** Knows the users and their passwords. */
export interface UserDirectory {
  /**
   * Finds the user with a name and a password. Unknown names must take as long as wrong passwords, or callers could
   * find out which names exist.
   * @returns undefined if either is wrong
   * @throws {SignInBusyError} if too many are signing in at the moment
   */
  verify(name: string, password: string): Promise<User | undefined>;
  /** Finds a user who has signed in before; undefined if the user no longer exists. */
  find(subject: string): Promise<User | undefined>;
}

/** The name as it is compared and counted: keyboards encode letters differently, and add spaces. */
export const normalizeName = (name: string): string => name.normalize('NFC').trim();

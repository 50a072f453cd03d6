/** What a page says of a client. */
export interface ClientView {
  /** The name that it gives itself. It proves nothing. */
  readonly name: string;
  /** The host of its id, if that is a URL whose document was fetched. */
  readonly host?: string | undefined;
  /** Whether the server's operator has listed it, so that its name is known. */
  readonly isListed?: boolean | undefined;
  /** The host that it gets its answer at or, of a private scheme, the scheme: `cursor://`. */
  readonly redirectHost: string;
  /** Where exactly it gets its answer. */
  readonly redirectUri?: string | undefined;
  /** Whether all its redirects stay on the user's computer, where any program can receive them. */
  readonly isLoopbackOnly: boolean;
}

/** What is on the page where a user signs in. */
export interface SignInView {
  /** Where the form goes. */
  readonly action: string;
  readonly csrf: string;
  readonly client: ClientView;
  /** The name that the user has entered before. */
  readonly username?: string | undefined;
  /** Why the user has to try again. */
  readonly problem?: 'wrong' | undefined;
}

/** What a server in front of another provider asks there. */
export interface UpstreamView {
  /** The provider's name, such as GitHub. */
  readonly name: string;
  /** Its scopes, in words if there are any. */
  readonly scopes: readonly string[];
}

/** What is on the page where a user allows a client to act. */
export interface ConsentView {
  /** Where the form goes. */
  readonly action: string;
  readonly csrf: string;
  readonly client: ClientView;
  /** Who has signed in; undefined if an upstream finds out only after consent. */
  readonly account?: string | undefined;
  /** Whether the user can't use another account here. */
  readonly keepsAccount?: boolean | undefined;
  /** In words. */
  readonly scopes: readonly string[];
  readonly upstream?: UpstreamView | undefined;
  /** For how many days the user may have the answer remembered; undefined if that isn't offered. */
  readonly mayRemember?: number | undefined;
}

/** What is on the page for somebody who has failed too often. */
export interface LockedView {
  /** When to try again, in seconds. */
  readonly retryAfter: number;
}

/** What is on a page that only tells something. */
export interface MessageView {
  readonly title: string;
  readonly message: string;
}

/** Names and values of the fields in the forms. */
export const FIELDS = {
  csrf: 'csrf',
  username: 'username',
  password: 'password',
  remember: 'remember',
  decision: 'decision',
} as const;

/** The values of the field `decision`. */
export const DECISIONS = { allow: 'allow', deny: 'deny', switchAccount: 'switch-account' } as const;

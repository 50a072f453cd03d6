import type { IncomingMessage } from 'node:http';

import type { AuthEvent, OAuthOptions } from '@decorum/auth';

import type { ConfiguredClient } from './clients/configured-clients.js';
import type { PageTexts } from './pages/texts.js';
import type { AuthStore } from './store/auth-store.js';
import type { UpstreamOptions } from './upstream/upstream-options.js';
import type { User, UserDirectory } from './users/user-directory.js';

/** A request whose user the application may know. */
export interface LoginRequest {
  /** Header names in lower case, with the cookies. */
  readonly headers: IncomingMessage['headers'];
  /** Where the user must come back to after signing in at the application. */
  readonly url: string;
  /** The address of the user's browser. */
  readonly remoteAddress: string | undefined;
}

/** Sends the user elsewhere to sign in. */
export interface LoginRedirect {
  /** The URL of the application's own sign-in page. It must lead back to `url` of the request. */
  readonly location: string;
}

/** Options of `authorizationServer`. `HostRequest` is the request type of the web framework. */
export interface AuthorizationServerOptions<HostRequest = unknown> extends Pick<
  OAuthOptions<HostRequest>,
  | 'scopes'
  | 'offer'
  | 'hierarchy'
  | 'allowLoopbackHttp'
  | 'apiKeys'
  | 'apiKeyHeader'
  | 'verify'
  | 'cacheMs'
  | 'toolSignIn'
  | 'reportGranted'
> {
  /** The URL of the MCP endpoint as clients see it. Its host is allowed without `allowedHosts`. */
  readonly resource: string;
  /** The issuer: a URL at the origin of `resource`. Defaults to that origin. */
  readonly issuer?: string;
  /** Every scope that there is, in the words of the consent page. */
  readonly consent: Readonly<Record<string, string>>;
  /** The people who sign in with a password, such as `usersFile('users.json')`. */
  readonly users?: UserDirectory;
  /**
   * Finds the user in the application's own session. Return undefined to deny access, and a `location` to send the user
   * to the application's sign-in page.
   */
  readonly login?: (
    request: LoginRequest,
  ) => User | LoginRedirect | undefined | Promise<User | LoginRedirect | undefined>;
  /**
   * A provider where users sign in, such as `github({ … })`, or `{ ...entra({ … }), clientId, clientSecret }` with a preset
   * of @decorum/auth.
   */
  readonly upstream?: UpstreamOptions;
  /** Where clients, grants and keys are kept. Defaults to `memoryStore()`. */
  readonly store?: AuthStore;
  /** Clients that are known without registering. */
  readonly clients?: readonly ConfiguredClient[];
  /** Whether clients can register themselves (RFC 7591). Defaults to `true`. */
  readonly registration?: boolean;
  /** Private-use schemes that redirect URIs may have, such as `cursor`. */
  readonly redirectSchemes?: readonly string[];
  /** For how many days users may have their consent remembered. By default, they are asked each time. */
  readonly remember?: number;
  /** Texts of the pages, to translate or reword them. */
  readonly texts?: PageTexts;
  /**
   * Whether a proxy in front of the server appends the address of its client to `X-Forwarded-For`. Only then is that
   * header believed.
   */
  readonly trustProxy?: boolean;
  /** Called for each denied request, and for what happens at sign-in. Values from clients are escaped. */
  readonly onEvent?: (event: AuthEvent) => void;
}

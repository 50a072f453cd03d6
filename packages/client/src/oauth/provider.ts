/** A client as an authorization server knows it (RFC 7591, 3.2.1). */
export interface OAuthClientInformation {
  readonly client_id: string;
  readonly client_secret?: string | undefined;
}

/** Tokens of an authorization server (RFC 6749, 5.1). */
export interface OAuthTokens {
  readonly access_token: string;
  readonly token_type: string;
  readonly expires_in?: number | undefined;
  readonly scope?: string | undefined;
  readonly refresh_token?: string | undefined;
  readonly id_token?: string | undefined;
}

/** What a client says of itself when it registers (RFC 7591, 2). */
export interface OAuthClientMetadata {
  readonly redirect_uris: readonly (string | URL)[];
  readonly scope?: string | undefined;
  readonly token_endpoint_auth_method?: string | undefined;
}

/** For whom something is stored: client ids and tokens belong to one authorization server. */
export interface OAuthContext {
  readonly issuer: string;
}

/**
 * Signs in to a protected server, and keeps what that needs. It has the shape of the official SDK's
 * `OAuthClientProvider`, so the providers that are written for the SDK fit.
 */
export interface OAuthProvider {
  /** Where the authorization server sends the user's browser back to. */
  readonly redirectUrl: string | URL | undefined;
  /** The URL of this client's metadata document, for servers that take one in place of a registration. */
  readonly clientMetadataUrl?: string | undefined;
  readonly clientMetadata: OAuthClientMetadata;
  /** Returns a value that nobody can guess. It comes back with the browser, which is checked. */
  state?(): string | Promise<string>;
  clientInformation(
    context?: OAuthContext,
  ): OAuthClientInformation | undefined | Promise<OAuthClientInformation | undefined>;
  saveClientInformation?(information: OAuthClientInformation, context?: OAuthContext): void | Promise<void>;
  tokens(context?: OAuthContext): OAuthTokens | undefined | Promise<OAuthTokens | undefined>;
  saveTokens(tokens: OAuthTokens, context?: OAuthContext): void | Promise<void>;
  /**
   * Sends the user's browser to a URL. If it resolves with the URL at which the browser came back, the client goes on at
   * once. Otherwise pass that URL to `finishAuthorization`, and connect again.
   */
  redirectToAuthorization(url: URL): unknown;
  saveCodeVerifier(verifier: string): void | Promise<void>;
  codeVerifier(): string | Promise<string>;
  /** Forgets what the authorization server no longer accepts. */
  invalidateCredentials?(what: 'all' | 'client' | 'tokens' | 'verifier'): void | Promise<void>;
}

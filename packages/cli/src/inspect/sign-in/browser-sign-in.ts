import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import {
  ConnectionError,
  type OAuthClientInformation,
  type OAuthClientMetadata,
  type OAuthContext,
  type OAuthProvider,
  type OAuthTokens,
} from '@decorum/client';

import { openInBrowser } from '../browser.js';
import { say } from '../print.js';
import { Loopback } from './loopback.js';
import { TokenFile } from './token-file.js';

/** How long a user may take to sign in, in milliseconds. */
const PATIENCE_MS = 300_000;

/** Signs the user in by the browser, as native apps do (RFC 8252), and keeps the tokens in a file. */
export class BrowserSignIn implements OAuthProvider {
  private readonly file: TokenFile;
  private loopback: Loopback | undefined;
  private client: OAuthClientInformation | undefined;
  /** The port of the redirect URI with which the client is registered. */
  private port = 0;
  private verifier = '';
  private expected = '';
  private readonly ended = new AbortController();

  constructor(
    server: URL,
    private readonly usesBrowser: boolean,
  ) {
    this.file = new TokenFile(server);
  }

  get redirectUrl(): string | undefined {
    return this.loopback?.redirectUrl;
  }

  get clientMetadata(): OAuthClientMetadata {
    const metadata = {
      client_name: 'Decorum inspect',
      application_type: 'native',
      redirect_uris: [this.redirectUrl ?? ''],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    };
    return metadata;
  }

  state(): string {
    this.expected = randomBytes(16).toString('base64url');
    return this.expected;
  }

  /** The client as it is registered, if its redirect URI can still be listened to. */
  async clientInformation({ issuer }: OAuthContext): Promise<OAuthClientInformation | undefined> {
    const kept = this.file.read();
    const known = kept?.issuer === issuer ? kept : undefined;
    if (known !== undefined) this.loopback ??= await Loopback.open(known.port).catch(() => undefined);
    this.loopback ??= await Loopback.open(0);
    this.port = this.loopback.port;
    if (known === undefined || (known.port !== this.port && known.tokens?.refresh_token === undefined))
      return undefined;
    this.client = known.client;
    this.port = known.port;
    return this.client;
  }

  saveClientInformation(client: OAuthClientInformation, { issuer }: OAuthContext): void {
    this.client = client;
    this.file.write({ issuer, client, port: this.port });
  }

  tokens(context?: OAuthContext): OAuthTokens | undefined {
    const kept = this.file.read();
    return context === undefined || context.issuer === kept?.issuer ? kept?.tokens : undefined;
  }

  saveTokens(tokens: OAuthTokens, { issuer }: OAuthContext): void {
    const { client } = this;
    if (client === undefined) return;
    this.file.write({ issuer, client, port: this.port, tokens });
  }

  saveCodeVerifier(verifier: string): void {
    this.verifier = verifier;
  }

  codeVerifier(): string {
    return this.verifier;
  }

  invalidateCredentials(what: 'all' | 'client' | 'tokens' | 'verifier'): void {
    const kept = this.file.read();
    if (kept === undefined || what === 'verifier') return;
    if (what === 'tokens') this.file.write({ ...kept, tokens: undefined });
    else this.file.remove();
  }

  /** Sends the user to the authorization server. Returns the URL at which the browser came back. */
  async redirectToAuthorization(url: URL): Promise<URL> {
    const { loopback } = this;
    if (loopback === undefined) throw new ConnectionError('unauthorized', 'Nothing waits for the browser.');
    say(`Sign in to go on:\n\n  ${url.href}\n`);
    if (this.usesBrowser && process.stderr.isTTY) openInBrowser(url.href);
    const back = loopback.back(this.expected);
    return await Promise.race([back, this.givenUp()]);
  }

  /** Stops waiting. */
  close(): void {
    this.ended.abort();
    this.loopback?.close();
  }

  private async givenUp(): Promise<never> {
    const { signal } = this.ended;
    await sleep(PATIENCE_MS, undefined, { signal, ref: false }).catch(() => {});
    throw new ConnectionError('unauthorized', `Nobody has signed in within ${PATIENCE_MS / 60_000} minutes.`);
  }
}

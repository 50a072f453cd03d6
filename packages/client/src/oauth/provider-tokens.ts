import type { Challenge, HeaderSource } from '../carriers/credentials.js';
import type { RequestHeaders } from '../carriers/http-request.js';
import { ConnectionError } from '../connection-error.js';
import type { OAuthProvider } from './provider.js';
import { exchangeCode, refresh, register, scopeToAsk, sendUser } from './sign-in.js';

/** Adds the access tokens of a provider to requests, and gets new ones when they are refused. */
export class ProviderTokens implements HeaderSource {
  /** However many requests are refused at once, one gets new tokens. */
  private renewal: Promise<void> | undefined;
  /** The scopes of the last sign-in, which are those of its token if the issuer doesn't name them (RFC 6749, 5.1). */
  private asked: string | undefined;

  constructor(
    private readonly others: HeaderSource,
    private readonly server: URL,
    private readonly provider: OAuthProvider,
  ) {}

  async headers(): Promise<RequestHeaders> {
    const [headers, tokens] = [await this.others.headers(), await this.provider.tokens()];
    return { ...headers, ...(tokens && { authorization: `Bearer ${tokens.access_token}` }) };
  }

  async refused(challenge: Challenge, sent: string | undefined): Promise<boolean> {
    const current = await this.provider.tokens();
    const isRenewed = current !== undefined && `Bearer ${current.access_token}` !== sent;
    if (isRenewed && this.renewal === undefined) return true;
    this.renewal ??= this.renew(challenge).finally(() => (this.renewal = undefined));
    await this.renewal;
    return true;
  }

  private async renew(challenge: Challenge): Promise<void> {
    const { provider, server } = this;
    const registered = await register(server, provider, challenge);
    const tokens = await provider.tokens({ issuer: registered.issuer.issuer });
    const isStepUp = challenge.params['error'] === 'insufficient_scope';
    const canRefresh = tokens?.refresh_token !== undefined && !isStepUp;
    if (canRefresh && (await refresh(registered, tokens))) return;
    const asked = scopeToAsk(registered, challenge, isStepUp ? (tokens?.scope ?? this.asked) : undefined);
    const returned = await sendUser(registered, asked);
    this.asked = asked;
    if (returned === undefined) {
      const next = 'Pass the URL at which the browser comes back to `finishAuthorization`, and connect again';
      throw new ConnectionError('unauthorized', `The user has to sign in. ${next}.`, { status: challenge.status });
    }
    await exchangeCode(registered, returned.back, returned.state);
  }
}

/**
 * Goes on after a sign-in, for providers whose `redirectToAuthorization` doesn't wait for the user. Afterwards the
 * provider has tokens: connect again.
 * @param server the URL of the MCP server
 * @param back the URL at which the browser came back, with all of its parameters
 * @throws {ConnectionError} `unauthorized` if the sign-in has failed
 * @example
 * ```ts
 * import { connectClient, finishAuthorization, type OAuthProvider } from '@decorum/client';
 *
 * async function comeBack(authProvider: OAuthProvider, request: { url: string }) {
 *   const server = 'https://mcp.example.com/mcp';
 *   await finishAuthorization(server, authProvider, new URL(request.url, 'https://app.example.com'));
 *   return await connectClient(server, { authProvider });
 * }
 * ```
 */
export async function finishAuthorization(server: string | URL, provider: OAuthProvider, back: URL): Promise<void> {
  await exchangeCode(await register(new URL(server), provider, undefined), back, undefined);
}

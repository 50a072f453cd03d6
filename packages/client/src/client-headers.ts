import { type Challenge, fixedHeaders, type HeaderSource } from './carriers/credentials.js';
import type { RequestHeaders } from './carriers/http-request.js';
import { ProviderTokens } from './oauth/provider-tokens.js';
import type { ClientOptions } from './options.js';

/** Where the headers of a client's requests come from. */
export function headersOf({ headers = {}, authorization, authProvider }: ClientOptions, target: unknown): HeaderSource {
  const given: HeaderSource =
    typeof headers === 'function'
      ? { headers: async () => await headers(), refused: async () => false }
      : fixedHeaders(headers);
  if (authorization !== undefined) return new Tokens(given, authorization);
  const server = URL.canParse(String(target)) ? new URL(String(target)) : undefined;
  return authProvider === undefined || server === undefined ? given : new ProviderTokens(given, server, authProvider);
}

/** Adds access tokens. */
class Tokens implements HeaderSource {
  private token: Promise<string | undefined> | undefined;

  constructor(
    private readonly others: HeaderSource,
    private readonly authorization: NonNullable<ClientOptions['authorization']>,
  ) {}

  async headers(): Promise<RequestHeaders> {
    this.token ??= this.fetch(undefined);
    const token = await this.token;
    return { ...(await this.others.headers()), ...(token !== undefined && { authorization: `Bearer ${token}` }) };
  }

  async refused(challenge: Challenge): Promise<boolean> {
    const refused = await this.token;
    this.token = this.fetch(challenge);
    const token = await this.token;
    return token !== undefined && token !== refused;
  }

  private fetch(challenge: Challenge | undefined): Promise<string | undefined> {
    const token = (async () => await this.authorization(challenge))();
    // the next request tries again
    token.catch(() => (this.token = undefined));
    return token;
  }
}

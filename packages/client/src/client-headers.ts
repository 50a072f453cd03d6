import { isObject } from '@decorum/core/internal';

import { type Challenge, fixedHeaders, type HeaderSource } from './carriers/credentials.js';
import type { RequestHeaders } from './carriers/http-request.js';
import { ProviderTokens } from './oauth/provider-tokens.js';
import type { ClientOptions } from './options.js';

/** Where the headers of a client's requests come from. */
export function headersOf({ headers = {}, authorization, authProvider }: ClientOptions, target: unknown): HeaderSource {
  const given: HeaderSource =
    typeof headers === 'function'
      ? { headers: async () => checked(await headers()), refused: async () => false }
      : fixedHeaders(headers);
  if (authorization !== undefined) return new Tokens(given, authorization);
  const server = URL.canParse(String(target)) ? new URL(String(target)) : undefined;
  return authProvider === undefined || server === undefined ? given : new ProviderTokens(given, server, authProvider);
}

function checked(headers: RequestHeaders): RequestHeaders {
  if (isObject(headers)) return headers;
  throw new TypeError('`headers` of the client returned no object. Return `{}` if there are none.');
}

/** Adds access tokens. */
class Tokens implements HeaderSource {
  private token: Promise<string | undefined> | undefined;
  private renewal: Promise<void> | undefined;

  constructor(
    private readonly others: HeaderSource,
    private readonly authorization: NonNullable<ClientOptions['authorization']>,
  ) {}

  async prepare(): Promise<unknown> {
    this.token ??= this.fetch(undefined);
    return await this.token;
  }

  async headers(): Promise<RequestHeaders> {
    const token = bearer(await this.token);
    return { ...(await this.others.headers()), ...(token !== undefined && { authorization: token }) };
  }

  async refused(challenge: Challenge, sent: string | undefined): Promise<boolean> {
    const current = bearer(await this.token);
    // however many requests are refused at once, one asks for another token
    if (current === undefined || current === sent) {
      this.renewal ??= this.renew(challenge).finally(() => (this.renewal = undefined));
      await this.renewal;
    }
    const token = bearer(await this.token);
    return token !== undefined && token !== sent;
  }

  private async renew(challenge: Challenge): Promise<void> {
    const token = this.fetch(challenge);
    await token;
    this.token = token;
  }

  private fetch(challenge: Challenge | undefined): Promise<string | undefined> {
    const token = (async () => await this.authorization(challenge))();
    // the next request tries again
    token.catch(() => (this.token = undefined));
    return token;
  }
}

const bearer = (token: string | undefined) => (token === undefined ? undefined : `Bearer ${token}`);

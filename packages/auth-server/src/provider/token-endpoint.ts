import { AsyncLocalStorage } from 'node:async_hooks';
import type { Buffer } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';

import type { KoaContextWithOIDC } from 'oidc-provider';
import type Provider from 'oidc-provider';

import type { IssuerRequest } from './issuer-request.js';
import { KeyedQueue } from './keyed-queue.js';
import { SealedRecords } from './sealed-records.js';
import type { ReportSignIn } from './report.js';
import { TokenRequest, type TokenRequestParts } from './token-request.js';

/** Dependencies of `TokenEndpoint`. */
export interface TokenEndpointParts extends TokenRequestParts {
  readonly report: ReportSignIn;
  /** Notes that a client has got tokens. */
  used(clientId: string): Promise<void>;
}

/** How often a request is handled, if other processes change its records each time. */
const MAX_ATTEMPTS = 5;

/** A request to an endpoint that only clients call. */
export interface ClientRequest {
  readonly request: IssuerRequest;
  readonly response: ServerResponse;
  readonly body: Buffer;
  readonly provider: Provider;
}

/**
 * Runs oidc-provider's token endpoint so that each request changes all records or none, and that requests with the same
 * code or refresh token come one after the other.
 */
export class TokenEndpoint {
  private readonly current = new AsyncLocalStorage<TokenRequest>();
  private readonly queue = new KeyedQueue();
  /** Requests that were not answered, because another process has changed their records meanwhile. */
  private readonly outrun = new WeakSet<IncomingMessage>();

  constructor(private readonly parts: TokenEndpointParts) {}

  /** The request that is being handled. */
  get request(): TokenRequest | undefined {
    return this.current.getStore();
  }

  /** Answers a request. */
  async handle(call: ClientRequest): Promise<void> {
    const form = new URLSearchParams(call.body.toString());
    const token = form.get(form.get('grant_type') === 'refresh_token' ? 'refresh_token' : 'code');
    if (token === null) await this.attempt(call);
    else await this.queue.run(SealedRecords.key('token', token), () => this.attempt(call));
  }

  /** Lets oidc-provider handle a request, again if another process has used the same token at the same moment. */
  private async attempt({ request: first, response, provider }: ClientRequest): Promise<void> {
    let request = first;
    for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts++) {
      await provider.callback()(request, response);
      if (!this.outrun.has(request)) return;
      request = request.again();
    }
    response.writeHead(503, { 'retry-after': '1', 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: 'temporarily_unavailable' }));
  }

  /** A middleware of oidc-provider that ends the request before its answer is sent. */
  readonly middleware = async (ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> => {
    const { records } = this.parts;
    let replay: TokenRequest['ended'];
    let hasTokens = false;
    const isMade = await records.together(async (batch) => {
      const request = new TokenRequest(batch, this.parts);
      await this.current.run(request, next);
      await request.judge(ctx.oidc.client?.clientId);
      replay = request.ended;
      // of a client whose document is wrong, oidc-provider says 400 (RFC 6749, section 5.2)
      if ((ctx.body as { error?: string } | undefined)?.error === 'invalid_client') ctx.status = 401;
      hasTokens = (ctx.body as { access_token?: string } | undefined)?.access_token !== undefined;
      return await request.end(ctx.body);
    });
    if (!isMade) {
      this.outrun.add(ctx.req);
      ctx.respond = false;
    } else if (replay) this.parts.report(replay);
    // the tokens are issued, whether this works or not
    if (isMade && hasTokens) await this.parts.used(String(ctx.oidc.client?.clientId)).catch(() => undefined);
  };
}

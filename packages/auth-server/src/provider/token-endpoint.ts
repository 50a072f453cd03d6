import { AsyncLocalStorage } from 'node:async_hooks';
import type { Buffer } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';

import type { KoaContextWithOIDC } from 'oidc-provider';
import type Provider from 'oidc-provider';

import type { Clock } from '../platform.js';
import { KeyedQueue } from './keyed-queue.js';
import { SealedRecords } from './sealed-records.js';
import type { ReportSignIn } from './report.js';
import { TokenRequest } from './token-request.js';

/** Dependencies of `TokenEndpoint`. */
export interface TokenEndpointParts {
  readonly records: SealedRecords;
  readonly clock: Clock;
  readonly report: ReportSignIn;
}

/** A request to an endpoint that only clients call. */
export interface ClientRequest {
  readonly request: IncomingMessage;
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

  constructor(private readonly parts: TokenEndpointParts) {}

  /** The request that is being handled. */
  get request(): TokenRequest | undefined {
    return this.current.getStore();
  }

  /** Answers a request. */
  async handle({ request, response, body, provider }: ClientRequest): Promise<void> {
    const form = new URLSearchParams(body.toString());
    const token = form.get(form.get('grant_type') === 'refresh_token' ? 'refresh_token' : 'code');
    const run = async () => await provider.callback()(request, response);
    if (token === null) await run();
    else await this.queue.run(SealedRecords.key('token', token), run);
  }

  /** A middleware of oidc-provider that ends the request before its answer is sent. */
  readonly middleware = async (ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> => {
    const { records, clock } = this.parts;
    let replay: TokenRequest['ended'];
    const isMade = await records.together(async (batch) => {
      const request = new TokenRequest(batch, records, clock);
      await this.current.run(request, next);
      replay = request.ended;
      return await request.end(ctx.body);
    });
    if (!isMade) {
      // another process has used the same token at the same moment: the client may try again
      ctx.status = 503;
      ctx.set('retry-after', '1');
      ctx.body = { error: 'temporarily_unavailable' };
    }
    if (replay) this.parts.report(replay);
  };
}

import type { Clock } from '../platform.js';
import { grantKey, type Grants } from '../provider/grants.js';
import { KeyedQueue } from '../provider/keyed-queue.js';
import { LIFETIMES } from '../provider/lifetimes.js';
import { SealedRecords } from '../provider/sealed-records.js';
import type { UpstreamClient, UpstreamTokens } from './upstream-client.js';
import { UpstreamError } from './upstream-error.js';

/** A token is refreshed so long before it expires. */
const MARGIN_MS = 60_000;

/** Dependencies of `KeptTokens`. */
export interface KeptTokensParts {
  readonly client: Pick<UpstreamClient, 'refresh'>;
  readonly records: SealedRecords;
  readonly grants: Pick<Grants, 'revoke'>;
  readonly clock: Clock;
}

/** The tokens of the upstream, of each grant. */
export class KeptTokens {
  private readonly queue = new KeyedQueue();

  constructor(private readonly parts: KeptTokensParts) {}

  /** Keeps the tokens of a grant, as long as the grant can last. */
  async keep(grantId: string, tokens: UpstreamTokens): Promise<void> {
    await this.parts.records.put(keyOf(grantId), tokens, this.parts.clock.now() + LIFETIMES.Grant * 1000);
  }

  /** Deletes the tokens of a grant that ends. */
  async forget(grantId: string): Promise<void> {
    await this.parts.records.delete(keyOf(grantId));
  }

  /**
   * The tokens of a grant, refreshed if necessary. Requests of one grant wait for each other, because most upstreams
   * accept a refresh token once.
   * @throws {UpstreamError}
   */
  async get(grantId: string): Promise<UpstreamTokens> {
    const tokens = await this.find(grantId);
    return this.isFresh(tokens) ? tokens : await this.queue.run(grantId, () => this.refresh(grantId));
  }

  private async refresh(grantId: string): Promise<UpstreamTokens> {
    const { client, grants } = this.parts;
    const tokens = await this.find(grantId);
    if (this.isFresh(tokens)) return tokens;
    if (tokens.refreshToken === undefined) return this.isFresh(tokens, 0) ? tokens : await this.end(grantId);
    let next: UpstreamTokens;
    try {
      next = await client.refresh(tokens.refreshToken);
    } catch (error) {
      if ((error as { error?: unknown }).error !== 'invalid_grant')
        throw new UpstreamError('unavailable', { cause: error });
      await grants.revoke(grantId);
      throw new UpstreamError('revoked', { cause: error });
    }
    await this.requireGrant(grantId);
    await this.keep(grantId, next);
    return next;
  }

  /** The grant may have ended while the upstream was asked. */
  private async requireGrant(grantId: string): Promise<void> {
    if ((await this.parts.records.get(grantKey(grantId))) === undefined) throw new UpstreamError('revoked');
  }

  /** Without a refresh token, the user has to sign in again. */
  private async end(grantId: string): Promise<never> {
    await this.parts.grants.revoke(grantId);
    throw new UpstreamError('revoked');
  }

  private async find(grantId: string): Promise<UpstreamTokens> {
    const tokens = (await this.parts.records.get(keyOf(grantId))) as UpstreamTokens | undefined;
    if (tokens === undefined) throw new UpstreamError('no-token');
    return tokens;
  }

  private isFresh({ expiresAt }: UpstreamTokens, margin = MARGIN_MS): boolean {
    return expiresAt === undefined || expiresAt - margin > this.parts.clock.now();
  }
}

const keyOf = (grantId: string): string => SealedRecords.key('upstream-tokens', grantId);

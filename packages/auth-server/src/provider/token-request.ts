import { Sealer } from '../keys/sealer.js';
import type { Clock } from '../platform.js';
import type { Change } from '../store/auth-store.js';
import { type Grants, grantKey } from './grants.js';
import type { RefreshTokens } from './refresh-tokens.js';
import { type Batch, SealedRecords } from './sealed-records.js';

/** How long a refresh token may be used again after it has been replaced: two requests of one client may race. */
const GRACE_MS = 20_000;

/** How long a used refresh token is kept, so that its grace period ends before its record does. */
export const KEPT_MS = GRACE_MS + 10_000;

/** The kind of the records that say which signed assertions were used. */
export const REPLAY_KIND = 'replay';

/** What is stored of a token that can be used once. */
export interface StoredToken {
  readonly jti: string;
  readonly grantId: string;
  readonly clientId: string;
  readonly accountId?: string;
  /** When it was used, in seconds since 1970. */
  readonly consumed?: number;
  /** The same in milliseconds. */
  readonly usedAt?: number;
  /** The refresh token that replaced it, sealed with the token itself: only who has this token may get the next one. */
  readonly successor?: string;
}

/** A used token that was sent again. */
export interface Replay {
  readonly type: 'code-replay' | 'refresh-replay';
  readonly grantId: string;
  readonly clientId: string;
  readonly subject?: string | undefined;
}

const KINDS = { 'authorization-code': 'code-replay', 'refresh-token': 'refresh-replay' } as const;

/** The kinds of tokens that can be used once. */
export type SingleUse = keyof typeof KINDS;

/** Dependencies of a `TokenRequest`. */
export interface TokenRequestParts {
  readonly records: SealedRecords;
  readonly clock: Clock;
  readonly grants: Pick<Grants, 'revoke'>;
  readonly refreshTokens: RefreshTokens;
}

/** One request to the token endpoint, while oidc-provider handles it. */
export class TokenRequest {
  private replay: Replay | undefined;
  /** The refresh token that was replaced before by the one that the request has sent. */
  private successor: string | undefined;
  private presented: { readonly key: string; readonly id: string } | undefined;
  private issued: string | undefined;

  /** The grant of a refresh token that was used so long ago that it has no record any more. */
  private oldGrant: string | undefined;

  constructor(
    private readonly batch: Batch,
    private readonly parts: TokenRequestParts,
  ) {}

  /**
   * Looks at a token that the request has sent.
   * @returns what oidc-provider is told about it: a token that was replaced a moment ago counts as unused
   */
  async see(kind: SingleUse, id: string, stored: StoredToken): Promise<StoredToken> {
    const key = SealedRecords.key(kind, id);
    if (kind === 'refresh-token') this.presented = { key, id };
    if (stored.consumed === undefined) return stored;
    this.successor = await this.successorOf(id, stored);
    if (this.successor !== undefined) {
      const { consumed: _consumed, ...unused } = stored;
      return unused;
    }
    const { grantId, clientId, accountId: subject } = stored;
    this.replay = { type: KINDS[kind], grantId, clientId, subject };
    return stored;
  }

  /** Looks at a refresh token without a record. */
  miss(id: string): void {
    this.oldGrant = this.parts.refreshTokens.grantOf(id);
  }

  /**
   * Ends the grant of a token that was used long ago.
   * @param clientId the client that has sent it, once oidc-provider has authenticated it
   */
  async judge(clientId: string | undefined): Promise<void> {
    const { oldGrant: grantId } = this;
    if (grantId === undefined || clientId === undefined) return;
    const grant = (await this.parts.records.get(grantKey(grantId))) as StoredToken | undefined;
    if (grant?.clientId !== clientId) return;
    this.replay = { type: 'refresh-replay', grantId, clientId, subject: grant.accountId };
    await this.parts.grants.revoke(grantId);
  }

  /** Notes that oidc-provider has issued a refresh token. */
  issue(id: string): void {
    this.issued = id;
  }

  /** The used token that the request has sent, and whose grant has ended because of that. */
  get ended(): Replay | undefined {
    const change = this.replay && this.batch.get(grantKey(this.replay.grantId));
    return change !== undefined && change.value === undefined ? this.replay : undefined;
  }

  /**
   * Ends the request.
   * @param body oidc-provider's answer, which is changed if it repeats an earlier one
   * @returns the changes to make
   */
  async end(body: unknown): Promise<readonly Change[]> {
    const { presented, issued, successor } = this;
    const answer = body as { refresh_token?: string; access_token?: string } | undefined;
    if (answer?.access_token === undefined) return this.ended === undefined ? this.proofs() : this.batch.all();
    if (successor !== undefined) {
      answer.refresh_token = successor;
      return this.proofs();
    }
    if (presented !== undefined && issued !== undefined) {
      const sealed = new Sealer([presented.id]).seal('successor', issued);
      await this.parts.records.amend(presented.key, (stored: StoredToken) => ({ ...stored, successor: sealed }));
    }
    return this.batch.all();
  }

  /**
   * The changes without those of tokens: oidc-provider has used a refresh token up before it finds the resource wrong, or
   * has issued another one. What a client has signed to prove who it is stays used.
   */
  private proofs(): readonly Change[] {
    return this.batch.all().filter(({ key }) => key.startsWith(`${REPLAY_KIND}:`));
  }

  private async successorOf(id: string, { usedAt, successor }: StoredToken): Promise<string | undefined> {
    if (successor === undefined || usedAt === undefined) return undefined;
    if (Math.abs(this.parts.clock.now() - usedAt) >= GRACE_MS) return undefined;
    const next = new Sealer([id]).open('successor', successor);
    if (next === undefined) return undefined;
    const stored = (await this.parts.records.get(SealedRecords.key('refresh-token', next))) as StoredToken | undefined;
    // once the successor was used, whoever has this token is late, or a thief
    return stored === undefined || stored.consumed !== undefined ? undefined : next;
  }
}

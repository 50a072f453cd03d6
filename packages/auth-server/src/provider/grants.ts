import type { GrantSource, LiveGrant } from '@decorum/auth/internal';

import type { Clock } from '../platform.js';
import type { ReportSignIn } from './report.js';
import { SealedRecords } from './sealed-records.js';

/** How long a revoked grant is remembered: longer than any of its access tokens is accepted. */
const REMEMBERED_MS = 15 * 60_000;

type Claims = Readonly<Record<string, unknown>>;

/** A grant or a session, as oidc-provider stores it. */
interface StoredOfUser {
  readonly jti: string;
  readonly accountId?: string;
}

const FOR_ITSELF: LiveGrant = { revoked: false };

/** The key of a grant's record. */
export const grantKey = (grantId: string): string => SealedRecords.key('grant', grantId);

/**
 * Knows which grants are revoked. Each access token names its grant. A grant that this process has revoked is refused
 * at once. That another process has revoked one shows in the store, which is asked when a token isn't cached.
 */
export class Grants implements GrantSource {
  /** When each grant was revoked, oldest first. */
  private readonly revoked = new Map<string, number>();
  /** The grants of the tokens that are in use here, and when these expire. */
  private readonly used = new Map<string, number>();
  /** Called with each grant that is revoked. */
  onRevoked: (grantId: string) => void = () => {};
  /** Deletes what else is kept for a grant that ends. */
  forget: (grantId: string) => Promise<void> = async () => {};
  /** Whether a client may get tokens for itself. */
  isMachine: (clientId: unknown) => boolean = () => false;

  constructor(
    private readonly records: SealedRecords,
    private readonly clock: Clock,
    private readonly report: ReportSignIn,
  ) {}

  /** The grant of a token's claims; undefined if it is unknown, expired or revoked. */
  async find({ grant_id: id, sub, client_id: client, exp }: Claims): Promise<LiveGrant | undefined> {
    // a client that got the token for itself needs no grant of a user
    if (id === undefined) return sub === client && this.isMachine(client) ? FOR_ITSELF : undefined;
    if (typeof id !== 'string' || this.revoked.has(id)) return undefined;
    if ((await this.records.get(grantKey(id))) === undefined) return undefined;
    const { revoked } = this;
    this.used.set(id, Math.max(this.used.get(id) ?? 0, Number(exp) * 1000));
    return {
      get revoked() {
        return revoked.has(id);
      },
    };
  }

  /** The client of a grant; undefined if the grant is unknown, expired or revoked. */
  async clientOf(grantId: string): Promise<string | undefined> {
    return ((await this.records.get(grantKey(grantId))) as { clientId?: string } | undefined)?.clientId;
  }

  /** Revokes a grant, with all of its tokens. */
  async revoke(grantId: string): Promise<void> {
    await this.records.delete(grantKey(grantId));
    await this.forget(grantId);
    this.end(grantId);
    this.report({ type: 'revoked', grantId });
  }

  /** Revokes all grants of a user, and ends the user's sessions in browsers. Returns how many grants there were. */
  async revokeAll(subject: string): Promise<number> {
    const ofUser = async (kind: string) =>
      (await this.records.list(kind)).filter(({ value }) => (value as StoredOfUser).accountId === subject);
    for (const { key } of await ofUser('session')) await this.records.delete(key);
    const grants = await ofUser('grant');
    for (const { value } of grants) await this.revoke((value as StoredOfUser).jti);
    return grants.length;
  }

  /** Ends what is open here with grants that another process has revoked. Call it at least once a minute. */
  async catchUp(): Promise<void> {
    const now = this.clock.now();
    for (const [id, until] of this.used) {
      const isLive = until > now && !this.revoked.has(id);
      if (isLive && (await this.records.get(grantKey(id))) !== undefined) continue;
      this.used.delete(id);
      if (isLive) this.end(id);
    }
  }

  private end(grantId: string): void {
    const now = this.clock.now();
    for (const [id, at] of this.revoked) {
      if (now - at < REMEMBERED_MS) break;
      this.revoked.delete(id);
    }
    this.revoked.set(grantId, now);
    this.onRevoked(grantId);
  }
}

import type { Adapter, AdapterPayload } from 'oidc-provider';

import type { Clock } from '../platform.js';
import type { Grants } from './grants.js';
import { SealedRecords } from './sealed-records.js';
import { KEPT_MS, REPLAY_KIND, type SingleUse, type StoredToken, type TokenRequest } from './token-request.js';

/** oidc-provider's models that are stored, with the kinds of their records. */
const KINDS: Readonly<Record<string, string>> = {
  AuthorizationCode: 'authorization-code',
  Grant: 'grant',
  Interaction: 'interaction',
  RefreshToken: 'refresh-token',
  ReplayDetection: REPLAY_KIND,
  Session: 'session',
};

/** Dependencies of an adapter. */
export interface AdapterParts {
  readonly records: SealedRecords;
  readonly grants: Grants;
  readonly clock: Clock;
  /** The metadata of a client; undefined if there is no such client. */
  client(id: string): Promise<AdapterPayload | undefined>;
  /** The request to the token endpoint that is being handled. */
  tokenRequest(): TokenRequest | undefined;
}

/** What oidc-provider stores. Access tokens are not stored: their grants decide. */
export function adapterFor(parts: AdapterParts): (model: string) => Adapter {
  return (model) => {
    const kind = KINDS[model];
    if (kind === undefined) return new NothingStored(model === 'Client' ? (id) => parts.client(id) : undefined);
    return new RecordAdapter(kind, parts);
  };
}

const isSingleUse = (kind: string): kind is SingleUse => kind === 'authorization-code' || kind === 'refresh-token';

class RecordAdapter implements Adapter {
  constructor(
    private readonly kind: string,
    private readonly parts: AdapterParts,
  ) {}

  /** @param expiresIn seconds */
  async upsert(id: string, payload: AdapterPayload, expiresIn = 0): Promise<void> {
    const { kind, parts } = this;
    const until = parts.clock.now() + expiresIn * 1000;
    // oidc-provider has just found none, as another request may have done at the same moment
    if (kind === REPLAY_KIND) return await parts.records.create(this.keyOf(id), payload, until);
    await parts.records.put(this.keyOf(id), payload, until);
    if (kind === 'session') await parts.records.put(uidKey(payload.uid), id, until);
    if (kind === 'refresh-token') parts.tokenRequest()?.issue(id);
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    const { kind, parts } = this;
    const stored = (await parts.records.get(this.keyOf(id))) as (AdapterPayload & StoredToken) | undefined;
    const request = parts.tokenRequest();
    if (stored === undefined && kind === 'refresh-token') request?.miss(id);
    if (stored === undefined || !isSingleUse(kind)) return stored;
    return request === undefined ? stored : ((await request.see(kind, id, stored)) as AdapterPayload);
  }

  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    const id = await this.parts.records.get(uidKey(uid));
    return typeof id === 'string' ? await this.find(id) : undefined;
  }

  async findByUserCode(): Promise<undefined> {}

  async consume(id: string): Promise<void> {
    const now = this.parts.clock.now();
    const used = { consumed: Math.floor(now / 1000), usedAt: now };
    // of a refresh token, the signature is enough afterwards
    const expiryOf = ({ exp = 0 }: AdapterPayload) => (this.kind === 'refresh-token' ? now + KEPT_MS : exp * 1000);
    await this.parts.records.replace(this.keyOf(id), (stored: AdapterPayload) => ({ ...stored, ...used }), expiryOf);
  }

  async destroy(id: string): Promise<void> {
    const { kind, parts } = this;
    if (kind === 'grant') return await parts.grants.revoke(id);
    await parts.records.delete(this.keyOf(id));
  }

  /** Nothing to do: tokens without their grant are refused, and forgotten when they expire. */
  async revokeByGrantId(): Promise<void> {}

  private keyOf(id: string): string {
    return SealedRecords.key(this.kind, id);
  }
}

const uidKey = (uid: unknown): string => SealedRecords.key('session-uid', String(uid));

/** A model that is not stored, and the clients, which have a source of their own. */
class NothingStored implements Adapter {
  constructor(private readonly source: ((id: string) => Promise<AdapterPayload | undefined>) | undefined) {}

  async find(id: string): Promise<AdapterPayload | undefined> {
    return await this.source?.(id);
  }

  async findByUid(): Promise<undefined> {}

  async findByUserCode(): Promise<undefined> {}

  async upsert(): Promise<void> {}

  async consume(): Promise<void> {}

  async destroy(): Promise<void> {}

  async revokeByGrantId(): Promise<void> {}
}

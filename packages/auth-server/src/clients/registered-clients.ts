import { randomBytes } from 'node:crypto';

import { isObject } from '@decorum/core/internal';

import type { Sealer } from '../keys/sealer.js';
import type { Clock } from '../platform.js';
import type { AuthStore, Change } from '../store/auth-store.js';
import { ClientError } from './client-error.js';
import { type ClientMetadata, takeMetadata } from './client-metadata.js';
import { networkOf } from './public-address.js';
import { Quota } from './quota.js';
import { redirectsMistake } from './redirects.js';

const HOUR_MS = 60 * 60_000;
const PER_ADDRESS = { limit: 20, windowMs: HOUR_MS };
const MAX_CLIENTS = 1000;

/** The form of the ids that are given here. Others needn't be looked up. */
const ID = /^[\w-]{22}$/;

/** Dependencies of `RegisteredClients`. */
export interface RegisteredParts {
  readonly store: AuthStore;
  readonly clock: Pick<Clock, 'now'>;
  /** Seals secrets: oidc-provider needs them in clear text, but the store mustn't have them so. */
  readonly sealer: Pick<Sealer, 'seal' | 'open'>;
  /** Allowed private-use schemes of redirect URIs. */
  readonly schemes: readonly string[];
}

/** A request to register a client. */
export interface RegistrationRequest {
  /** The body as JSON. */
  readonly sent: unknown;
  /** The address of the caller. */
  readonly from: string | undefined;
  /** Throws a `ClientError` if the client can't be used. */
  accept(metadata: ClientMetadata): void | Promise<void>;
}

interface StoredClient {
  /** Without the secret. */
  readonly metadata: ClientMetadata;
  readonly sealedSecret?: string;
}

/** A record of its own, because all of them are read when a client has to go. */
interface StoredUse {
  readonly registeredAt: number;
  /** Undefined if no user has ever signed in to the client. */
  readonly usedAt?: number;
}

const clientKey = (id: string): string => `client:${id}`;
const useKey = (id: string): string => `client-use:${id}`;
const secretPurpose = (id: string): string => `client-secret:${id}`;

/** The clients that have registered themselves (RFC 7591). */
export class RegisteredClients {
  private readonly parts: RegisteredParts;
  private readonly quota: Quota;
  /** When each client was last marked as used. */
  private readonly marked = new Map<string, number>();
  private last: Promise<unknown> = Promise.resolve();

  constructor(parts: RegisteredParts) {
    this.parts = parts;
    this.quota = new Quota(PER_ADDRESS, parts.clock);
  }

  /** The metadata of a client; undefined if there is none that can still be used. */
  async find(id: string): Promise<ClientMetadata | undefined> {
    if (!ID.test(id)) return undefined;
    const record = await this.parts.store.get(clientKey(id));
    if (record === undefined) return undefined;
    const { metadata, sealedSecret } = JSON.parse(record) as StoredClient;
    // a scheme may be allowed no longer
    if (redirectsMistake(metadata.redirect_uris, this.parts.schemes) !== undefined) return undefined;
    if (sealedSecret === undefined) return metadata;
    const secret = this.parts.sealer.open(secretPurpose(id), sealedSecret);
    return secret === undefined ? undefined : { ...metadata, client_secret: secret };
  }

  /**
   * Registers a client. Only successful registrations count for the limit of an address: what is refused takes no space.
   * @returns its metadata, with its secret if it has one
   * @throws {ClientError}
   */
  async register({ sent, from = '', accept }: RegistrationRequest): Promise<ClientMetadata> {
    const network = networkOf(from);
    const wait = this.quota.take(network);
    if (wait > 0) throw new ClientError('slow_down', 'Too many clients have registered from this address', wait);
    try {
      const metadata = this.create(sent);
      await accept(metadata);
      // one after the other, so that two of them can't evict the same client
      const stored = this.last.then(() => this.store(metadata));
      this.last = stored.catch(() => {});
      await stored;
      return metadata;
    } catch (error) {
      this.quota.giveBack(network);
      throw error;
    }
  }

  /**
   * Marks a client as used. Call it once a user has signed in, and when the client gets tokens: strangers must not be able
   * to protect their clients from eviction.
   */
  async used(id: string): Promise<void> {
    const now = this.parts.clock.now();
    if (!ID.test(id) || now < (this.marked.get(id) ?? Number.NEGATIVE_INFINITY) + HOUR_MS) return;
    this.mark(id, now);
    const { store } = this.parts;
    try {
      const before = await store.get(useKey(id));
      if (before === undefined) return;
      const use = { ...(JSON.parse(before) as StoredUse), usedAt: now } satisfies StoredUse;
      // if another process was faster, it has written the same
      await store.write([{ key: useKey(id), value: JSON.stringify(use), expected: before }]);
    } catch (error) {
      this.marked.delete(id);
      throw error;
    }
  }

  private create(sent: unknown): ClientMetadata {
    if (!isObject(sent)) throw new ClientError('invalid_client_metadata', 'The body must be a JSON object');
    const { schemes, clock } = this.parts;
    const methods = ['client_secret_basic', 'client_secret_post', 'none', 'private_key_jwt'] as const;
    const taken = takeMetadata(sent, { schemes, methods });
    const hasSecret = taken.token_endpoint_auth_method.startsWith('client_secret');
    return {
      client_id: randomBytes(16).toString('base64url'),
      client_id_issued_at: Math.floor(clock.now() / 1000),
      ...(hasSecret && { client_secret: randomBytes(32).toString('base64url'), client_secret_expires_at: 0 }),
      ...taken,
    };
  }

  private async store({ client_secret: secret, ...metadata }: ClientMetadata): Promise<void> {
    const { store, sealer, clock } = this.parts;
    const { client_id: id } = metadata;
    const evicted = await this.evictable();
    const sealedSecret = secret === undefined ? undefined : sealer.seal(secretPurpose(id), secret);
    const client: StoredClient = { metadata, ...(sealedSecret !== undefined && { sealedSecret }) };
    const use: StoredUse = { registeredAt: clock.now() };
    const removals = evicted.flatMap((each): Change[] => [
      { key: clientKey(each), value: undefined },
      { key: useKey(each), value: undefined },
    ]);
    await store.write([
      ...removals,
      { key: clientKey(id), value: JSON.stringify(client) },
      { key: useKey(id), value: JSON.stringify(use) },
    ]);
    for (const each of evicted) this.marked.delete(each);
  }

  /**
   * The clients that have to go: those that no user has signed in to, oldest first, then the ones unused for longest. A
   * client that was used within the hour never goes: its user would be interrupted, and would only register it again.
   */
  private async evictable(): Promise<readonly string[]> {
    const { store, clock } = this.parts;
    const records = await store.list('client-use');
    const excess = records.length + 1 - MAX_CLIENTS;
    if (excess <= 0) return [];
    const before = clock.now() - HOUR_MS;
    const idle = records
      .map(({ key, value }) => ({ id: key.slice(useKey('').length), ...(JSON.parse(value) as StoredUse) }))
      .filter(({ usedAt }) => usedAt === undefined || usedAt <= before)
      .sort((one, other) => (one.usedAt ?? 0) - (other.usedAt ?? 0) || one.registeredAt - other.registeredAt);
    if (idle.length >= excess) return idle.slice(0, excess).map(({ id }) => id);
    throw new ClientError('temporarily_unavailable', 'Too many clients are in use', HOUR_MS);
  }

  private mark(id: string, now: number): void {
    this.marked.delete(id);
    this.marked.set(id, now);
    for (const oldest of this.marked.keys()) {
      if (this.marked.size <= MAX_CLIENTS) break;
      this.marked.delete(oldest);
    }
  }
}

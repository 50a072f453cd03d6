import { Buffer } from 'node:buffer';
import { hkdfSync, randomBytes } from 'node:crypto';

import { KeyRing } from '@decorum/core/internal';
import { startupError } from '@decorum/core/plugin';

import type { AuthStore } from '../store/auth-store.js';

const MIN_SECRET_CHARS = 32;

const CREATE_ONE = 'Create one with `openssl rand -base64 32`';

/** The error for a secret that can't be used. */
export const invalidSecret = (problem: string) =>
  startupError('DECORUM_INVALID_OPTION', 'authorizationServer', 'DECORUM_SECRET', problem);

const missing = () => invalidSecret(`is missing in the environment. It seals the keys in the store. ${CREATE_ONE}`);

/** Seals text that is kept in a store: AES-256-GCM, with a key for each purpose (RFC 5869). */
export class Sealer {
  private readonly rings = new Map<string, KeyRing>();

  /** @param secrets the first one seals, and each opens */
  constructor(private readonly secrets: readonly string[]) {}

  /** @param purpose what the text is, such as `signing-keys`. Include the record's key to bind the text to its record */
  seal(purpose: string, text: string): string {
    return this.ringFor(purpose).seal(text, purpose);
  }

  /** The text; undefined if it was altered, or sealed for another purpose or with an unknown secret. */
  open(purpose: string, sealed: string): string | undefined {
    return this.ringFor(purpose).open(sealed, purpose);
  }

  /** Keys to sign something else with, such as cookies. The first one signs, and each verifies. */
  derive(purpose: string): readonly [string, ...string[]] {
    const keys = this.secrets.map((secret) => this.keyOf(secret, purpose).toString('base64url'));
    return keys as [string, ...string[]];
  }

  private keyOf(secret: string, purpose: string): Buffer {
    return Buffer.from(hkdfSync('sha256', secret, '', `decorum auth-server ${purpose}`, 32));
  }

  private ringFor(purpose: string): KeyRing {
    // what follows a colon is the record: its key would be used once
    const [group = ''] = purpose.split(':', 1);
    let ring = this.rings.get(group);
    if (ring === undefined) {
      const keys = this.secrets.map((secret) => this.keyOf(secret, group));
      ring = new KeyRing(keys, Number.POSITIVE_INFINITY, () => undefined);
      this.rings.set(group, ring);
    }
    return ring;
  }
}

/**
 * The sealer for a store, with the secrets in `DECORUM_SECRET`, which commas separate. Without them, a store that isn't
 * persistent gets a random secret.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` if the secrets are missing or too short
 */
export function sealerFor({ isPersistent }: AuthStore, env: Readonly<Record<string, string | undefined>>): Sealer {
  const text = env['DECORUM_SECRET'];
  if (text === undefined) {
    if (!isPersistent) return new Sealer([randomBytes(32).toString('base64')]);
    throw missing();
  }
  const secrets = text.split(',').map((secret) => secret.trim());
  const at = secrets.findIndex(({ length }) => length < MIN_SECRET_CHARS);
  if (at === -1) return new Sealer(secrets);
  const which = secrets.length === 1 ? '' : `has ${secrets.length} secrets, separated by commas, and number ${at + 1} `;
  throw invalidSecret(
    `${which}has ${secrets[at]?.length} characters, but needs at least ${MIN_SECRET_CHARS}. ${CREATE_ONE}`,
  );
}

/**
 * Rejects a random secret that `decorum dev` gives a program without one: nobody could open the store again.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` if the store is persistent
 */
export function requireLastingSecret(
  { isPersistent }: AuthStore,
  env: Readonly<Record<string, string | undefined>>,
): void {
  if (isPersistent && env['DECORUM_SECRET_IS_RANDOM'] !== undefined) throw missing();
}

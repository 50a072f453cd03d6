import { createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';

import { startupError } from '@decorum/core/plugin';

const MIN_CHARS = 32;

/** The variable that has the secrets of a server, which commas separate. */
const VARIABLE = 'DECORUM_SECRET';

/** What is derived from one secret. */
export interface AuditKey {
  /** The key of the chain. */
  readonly chain: KeyObject;
  /** The key of the digests of arguments and sessions. */
  readonly digests: KeyObject;
}

/** Derives a key for one purpose (RFC 5869), so a digest tells nothing about the chain. */
const derive = (secret: string, purpose: string): KeyObject =>
  createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', `decorum audit ${purpose}`, 32)));

const problem = (caller: string, option: string, text: string) =>
  startupError('DECORUM_INVALID_OPTION', caller, option, text);

/**
 * Reads the option `key`.
 * @param caller the function with the option, for errors
 * @returns the secrets; undefined without the option
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function requireSecrets(key: unknown, caller = 'audit'): readonly string[] | undefined {
  return key === undefined ? undefined : checked([key].flat(), { caller, option: 'key' });
}

/**
 * The secrets in the environment.
 * @param caller the function that needs them, for errors
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` if there are none, or one is too short
 */
export function secretsOfEnvironment(caller = 'audit'): readonly string[] {
  const text = process.env[VARIABLE];
  if (text !== undefined) {
    const secrets = text.split(',').map((secret) => secret.trim());
    return checked(secrets, { caller, option: VARIABLE });
  }
  const remedy = `Set ${VARIABLE} to at least ${MIN_CHARS} random characters, such as the output of \`openssl rand -base64 32\`, or pass \`key\``;
  throw problem(
    caller,
    'key',
    `is missing, and ${VARIABLE} is not set. ${remedy}. Keep it: the log is verified with it`,
  );
}

function checked(secrets: readonly unknown[], place: { readonly caller: string; readonly option: string }) {
  const wrong = (text: string) => problem(place.caller, place.option, text);
  if (secrets.length === 0) throw wrong('is an empty list. Pass at least one secret');
  const at = secrets.findIndex((each) => typeof each !== 'string' || each.length < MIN_CHARS);
  if (at === -1) return secrets as readonly string[];
  const which = secrets.length > 1 ? `has ${secrets.length} secrets, and number ${at + 1} ` : '';
  const bad = secrets[at];
  const found = typeof bad === 'string' ? `has only ${bad.length} characters` : 'is not a string';
  throw wrong(`${which}${found}. A secret needs at least ${MIN_CHARS} characters`);
}

/** The keys of secrets. The first one signs. */
export const keysOf = (secrets: readonly string[]): readonly AuditKey[] =>
  secrets.map((secret) => ({ chain: derive(secret, 'chain'), digests: derive(secret, 'digests') }));

/** A keyed digest (HMAC-SHA256, RFC 2104) of some data, in base64url. */
export function keyedDigest(key: KeyObject, ...data: readonly (string | Uint8Array)[]): string {
  const hmac = createHmac('sha256', key);
  for (const each of data) hmac.update(each);
  return hmac.digest('base64url');
}

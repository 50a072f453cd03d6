import { hkdfSync } from 'node:crypto';

import { invalidOption } from '@decorum/schema/internal';

import type { ClusterServer } from './kernel/cluster.js';
import { KeyRing, sha256 } from './kernel/key-ring.js';

const MIN_SECRET_CHARS = 32;

/** The options of a server that concern secrets. */
interface Secretive {
  readonly name: string;
  readonly secret?: string | readonly string[];
}

/** What the engine of a server gets from it. */
export function clusterServer(
  { name, secret = secretsOfEnvironment() }: Secretive,
  report: ClusterServer['report'],
): ClusterServer {
  const keys = [secret ?? []].flat().map((text) => derive(text, `cluster ${name}`));
  // what is sealed lives as long as the store keeps it
  const ring = new KeyRing(keys, Infinity, () => {});
  return { name, report, seal: ring.seal.bind(ring), open: ring.open.bind(ring) };
}

/**
 * Rejects secrets that are too short, and says which one of several.
 * @param isSplit whether they come from the environment variable, which may contain a comma by mistake
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function checkSecrets(secrets: readonly unknown[], isSplit: boolean): void {
  const source = isSplit ? 'DECORUM_SECRET' : 'secret';
  if (secrets.length === 0) throw invalidOption('McpServer', source, 'is an empty list. Pass at least one secret');
  const at = secrets.findIndex((each) => typeof each !== 'string' || each.length < MIN_SECRET_CHARS);
  if (at === -1) return;
  const bad = secrets[at];
  const found =
    typeof bad !== 'string' ? 'is not a string' : bad === '' ? 'is empty' : `has only ${bad.length} characters`;
  const several = isSplit
    ? `contains commas, which separate several secrets, and number ${at + 1} of these ${secrets.length} `
    : `is a list, and number ${at + 1} of its ${secrets.length} secrets `;
  const remedy = !isSplit
    ? ''
    : secrets.length > 1
      ? '. Remove the commas, or use a secret without commas'
      : bad === ''
        ? '. Set one, or unset the variable'
        : '';
  const problem = `${secrets.length > 1 ? several : ''}${found}`;
  const needed = `${problem}. A secret needs at least ${MIN_SECRET_CHARS} characters${remedy}`;
  throw invalidOption('McpServer', source, needed);
}

/** A blank variable isn't unset: a deployment meant to set it, and processes with random keys can't work together. */
export function secretsOfEnvironment(): readonly string[] | undefined {
  return process.env['DECORUM_SECRET']?.split(',').map((secret) => secret.trim());
}

/** Whether a server has a secret that outlives the process. */
export const hasSecret = ({ secret }: { readonly secret?: unknown }): boolean =>
  secret !== undefined || secretsOfEnvironment() !== undefined;

/** Derives a key for one purpose (RFC 5869). */
export function derive(secret: string, purpose: string): Uint8Array {
  // hash the purpose: it includes the server's name, which may exceed HKDF's limit for `info`
  return new Uint8Array(hkdfSync('sha256', secret, '', sha256(`decorum ${purpose}`), 32));
}

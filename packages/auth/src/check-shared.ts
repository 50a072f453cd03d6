import { Buffer } from 'node:buffer';

import { isObject, isScope } from '@decorum/core/internal';
import { type OptionTypes, requireOptions } from '@decorum/core/plugin';

import { OFFLINE_ACCESS } from './challenge.js';
import type { OptionChecks } from './check-values.js';
import type { ApiKey, OAuthOptions } from './options.js';
import { cycleIn, expansion, type Hierarchy } from './scopes.js';
import type { KnownApiKey, Settings } from './settings.js';

/** Maximum time before a token is verified again. */
const MAX_CACHE_MS = 60_000;

/** The options of `oauth` that don't depend on where the issuer is. */
export type SharedOptions<HostRequest = unknown> = Pick<
  OAuthOptions<HostRequest>,
  | 'scopes'
  | 'offer'
  | 'hierarchy'
  | 'apiKeys'
  | 'apiKeyHeader'
  | 'verify'
  | 'cacheMs'
  | 'toolSignIn'
  | 'onEvent'
  | 'reportGranted'
>;

/** The types of these options. The compiler reports an option that is missing here. */
export const SHARED_OPTIONS: OptionTypes<SharedOptions> = {
  scopes: 'array',
  offer: 'array',
  hierarchy: 'object',
  apiKeys: 'object',
  apiKeyHeader: 'string',
  verify: 'function',
  cacheMs: [0, MAX_CACHE_MS],
  toolSignIn: 'boolean',
  onEvent: 'function',
  reportGranted: 'boolean',
};

const HEADER_NAME = /^[\w!#$%&'+.^`|~-]+$/;

/**
 * Checks the shared options, whose types have been checked, and applies the defaults.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function resolveShared<HostRequest>(
  options: SharedOptions<HostRequest>,
  { issuers, resource }: Pick<Settings<HostRequest>, 'issuers' | 'resource'>,
  checks: OptionChecks,
): Settings<HostRequest> {
  const { verify, cacheMs = MAX_CACHE_MS, toolSignIn = false, scopes = [], offer = [], hierarchy = {} } = options;
  for (const [option, listed] of Object.entries({ scopes, offer })) {
    checks.requireScopes(option, listed);
    if (!listed.includes(OFFLINE_ACCESS)) continue;
    throw checks.invalid(option, `contains "${OFFLINE_ACCESS}", which no request needs. Clients ask for it themselves`);
  }
  requireShortNames({ scopes, offer }, issuers, checks);
  return {
    issuers,
    resource,
    scopes: [...new Set(scopes)],
    offer: [...new Set(offer)].filter((scope) => !scopes.includes(scope)),
    named: [...scopes, ...offer, ...Object.entries(hierarchy).flat(2)],
    apiKeys: resolveApiKeys(options.apiKeys, checks),
    apiKeyHeader: resolveHeader(options, checks),
    cacheMs,
    toolSignIn,
    verify,
    expand: expansion(requireHierarchy(hierarchy, checks)),
  };
}

/** Rejects scopes with the prefix of an issuer: its tokens contain them without it, so every token would lack them. */
function requireShortNames(
  listed: Readonly<Record<string, readonly string[]>>,
  issuers: Settings<never>['issuers'],
  checks: OptionChecks,
): void {
  for (const [option, scopes] of Object.entries(listed)) {
    for (const { issuer, scopePrefix } of issuers.values()) {
      const long = scopePrefix === '' ? undefined : scopes.find((scope) => scope.startsWith(scopePrefix));
      if (long === undefined) continue;
      const short = long.slice(scopePrefix.length);
      throw checks.invalid(option, `contains "${long}", but tokens of ${issuer} contain "${short}". Write "${short}"`);
    }
  }
}

function requireHierarchy(hierarchy: Hierarchy, checks: OptionChecks): Hierarchy {
  for (const [scope, implied] of Object.entries(hierarchy)) {
    if (!isScope(scope)) throw checks.invalid('hierarchy', `contains "${scope}", which is not a scope`);
    checks.requireScopes(`hierarchy.${scope}`, implied);
  }
  const cycle = cycleIn(hierarchy);
  if (cycle === undefined) return hierarchy;
  throw checks.invalid('hierarchy', `is a cycle: ${cycle.join(' → ')}. Remove one of these steps`);
}

function resolveHeader({ apiKeyHeader, apiKeys }: SharedOptions<never>, checks: OptionChecks): string | undefined {
  if (apiKeyHeader === undefined) return undefined;
  if (apiKeys === undefined)
    throw checks.invalid('apiKeyHeader', 'has no effect without `apiKeys`. Pass `apiKeys` too');
  const name = apiKeyHeader.toLowerCase();
  if (!HEADER_NAME.test(name)) throw checks.invalid('apiKeyHeader', `is "${apiKeyHeader}", but must be a header name`);
  if (name === 'authorization' || name === 'cookie') {
    throw checks.invalid(
      'apiKeyHeader',
      `must not be "${name}". Leave it out: keys are then sent as \`Authorization: Bearer\``,
    );
  }
  return name;
}

function resolveApiKeys(apiKeys: Readonly<Record<string, ApiKey>> = {}, checks: OptionChecks): readonly KnownApiKey[] {
  const known = Object.entries(apiKeys).map(([name, key]) => resolveApiKey(name, key, checks));
  const digests = new Map<string, string>();
  for (const { name, digest } of known) {
    const hex = Buffer.from(digest).toString('hex');
    const other = digests.get(hex);
    if (other !== undefined)
      throw checks.invalid(`apiKeys.${name}`, `has the same digest as \`${other}\`. Use different keys`);
    digests.set(hex, name);
  }
  return known;
}

/** SHA-256 of an empty key: a script computes it if its variable with the key is empty. */
const DIGEST_OF_NOTHING = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

function resolveApiKey(name: string, key: ApiKey, checks: OptionChecks): KnownApiKey {
  const option = `apiKeys.${name}`;
  if (name === '') throw checks.invalid('apiKeys', 'has an empty name. Name each key after who holds it');
  if (!isObject(key)) throw checks.invalid(option, 'must be an object with `sha256` and `scopes`');
  requireOptions(`${checks.where}.${option}`, key, { sha256: 'string', scopes: 'array' } satisfies OptionTypes<ApiKey>);
  const { sha256, scopes = [] } = key;
  const digest = checks.requireText(`${option}.sha256`, sha256).toLowerCase();
  if (!/^[0-9a-f]{64}$/.test(digest)) {
    throw checks.invalid(
      `${option}.sha256`,
      "must be the SHA-256 of the key as 64 hexadecimal digits, not the key. Run `printf %s 'the key' | sha256sum`",
    );
  }
  if (digest === DIGEST_OF_NOTHING)
    throw checks.invalid(`${option}.sha256`, 'is the digest of an empty key. Choose a key');
  checks.requireScopes(`${option}.scopes`, scopes);
  return { name, digest: Buffer.from(digest, 'hex'), scopes };
}

import { Buffer } from 'node:buffer';

import { isObject, isScope } from '@decorum/core/internal';
import { type OptionTypes, requireOptions } from '@decorum/core/plugin';

import { OFFLINE_ACCESS } from './challenge.js';
import type { Platform } from './fetch-json.js';
import { invalid, requireScopes, requireText } from './check-values.js';
import { resolveIssuers } from './issuers.js';
import type { ApiKey, OAuthOptions } from './options.js';
import { cycleIn, expansion, type Hierarchy } from './scopes.js';
import type { KnownApiKey, Settings } from './settings.js';
import { canonicalResource, isWebUrl, issuerUrlMistake } from './urls.js';

/** Maximum time before a token is verified again. */
const MAX_CACHE_MS = 60_000;

/** Maximum tolerance for clocks: for as long, tokens are still accepted after they have expired. */
const MAX_TOLERANCE_MS = 300_000;

/** The types of all options. The compiler reports an option that is missing here. */
const OPTIONS: OptionTypes<OAuthOptions> = {
  issuer: true,
  audience: 'string',
  resource: 'string',
  scopes: 'array',
  offer: 'array',
  hierarchy: 'object',
  allowLoopbackHttp: 'boolean',
  apiKeys: 'object',
  apiKeyHeader: 'string',
  verify: 'function',
  cacheMs: [0, MAX_CACHE_MS],
  clockToleranceMs: [0, MAX_TOLERANCE_MS],
  toolSignIn: 'boolean',
  legacyEndpoints: 'boolean',
  onEvent: 'function',
  reportGranted: 'boolean',
};

const HEADER_NAME = /^[\w!#$%&'+.^`|~-]+$/;

/**
 * Checks the options and applies the defaults.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function resolveOptions<HostRequest>(
  options: OAuthOptions<HostRequest>,
  platform: Platform,
): Settings<HostRequest> {
  requireOptions('oauth', options, OPTIONS);
  const { verify, cacheMs = MAX_CACHE_MS, legacyEndpoints = false, scopes = [], hierarchy = {} } = options;
  const issuers = resolveIssuers(options, platform);
  const apiKeys = resolveApiKeys(options.apiKeys);
  if (issuers.size === 0) requireNothingOfIssuers(options);
  if (issuers.size === 0 && apiKeys.length === 0 && verify === undefined) {
    throw invalid('issuer', 'is missing. Pass the URL of your authorization server, or `apiKeys`, or `verify`');
  }
  const { offer = [] } = options;
  for (const [option, listed] of Object.entries({ scopes, offer })) {
    requireScopes(option, listed);
    if (!listed.includes(OFFLINE_ACCESS)) continue;
    throw invalid(option, `contains "${OFFLINE_ACCESS}", which no request needs. Clients ask for it themselves`);
  }
  requireShortNames({ scopes, offer }, issuers);
  return {
    issuers,
    resource: issuers.size === 0 ? undefined : resolveResource(options),
    scopes: [...new Set(scopes)],
    offer: [...new Set(offer)].filter((scope) => !scopes.includes(scope)),
    named: [...scopes, ...offer, ...Object.entries(hierarchy).flat(2)],
    apiKeys,
    apiKeyHeader: resolveHeader(options),
    cacheMs,
    legacyEndpoints,
    verify,
    expand: expansion(requireHierarchy(hierarchy)),
  };
}

/** Rejects scopes with the prefix of an issuer: its tokens contain them without it, so every token would lack them. */
function requireShortNames(
  listed: Readonly<Record<string, readonly string[]>>,
  issuers: Settings<never>['issuers'],
): void {
  for (const [option, scopes] of Object.entries(listed)) {
    for (const { issuer, scopePrefix } of issuers.values()) {
      const long = scopePrefix === '' ? undefined : scopes.find((scope) => scope.startsWith(scopePrefix));
      if (long === undefined) continue;
      const short = long.slice(scopePrefix.length);
      throw invalid(option, `contains "${long}", but tokens of ${issuer} contain "${short}". Write "${short}"`);
    }
  }
}

function requireNothingOfIssuers(options: OAuthOptions<never>): void {
  for (const option of [
    'audience',
    'resource',
    'offer',
    'toolSignIn',
    'legacyEndpoints',
    'cacheMs',
    'clockToleranceMs',
  ] as const) {
    if (options[option] !== undefined) throw invalid(option, 'has no effect without `issuer`. Pass `issuer` too');
  }
}

function resolveResource({ audience = '', resource, allowLoopbackHttp = false }: OAuthOptions<never>): string {
  if (resource === undefined && !isWebUrl(audience)) {
    throw invalid(
      'resource',
      `is missing, and \`audience\` is no URL. Pass the URL of the MCP endpoint as clients see it`,
    );
  }
  const option = resource === undefined ? 'audience' : 'resource';
  const url = resource ?? audience;
  const mistake = issuerUrlMistake(url, allowLoopbackHttp);
  if (mistake !== undefined) throw invalid(option, `is "${url}", but ${mistake}`);
  if (url.includes('?')) throw invalid(option, `is "${url}", but must not have a query`);
  const { href } = new URL(url);
  if (canonicalResource(url) === canonicalResource(href)) return url;
  throw invalid(option, `is "${url}", but clients would send "${href}". Write that`);
}

function requireHierarchy(hierarchy: Hierarchy): Hierarchy {
  for (const [scope, implied] of Object.entries(hierarchy)) {
    if (!isScope(scope)) throw invalid('hierarchy', `contains "${scope}", which is not a scope`);
    requireScopes(`hierarchy.${scope}`, implied);
  }
  const cycle = cycleIn(hierarchy);
  if (cycle === undefined) return hierarchy;
  throw invalid('hierarchy', `is a cycle: ${cycle.join(' → ')}. Remove one of these steps`);
}

function resolveHeader({ apiKeyHeader, apiKeys }: OAuthOptions<never>): string | undefined {
  if (apiKeyHeader === undefined) return undefined;
  if (apiKeys === undefined) throw invalid('apiKeyHeader', 'has no effect without `apiKeys`. Pass `apiKeys` too');
  const name = apiKeyHeader.toLowerCase();
  if (!HEADER_NAME.test(name)) throw invalid('apiKeyHeader', `is "${apiKeyHeader}", but must be a header name`);
  if (name === 'authorization' || name === 'cookie') {
    throw invalid(
      'apiKeyHeader',
      `must not be "${name}". Leave it out: keys are then sent as \`Authorization: Bearer\``,
    );
  }
  return name;
}

function resolveApiKeys(apiKeys: Readonly<Record<string, ApiKey>> = {}): readonly KnownApiKey[] {
  const known = Object.entries(apiKeys).map(([name, key]) => resolveApiKey(name, key));
  const digests = new Map<string, string>();
  for (const { name, digest } of known) {
    const hex = Buffer.from(digest).toString('hex');
    const other = digests.get(hex);
    if (other !== undefined)
      throw invalid(`apiKeys.${name}`, `has the same digest as \`${other}\`. Use different keys`);
    digests.set(hex, name);
  }
  return known;
}

/** SHA-256 of an empty key: a script computes it if its variable with the key is empty. */
const DIGEST_OF_NOTHING = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

function resolveApiKey(name: string, key: ApiKey): KnownApiKey {
  const option = `apiKeys.${name}`;
  if (name === '') throw invalid('apiKeys', 'has an empty name. Name each key after who holds it');
  if (!isObject(key)) throw invalid(option, 'must be an object with `sha256` and `scopes`');
  requireOptions(`oauth.${option}`, key, { sha256: 'string', scopes: 'array' } satisfies OptionTypes<ApiKey>);
  const { sha256, scopes = [] } = key;
  const digest = requireText(`${option}.sha256`, sha256).toLowerCase();
  if (!/^[0-9a-f]{64}$/.test(digest)) {
    throw invalid(
      `${option}.sha256`,
      "must be the SHA-256 of the key as 64 hexadecimal digits, not the key. Run `printf %s 'the key' | sha256sum`",
    );
  }
  if (digest === DIGEST_OF_NOTHING) throw invalid(`${option}.sha256`, 'is the digest of an empty key. Choose a key');
  requireScopes(`${option}.scopes`, scopes);
  return { name, digest: Buffer.from(digest, 'hex'), scopes };
}

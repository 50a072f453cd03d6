import { isObject, isScope } from '@decorum/core/internal';
import { type OptionTypes, requireOptions } from '@decorum/core/plugin';

import { ClientCredentials } from './client-credentials.js';
import { OptionChecks } from './check-values.js';
import { Discovery } from './discovery.js';
import type { Platform } from './fetch-json.js';
import { DEFAULT_KEPT_MS } from './introspection.js';
import { KeySet } from './key-set.js';
import type { IntrospectionOptions, IssuerOptions, OAuthOptions } from './options.js';
import type { ClientSettings, IntrospectionSettings, IssuerSettings } from './settings.js';
import { canonicalResource } from './urls.js';

const ISSUER_OPTIONS: OptionTypes<IssuerOptions> = {
  issuer: true,
  audience: 'string',
  tokenTypes: 'array',
  claims: 'object',
  scopeClaims: 'array',
  scopePrefix: 'string',
  withoutAudience: 'boolean',
  clientId: true,
  clientSecret: true,
  exchange: true,
  introspection: {
    clientId: true,
    clientSecret: true,
    cacheMs: [0, DEFAULT_KEPT_MS * 10],
  } satisfies OptionTypes<IntrospectionOptions>,
};

/** Tolerated difference between the clocks of an issuer and this server by default. */
const TOLERANCE_MS = 5000;

const ENTRA = /^https:\/\/(?:login\.microsoftonline\.com|sts\.windows\.net)\//;

const SCOPE_CLAIMS = ['scope', 'scp'];

const checks = new OptionChecks('oauth');

/**
 * Checks the `issuer` option.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function resolveIssuers(options: OAuthOptions<never>, platform: Platform): ReadonlyMap<string, IssuerSettings> {
  const { issuer: given } = options;
  const list: readonly unknown[] = given === undefined ? [] : Array.isArray(given) ? given : [given];
  if (given !== undefined && list.length === 0) throw checks.invalid('issuer', 'is empty. List at least one issuer');
  const issuers = new Map<string, IssuerSettings>();
  for (const [index, each] of list.entries()) {
    const where = Array.isArray(given) ? `issuer[${index}]` : 'issuer';
    const settings = resolveIssuer(where, each, { options, platform });
    if (issuers.has(settings.issuer))
      throw checks.invalid(where, `repeats "${settings.issuer}". List each issuer once`);
    issuers.set(settings.issuer, settings);
  }
  return issuers;
}

interface Surroundings {
  readonly options: OAuthOptions<never>;
  readonly platform: Platform;
}

function resolveIssuer(where: string, given: unknown, { options, platform }: Surroundings): IssuerSettings {
  const isBare = !isObject(given);
  const own = (isBare ? { issuer: given } : given) as unknown as IssuerOptions;
  if (!isBare) requireOptions(`oauth.${where}`, own, ISSUER_OPTIONS);
  const { allowLoopbackHttp = false, clockToleranceMs = TOLERANCE_MS } = options;
  const issuer = checks.requireIssuer(isBare ? where : `${where}.issuer`, own.issuer, allowLoopbackHttp);
  const { tokenTypes = [], scopeClaims = SCOPE_CLAIMS, claims = {}, withoutAudience = false, introspection } = own;
  const audience = checks.requireText(
    own.audience === undefined ? 'audience' : `${where}.audience`,
    own.audience ?? options.audience,
  );
  requireClaims(`${where}.claims`, claims);
  const { scopePrefix = '' } = own;
  // without its prefix, Entra would refuse each scope as unknown
  if (scopePrefix === '' && ENTRA.test(issuer) && own.exchange === 'on-behalf-of') {
    throw checks.invalid(`${where}.scopePrefix`, 'is missing. Pass `applicationIdUri` to `entra`');
  }
  if (scopePrefix !== '' && !isScope(scopePrefix)) {
    throw checks.invalid(
      `${where}.scopePrefix`,
      `is "${scopePrefix}", which no scope can begin with (RFC 6749, section 3.3)`,
    );
  }
  if (withoutAudience && !Array.isArray(claims['client_id'])) {
    throw checks.invalid(
      `${where}.withoutAudience`,
      'accepts the tokens of all clients. List yours: `claims: { client_id: […] }`',
    );
  }
  const discovery = new Discovery(issuer, allowLoopbackHttp, platform);
  return {
    issuer,
    audience: canonicalResource(audience),
    withoutAudience,
    tokenTypes: new Set(checks.requireTexts(`${where}.tokenTypes`, tokenTypes).map(mediaType)),
    claims,
    scopeClaims: checks.requireTexts(`${where}.scopeClaims`, scopeClaims),
    scopePrefix,
    clockToleranceMs,
    introspection: introspection && { ...resolveIntrospection(`${where}.introspection`, introspection), discovery },
    client: resolveClient(where, own, discovery),
    discovery,
    keys: new KeySet(discovery, platform),
    grants: undefined,
  };
}

function resolveIntrospection(where: string, options: IntrospectionOptions): Omit<IntrospectionSettings, 'discovery'> {
  const { clientId, clientSecret, cacheMs = DEFAULT_KEPT_MS } = options;
  return { credentials: requireCredentials(where, clientId, clientSecret), keptMs: cacheMs };
}

function requireCredentials(where: string, clientId: unknown, clientSecret: unknown): ClientCredentials {
  const id = checks.requireText(`${where}.clientId`, clientId);
  return new ClientCredentials(id, checks.requireText(`${where}.clientSecret`, clientSecret));
}

const EXCHANGES: readonly unknown[] = ['token-exchange', 'on-behalf-of'] satisfies ClientSettings['exchange'][];

function resolveClient(where: string, own: IssuerOptions, discovery: Discovery): ClientSettings | undefined {
  const { clientId, clientSecret, exchange = 'token-exchange' } = own;
  if (!EXCHANGES.includes(exchange)) {
    const given = JSON.stringify(exchange);
    throw checks.invalid(`${where}.exchange`, `is ${given}, but must be 'token-exchange' or 'on-behalf-of'`);
  }
  // a variable that is not set is a mistake, but an option that is left out is not
  if (!('clientId' in own) && !('clientSecret' in own)) return undefined;
  return { credentials: requireCredentials(where, clientId, clientSecret), exchange, discovery };
}

const mediaType = (type: string): string => type.toLowerCase().replace(/^application\//, '');

function requireClaims(option: string, claims: Readonly<Record<string, unknown>>): void {
  for (const [name, values] of Object.entries(claims)) {
    if (values === true) continue;
    if (checks.requireTexts(`${option}.${name}`, values).length === 0) {
      throw checks.invalid(
        `${option}.${name}`,
        'is empty, so no token could be accepted. List at least one value, or write true',
      );
    }
  }
}

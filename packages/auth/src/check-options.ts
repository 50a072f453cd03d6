import { type OptionTypes, requireOptions } from '@decorum/core/plugin';

import { resolveShared, SHARED_OPTIONS } from './check-shared.js';
import { OptionChecks } from './check-values.js';
import type { Platform } from './fetch-json.js';
import { resolveIssuers } from './issuers.js';
import type { OAuthOptions } from './options.js';
import type { Settings } from './settings.js';
import { isWebUrl } from './urls.js';

/** Maximum tolerance for clocks: for as long, tokens are still accepted after they have expired. */
const MAX_TOLERANCE_MS = 300_000;

/** The types of all options. The compiler reports an option that is missing here. */
const OPTIONS: OptionTypes<OAuthOptions> = {
  issuer: true,
  audience: 'string',
  resource: 'string',
  ...SHARED_OPTIONS,
  allowLoopbackHttp: 'boolean',
  clockToleranceMs: [0, MAX_TOLERANCE_MS],
  legacyEndpoints: 'boolean',
};

const checks = new OptionChecks('oauth');

/**
 * Checks the options and applies the defaults.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function resolveOptions<HostRequest>(
  options: OAuthOptions<HostRequest>,
  platform: Platform,
): Settings<HostRequest> {
  requireOptions('oauth', options, OPTIONS);
  const { apiKeys = {}, verify } = options;
  const issuers = resolveIssuers(options, platform);
  if (issuers.size === 0) requireNothingOfIssuers(options);
  if (issuers.size === 0 && Object.keys(apiKeys).length === 0 && verify === undefined) {
    throw checks.invalid('issuer', 'is missing. Pass the URL of your authorization server, or `apiKeys`, or `verify`');
  }
  const resource = issuers.size === 0 ? undefined : resolveResource(options);
  return resolveShared(options, { issuers, resource }, checks);
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
    if (options[option] !== undefined)
      throw checks.invalid(option, 'has no effect without `issuer`. Pass `issuer` too');
  }
}

function resolveResource({ audience = '', resource, allowLoopbackHttp = false }: OAuthOptions<never>): string {
  if (resource === undefined && !isWebUrl(audience)) {
    throw checks.invalid(
      'resource',
      `is missing, and \`audience\` is no URL. Pass the URL of the MCP endpoint as clients see it`,
    );
  }
  return checks.requireResource(
    resource === undefined ? 'audience' : 'resource',
    resource ?? audience,
    allowLoopbackHttp,
  );
}

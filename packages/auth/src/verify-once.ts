import type { Principal } from '@decorum/core';
import { startupError } from '@decorum/core/plugin';

import { credentialsOf } from './credentials.js';
import { isRefused, remedyFor } from './reasons.js';
import type { Settings } from './settings.js';
import type { Verifier } from './verifier.js';

/** What verifies the token. */
export interface OnceParts<HostRequest> {
  readonly settings: Settings<HostRequest>;
  readonly verifier: Verifier<HostRequest>;
}

/**
 * Verifies a token once, for transports that have one caller.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` if the token is missing or refused, or lacks a required scope
 */
export async function verifyOnce<HostRequest>(
  token: string | undefined,
  { settings, verifier }: OnceParts<HostRequest>,
): Promise<Principal> {
  const invalid = (problem: string) => startupError('DECORUM_INVALID_OPTION', 'principalOf', 'token', problem);
  if (typeof token !== 'string' || token === '') {
    throw invalid('is missing. Pass an access token or an API key, for example from an environment variable');
  }
  const isApiKey = settings.apiKeyHeader !== undefined && settings.apiKeys.length > 0;
  const direct = { method: '', url: '', headers: {}, authorizations: [`Bearer ${token}`] };
  const credentials = credentialsOf(direct, undefined) as Exclude<ReturnType<typeof credentialsOf>, undefined>;
  let found = isRefused(credentials) ? credentials : await verifier.verify(credentials, undefined);
  if (isRefused(found) && isApiKey) {
    const holder = await verifier.verify({ text: token, isApiKey }, undefined);
    found = isRefused(holder) ? found : holder;
  }
  if (isRefused(found)) {
    const wanted = found.expected === undefined ? '' : `; expected ${found.expected}`;
    throw invalid(
      `is refused: ${found.found ?? found.reason}${wanted}. ${remedyFor(found, settings.remedies).replace(/\.$/, '')}`,
    );
  }
  const granted = Array.isArray(found.scopes) ? found.scopes : [];
  const missing = settings.scopes.find((scope) => !granted.includes(scope));
  if (missing === undefined) return found;
  throw invalid(`lacks the scope "${missing}", which every request needs. Get a token that has it`);
}

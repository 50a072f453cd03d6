import { SHARED_OPTIONS } from '@decorum/auth/internal';
import { OptionChecks } from '@decorum/auth/internal';
import { isObject, isScope } from '@decorum/core/internal';
import { type OptionTypes, requireOptions } from '@decorum/core/plugin';

import type { AuthorizationServerOptions } from './options.js';

const OPTIONS: OptionTypes<AuthorizationServerOptions> = {
  ...SHARED_OPTIONS,
  resource: true,
  issuer: true,
  consent: 'object',
  users: 'object',
  login: 'function',
  store: 'object',
  clients: 'array',
  registration: 'boolean',
  redirectSchemes: 'array',
  remember: [1, 365],
  texts: 'object',
  allowLoopbackHttp: 'boolean',
  trustProxy: 'boolean',
};

/** Names the function in the messages about its options. */
export const CHECKS = new OptionChecks('authorizationServer');

/** Where an authorization server is. */
export interface Place {
  readonly resource: string;
  readonly issuer: string;
}

/**
 * Checks the options that don't belong to one part.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function checkOptions(options: AuthorizationServerOptions<never>): Place {
  requireOptions('authorizationServer', options, OPTIONS);
  const { allowLoopbackHttp = false, scopes = [], offer = [], consent, users, login } = options;
  const resource = CHECKS.requireResource('resource', options.resource, allowLoopbackHttp);
  const { origin } = new URL(resource);
  const issuer =
    options.issuer === undefined ? origin : CHECKS.requireIssuer('issuer', options.issuer, allowLoopbackHttp);
  if (new URL(issuer).origin !== origin) {
    throw CHECKS.invalid('issuer', `is "${issuer}", but this server is at ${origin}. Use a URL of that origin`);
  }
  requireWords(consent);
  for (const [option, listed] of Object.entries({ scopes, offer })) {
    const silent = listed.find((scope) => !Object.hasOwn(consent, scope));
    if (silent === undefined) continue;
    throw CHECKS.invalid(
      option,
      `contains "${silent}", which \`consent\` doesn't explain. Add it there, in words for users`,
    );
  }
  if ((users === undefined) === (login === undefined)) {
    const problem = users === undefined ? 'is missing, and so is `login`' : "can't be combined with `login`";
    throw CHECKS.invalid('users', `${problem}. Pass one of them, such as \`usersFile('users.json')\``);
  }
  return { resource, issuer };
}

function requireWords(consent: unknown): void {
  const entries = isObject(consent) ? Object.entries(consent) : [];
  if (entries.length === 0) {
    throw CHECKS.invalid('consent', "is missing. List every scope in words: `consent: { mcp: 'Use this server' }`");
  }
  for (const [scope, words] of entries) {
    if (!isScope(scope))
      throw CHECKS.invalid('consent', `contains "${scope}", which is not a scope (RFC 6749, section 3.3)`);
    if (typeof words !== 'string' || words.trim() === '') {
      throw CHECKS.invalid(`consent.${scope}`, 'is empty. Say in words what a client may do with it');
    }
  }
}

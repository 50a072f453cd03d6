import { OptionChecks, SHARED_OPTIONS } from '@decorum/auth/internal';
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
  upstream: true,
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

/** A path that is the same in URLs, in cookies, and in the routes of each web framework. */
const PATH = /^(?:\/[\w-][\w.-]*)*\/?$/;

/**
 * Checks the options that don't belong to one part.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function checkOptions(options: AuthorizationServerOptions<never>): Place {
  requireOptions('authorizationServer', options, OPTIONS);
  const { allowLoopbackHttp = false, scopes = [], offer = [], consent, users, login, upstream } = options;
  const resource = CHECKS.requireResource('resource', options.resource, allowLoopbackHttp);
  const { origin } = new URL(resource);
  const issuer =
    options.issuer === undefined ? origin : CHECKS.requireIssuer('issuer', options.issuer, allowLoopbackHttp);
  if (new URL(issuer).origin !== origin) {
    throw CHECKS.invalid('issuer', `is "${issuer}", but this server is at ${origin}. Use a URL of that origin`);
  }
  if (!issuer.startsWith(origin) || !PATH.test(issuer.slice(origin.length))) {
    const problem = `must be "${origin}", maybe with a path of letters, digits, "-", "." and "_"`;
    throw CHECKS.invalid('issuer', `is "${issuer}", but ${problem}`);
  }
  requireWords(consent);
  const ofClients = (options.clients ?? []).map(
    (client, index) => [`clients[${index}].scopes`, client?.scopes ?? []] as const,
  );
  for (const [option, listed] of [['scopes', scopes] as const, ['offer', offer] as const, ...ofClients]) {
    CHECKS.requireScopes(option, listed);
    const silent = listed.find((scope) => !Object.hasOwn(consent, scope));
    if (silent === undefined) continue;
    throw CHECKS.invalid(
      option,
      `contains "${silent}", which \`consent\` doesn't explain. Add it there, in words for users`,
    );
  }
  const ways = Object.entries({ users, login, upstream }).filter(([, way]) => way !== undefined);
  if (ways.length !== 1) {
    const [first, second] = ways.map(([way]) => way);
    const problem =
      first === undefined ? 'is missing, and so are `login` and `upstream`' : `can't be combined with \`${first}\``;
    throw CHECKS.invalid(second ?? 'users', `${problem}. Pass one of them, such as \`usersFile('users.json')\``);
  }
  requireMethods('users', users, ['verify', 'find']);
  requireMethods('store', options.store, ['open', 'get', 'list', 'write', 'close']);
  return { resource, issuer };
}

function requireMethods(option: string, value: object | undefined, names: readonly string[]): void {
  const missing = names.find((name) => value && typeof Reflect.get(value, name) !== 'function');
  if (missing === undefined) return;
  throw CHECKS.invalid(option, `has no method \`${missing}\`. Pass an object with ${names.join(', ')}`);
}

function requireWords(consent: unknown): void {
  const entries = isObject(consent) ? Object.entries(consent) : [];
  if (entries.length === 0) {
    throw CHECKS.invalid('consent', "is missing. List every scope in words: `consent: { mcp: 'Use this server' }`");
  }
  for (const [scope, words] of entries) {
    if (!isScope(scope))
      throw CHECKS.invalid('consent', `contains "${scope}", which is not a scope (RFC 6749, section 3.3)`);
    if (scope === 'openid' || scope === 'offline_access') {
      throw CHECKS.invalid('consent', `contains "${scope}", which is not a scope of this server. Leave it out`);
    }
    if (typeof words !== 'string' || words.trim() === '') {
      throw CHECKS.invalid(`consent.${scope}`, 'is empty. Say in words what a client may do with it');
    }
  }
}

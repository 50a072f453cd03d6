import { CommandFailure, EXIT } from './failure.js';

/** Where the users of a project sign in, besides the URL of an issuer. */
export const ISSUERS = {
  embedded: 'in this server, which has its own users',
  own: 'at an authorization server of yours, such as Keycloak',
} as const;

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

function isUsable(issuer: string): boolean {
  if (!URL.canParse(issuer)) return false;
  const { protocol, hostname } = new URL(issuer);
  return protocol === 'https:' || (protocol === 'http:' && LOOPBACK.has(hostname));
}

/**
 * Checks where users sign in, as given by the user.
 * @throws {CommandFailure} with `EXIT.usage`
 */
export function requireIssuer(issuer: string): string {
  if (Object.hasOwn(ISSUERS, issuer) || isUsable(issuer)) return issuer;
  const names = Object.keys(ISSUERS).join(', ');
  throw new CommandFailure(`--issuer is "${issuer}". Pass ${names}, or the https URL of your issuer.`, EXIT.usage);
}

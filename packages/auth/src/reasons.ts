import { ALGORITHM_NAMES } from './issuer-key.js';

/** How the server responds: with 400, 401 without an error, 401 with an error, or 503. */
export type Answer = 'malformed' | 'no-token' | 'invalid-token' | 'unavailable';

/** The reasons to refuse credentials, with the response and the operator's remedy. Clients never learn the reason. */
const REASONS = {
  'several-credentials': ['malformed', 'Clients must send one token, in one header.'],
  'other-scheme': ['no-token', 'Clients must send `Authorization: Bearer …`.'],
  malformed: ['invalid-token', 'Clients must send a token as they got it.'],
  unrecognized: ['invalid-token', 'To accept it, pass `introspection` for its issuer, `apiKeys` or `verify`.'],
  issuer: ['invalid-token', 'To accept it, add its issuer to `issuer`, byte for byte.'],
  algorithm: ['invalid-token', `Have the issuer sign with one of ${ALGORITHM_NAMES}.`],
  critical: ['invalid-token', 'Have the issuer send no `crit` header.'],
  'token-type': ['invalid-token', 'If it is an access token of this issuer, allow it by `tokenTypes`.'],
  'id-token': ['invalid-token', 'Clients must send an access token, not an ID token or a logout token.'],
  audience: ['invalid-token', 'Have clients ask for a token for this server (`resource`), or correct `audience`.'],
  expiry: ['invalid-token', 'Have the issuer set `exp`, a number of seconds.'],
  expired: [
    'invalid-token',
    'Clients must get a new token. If they have one, compare the clocks, or raise `clockToleranceMs`.',
  ],
  'not-yet-valid': ['invalid-token', 'Compare the clocks of the issuer and this server, or raise `clockToleranceMs`.'],
  subject: ['invalid-token', 'Have the issuer set `sub`.'],
  claims: ['invalid-token', 'It lacks a value that `claims` of its issuer asks for.'],
  'sender-constrained': ['invalid-token', 'It is bound to a key (`cnf`), so it must not be used as a bearer token.'],
  key: ['invalid-token', 'Its key is not among those of its issuer. They are fetched at most every 5 seconds.'],
  signature: ['invalid-token', 'It was changed, or it is not from its issuer.'],
  inactive: ['invalid-token', 'Its issuer says that it is not valid, or not for this server.'],
  revoked: ['invalid-token', 'Its grant was revoked or has ended. The user must sign in again.'],
  'api-key': ['invalid-token', 'No entry of `apiKeys` has its digest.'],
  verify: ['invalid-token', '`verify` does not accept it.'],
  'issuer-unavailable': ['unavailable', 'The keys of the issuer could not be fetched.'],
  'introspection-failed': ['unavailable', 'The introspection endpoint of the issuer did not answer as expected.'],
  'grants-unavailable': ['unavailable', 'The store of grants could not be read.'],
  busy: ['unavailable', 'Too many tokens wait for the answer of an introspection endpoint.'],
} as const satisfies Record<string, readonly [answer: Answer, remedy: string]>;

/** Why credentials are refused. */
export type RefusalReason = keyof typeof REASONS;

/** Credentials that are refused, and why. Only the operator learns why. */
export interface Refused {
  readonly reason: RefusalReason;
  /** What was found, for the log. It may quote the token's header or claims, so it is escaped before it is shown. */
  readonly found?: string | undefined;
  /** What this server expects in its place. */
  readonly expected?: string | undefined;
  /** What the operator can do, if more is known than the reason. */
  readonly remedy?: string | undefined;
}

/** Whether credentials were refused. A principal from the application may have a `reason` too. */
export const isRefused = (result: object): result is Refused =>
  (result as Partial<Refused>).reason !== undefined && !('subject' in result);

/** How the server responds to refused credentials. */
export const answerTo = ({ reason }: Refused): Answer => REASONS[reason][0];

/** Remedies by reason, where they differ from those of `oauth`. */
export type Remedies = Readonly<Partial<Record<RefusalReason, string>>>;

/** What the operator can do about refused credentials. */
export const remedyFor = ({ reason, remedy }: Refused, remedies: Remedies = {}): string =>
  remedy ?? remedies[reason] ?? REASONS[reason][1];

/** A value of a token, for `found`. Anyone can send a value that is nested too deeply to be written. */
export function shown(value: unknown): string {
  try {
    return JSON.stringify(value)?.slice(0, 200) ?? 'missing';
  } catch {
    return 'nested too deep';
  }
}

/** Why a token could not be exchanged. */
export type ExchangeErrorCode =
  | 'no-token'
  | 'no-client'
  | 'invalid-request'
  | 'invalid-grant'
  | 'interaction-required'
  | 'invalid-client'
  | 'invalid-target'
  | 'invalid-scope'
  | 'unsupported'
  | 'refused'
  | 'unavailable';

/** The codes of an issuer's errors (RFC 6749, section 5.2; RFC 8693, section 2.2.2; OpenID Connect; Entra). */
const CODES: Readonly<Record<string, ExchangeErrorCode>> = {
  invalid_grant: 'invalid-grant',
  interaction_required: 'interaction-required',
  consent_required: 'interaction-required',
  login_required: 'interaction-required',
  invalid_client: 'invalid-client',
  unauthorized_client: 'invalid-client',
  invalid_target: 'invalid-target',
  invalid_resource: 'invalid-target',
  invalid_scope: 'invalid-scope',
  unsupported_grant_type: 'unsupported',
  server_error: 'unavailable',
  temporarily_unavailable: 'unavailable',
};

/** Errors that Entra puts into `suberror` of an `invalid_grant`. Only the user can mend them. */
const SUBERRORS: readonly unknown[] = ['basic_action', 'additional_action', 'consent_required'];

/** What to do about an error. */
const REMEDIES: Readonly<Partial<Record<ExchangeErrorCode, string>>> = {
  'invalid-grant': "The caller's token may be expired or revoked, or not meant for this client: get a new one.",
  'interaction-required': 'The user must sign in or consent. An administrator may be able to consent for everybody.',
  'invalid-client': 'Check `clientId` and `clientSecret`, and what the issuer allows this client to do.',
  'invalid-target': 'Check `audience`, and that the issuer allows this client to reach it.',
  'invalid-scope': 'Check `scopes`, and that the issuer allows them for this client.',
  unsupported: 'Enable the token exchange for this client at the issuer.',
  unavailable: 'Try again later.',
};

/** An issuer's answer to an exchange that failed. */
interface Failed {
  readonly status: number;
  readonly json: Readonly<Record<string, unknown>> | undefined;
}

/**
 * A token could not be exchanged. The message is for the operator and never contains tokens or secrets.
 * @example
 * ```ts
 * import { ExchangeError } from '@decorum/auth';
 * import { ToolError } from '@decorum/core';
 *
 * const explain = (error: unknown): never => {
 *   if (!(error instanceof ExchangeError) || error.code !== 'interaction-required') throw error;
 *   throw new ToolError('Sign in again, and allow access to the calendar.');
 * };
 * ```
 */
export class ExchangeError extends Error {
  override readonly name = 'ExchangeError';
  readonly code: ExchangeErrorCode;
  /** The issuer that was asked; undefined if none was. */
  readonly issuer: string | undefined;
  /** What the user's next token must prove, as JSON: the claims challenge of Entra's conditional access. */
  readonly claims: string | undefined;

  /** Internal: `exchange` creates it. */
  constructor(
    code: ExchangeErrorCode,
    problem: string,
    about: { readonly issuer?: string | undefined; readonly claims?: string | undefined } = {},
  ) {
    const remedy = REMEDIES[code];
    super(`The token was not exchanged: ${problem}.${remedy === undefined ? '' : ` ${remedy}`}`);
    this.code = code;
    this.issuer = about.issuer;
    this.claims = about.claims;
  }
}

/**
 * The error for an issuer's answer.
 * @param issuer the issuer that answered
 * @param safe removes secrets and control characters from a text of the issuer
 */
export function failedExchange({ status, json = {} }: Failed, issuer: string, safe: (text: string) => string): Error {
  const { error, error_description: description, suberror, claims: asked } = json;
  if (typeof error !== 'string') {
    return new ExchangeError('unavailable', `${issuer} answered with status ${status} and no OAuth error`, { issuer });
  }
  const claims = typeof asked === 'string' ? safe(asked) : undefined;
  const needsUser = claims !== undefined || SUBERRORS.includes(suberror);
  const known = Object.hasOwn(CODES, error) ? CODES[error] : undefined;
  const code = needsUser
    ? 'interaction-required'
    : (known ?? (status >= 500 || status === 429 ? 'unavailable' : 'refused'));
  const said = typeof description === 'string' ? `${error}: ${description}` : error;
  return new ExchangeError(code, `${issuer} says ${safe(said).replace(/\.$/, '')}`, { issuer, claims });
}

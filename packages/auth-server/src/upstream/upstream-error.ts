/** Why there is no token of the upstream. */
export type UpstreamErrorCode = 'no-token' | 'revoked' | 'unavailable';

const MESSAGES: Readonly<Record<UpstreamErrorCode, string>> = {
  'no-token':
    'The caller has no token of the upstream. Pass `ctx.principal` itself, of a user who has signed in there.',
  revoked: 'The upstream no longer accepts the tokens of the user, who must sign in again.',
  unavailable: 'The upstream did not answer. Try again later.',
};

/**
 * There is no token of the upstream. The message never contains tokens.
 * @example
 * ```ts
 * const token = await auth.upstream(ctx.principal).catch((error: UpstreamError) => {
 *   if (error.code !== 'revoked') throw error;
 *   throw new ToolError('Sign in again.');
 * });
 * ```
 */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError';
  readonly code: UpstreamErrorCode;

  /** Internal: `upstream` creates it. */
  constructor(code: UpstreamErrorCode, options?: ErrorOptions) {
    super(MESSAGES[code], options);
    this.code = code;
  }
}

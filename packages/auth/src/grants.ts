/** What a user has granted to a client. Each request with a token of the grant looks at it. */
export interface LiveGrant {
  /** Must be true as soon as this process has revoked the grant. */
  readonly revoked: boolean;
}

/** The grants of an issuer. */
export interface GrantSource {
  /**
   * The grant that a verified token belongs to, or undefined if it has ended. Rejects if the grants can't be read: the
   * request is then answered with 503.
   */
  find(claims: Readonly<Record<string, unknown>>): Promise<LiveGrant | undefined>;
}

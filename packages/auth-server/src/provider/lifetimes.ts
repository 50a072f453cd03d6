/** Seconds. */
const MINUTE = 60;
const DAY = 24 * 60 * MINUTE;

/** How long tokens and their like are valid, in seconds. */
export const LIFETIMES = {
  AccessToken: 5 * MINUTE,
  AuthorizationCode: MINUTE,
  ClientCredentials: 5 * MINUTE,
  Grant: 365 * DAY,
  IdToken: 5 * MINUTE,
  Interaction: 10 * MINUTE,
  RefreshToken: 30 * DAY,
  Session: 60 * MINUTE,
} as const;

export type { AuthEvent } from './events.js';
export type { ExchangedToken, ExchangeRequest } from './exchange.js';
export { ExchangeError, type ExchangeErrorCode } from './exchange-error.js';
export { oauth, OAuth } from './oauth.js';
export type { ApiKey, IntrospectionOptions, IssuerOptions, OAuthOptions } from './options.js';
export { auth0, cognito, type CognitoOptions, entra, keycloak, okta } from './presets.js';
export type { RefusalReason } from './reasons.js';

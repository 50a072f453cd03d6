// `@decorum/auth/internal`: for Decorum's own packages. It may change in any release, so don't import it elsewhere.
export { Authenticator, type AuthenticatorParts } from './authenticator.js';
export { SHARED_OPTIONS, type SharedOptions } from './check-shared.js';
export { OptionChecks } from './check-values.js';
export { metadataUrl } from './documents.js';
export { printable, Reporter, type SignInEvent } from './events.js';
export { fetchAnswer, fetchJson, type IssuerAnswer, type JsonText, type Platform, problemOf } from './fetch-json.js';
export type { GrantSource, LiveGrant } from './grants.js';
export type { KeySource, WantedKey } from './issuer-key.js';
export { LocalAuth, type LocalIssuer } from './local-auth.js';
export { LocalKeys } from './local-keys.js';
export type { Claims } from './principal.js';
export { canonicalResource, isWebUrl, issuerUrlMistake, parseUrl } from './urls.js';

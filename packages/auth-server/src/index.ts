export { authorizationServer, AuthorizationServer } from './authorization-server.js';
export type { ConfiguredClient } from './clients/configured-clients.js';
export type { AuthorizationServerOptions, LoginRedirect, LoginRequest } from './options.js';
export type { PageText, PageTexts } from './pages/texts.js';
export type { AuthStore, Change, StoredRecord } from './store/auth-store.js';
export { fileStore, type FileStoreOptions } from './store/file-store.js';
export { memoryStore, type MemoryStoreOptions } from './store/memory-store.js';
export { SignInBusyError } from './users/derivations.js';
export { hashPassword } from './users/password-hash.js';
export type { User, UserDirectory } from './users/user-directory.js';
export { usersFile } from './users/users-file.js';
export { github, google, type KnownUpstreamOptions, oidc } from './upstream/presets.js';
export type { UpstreamToken } from './upstream/upstream.js';
export { UpstreamError, type UpstreamErrorCode } from './upstream/upstream-error.js';
export type {
  UpstreamEndpoints,
  UpstreamIdentity,
  UpstreamOptions,
  UpstreamUser,
} from './upstream/upstream-options.js';

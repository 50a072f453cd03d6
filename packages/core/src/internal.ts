// `@decorum/core/internal`: for Decorum's own packages. It may change in any release, so don't import it elsewhere.
export { andThen, excerpt, inspectRaw, isObject, isPromise, withDefaults } from '@decorum/schema/internal';
export { generatorOf, type Provider, SERVER_HOST, type ServerHost } from './hosting.js';
export { errorFields, isWinston, withErrorFields } from './kernel/logger.js';
export { entryOf } from './kernel/stderr-logger.js';
export { requireNoArguments } from './metadata/constructor.js';
export { scanMembers } from './metadata/scan.js';
export { FAILURES, STARTUP_ERROR_CODES } from './protocol/errors.js';
export { checkMessage } from './protocol/jsonrpc.js';
export { DEFAULT_LIMITS } from './protocol/limits.js';
export { INITIALIZE, LISTEN } from './protocol/methods.js';
export { accountOf, ownerOf } from './protocol/owner.js';
export { newestOf, revisionOf, REVISIONS, UNDECLARED_REVISION } from './protocol/revisions/index.js';
export type { Era, Revision } from './protocol/revisions/revision.js';
export { hasAll, isDenial, isScope } from './protocol/scopes.js';
export { isExpiry } from './transports/expiry.js';
export type { OwnedRoute } from './transports/route.js';
export { divertStdout } from './transports/stdio.js';

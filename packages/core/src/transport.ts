// `@decorum/core/transport`: exports that transport authors need beyond the public API.
export {
  andThen,
  excerpt,
  inspectRaw,
  isObject,
  isPromise,
  type OptionType,
  type OptionTypes,
  requireKnown,
  withDefaults,
} from '@decorum/schema/internal';
export { generatorOf, type Provider, SERVER_HOST, type ServerHost } from './hosting.js';
export type { InFlight } from './kernel/in-flight.js';
export type { Kernel } from './kernel/kernel.js';
export { entryOf } from './kernel/stderr-logger.js';
export { errorFields, isWinston, withErrorFields } from './kernel/logger.js';
export { FAILURES, STARTUP_ERROR_CODES, startupError } from './protocol/errors.js';
export type { TransientPeer } from './protocol/eras/transient.js';
export type { SessionLink, SessionOrigin, SessionRecord } from './protocol/eras/session-record.js';
export type { Session } from './protocol/eras/stateful.js';
export { belongsToSession, type Conversation } from './protocol/exchange.js';
export type { Frame, FrameKind } from './protocol/frame.js';
export {
  checkMessage,
  errorFrame,
  type JsonRpcMessage,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  parseMessage,
  readableId,
} from './protocol/jsonrpc.js';
export { DEFAULT_LIMITS } from './protocol/limits.js';
export { beginsConversation, INITIALIZE, LISTEN } from './protocol/methods.js';
export { accountOf, ownerOf } from './protocol/owner.js';
export { hasAll, isDenial, isScope } from './protocol/scopes.js';
export type { Cancellation, Reply } from './protocol/reply.js';
export { newestOf, revisionOf, REVISIONS, UNDECLARED_REVISION } from './protocol/revisions/index.js';
export type { Era, Revision } from './protocol/revisions/revision.js';
export type { Authorization, MirroredArgument, Subject, Wire } from './protocol/wire.js';
export { requireNoArguments } from './metadata/constructor.js';
export { scanMembers } from './metadata/scan.js';
export { isExpiry } from './transports/expiry.js';
export { closeForGood, endOnSignal } from './transports/process-end.js';
export { guardProcess } from './transports/process-guard.js';
export { type OwnedRoute, requireRoutePath } from './transports/route.js';
export { isDroppable, PendingChanges } from './transports/slow-reader.js';
export { divertStdout } from './transports/stdio.js';
export {
  type ClosableHost,
  HOST,
  type Host,
  hostOf,
  type HostPort,
  requireNoScopes,
  type Transport,
} from './transports/transport.js';

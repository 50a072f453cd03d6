// What authors of transports need beside the public API: `@decorum/core/transport`.
export type { Kernel } from './kernel/kernel.js';
export { excerpt, FAILURES, startupError } from './protocol/errors.js';
export { Session, type SessionOptions } from './protocol/eras/stateful.js';
export { isStateless } from './protocol/exchange.js';
export {
  checkMessage,
  errorFrame,
  isObject,
  type JsonRpcMessage,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  MAX_DEPTH,
  parseMessage,
  readableId,
} from './protocol/jsonrpc.js';
export { newestOf, revisionOf, UNDECLARED_REVISION } from './protocol/revisions/index.js';
export type { Era, Revision } from './protocol/revisions/revision.js';
export type { MirroredArgument, Wire } from './protocol/wire.js';
export { closeForGood, endOnSignal } from './transports/process-end.js';
export { guardProcess } from './transports/process-guard.js';
export { type FrameKind, kindOf, WaitingChanges } from './transports/slow-reader.js';
export type { ClosableHost, Host } from './transports/transport.js';

// `@decorum/core/transport`: for authors of transports. `hostOf` has an example.
export type { ClusterCounts, ClusterParts, ClusterServer, Sharing } from './kernel/cluster.js';
export type { InFlight } from './kernel/in-flight.js';
export type { Kernel } from './kernel/kernel.js';
export type { SessionLink, SessionOrigin, SessionRecord } from './protocol/eras/session-record.js';
export type { Session } from './protocol/eras/stateful.js';
export type { TransientPeer } from './protocol/eras/transient.js';
export type { Frame, FrameKind } from './protocol/frame.js';
export {
  errorFrame,
  type JsonRpcMessage,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  parseMessage,
} from './protocol/jsonrpc.js';
export type { Conversation } from './protocol/peer.js';
export type { Cancellation, Reply } from './protocol/reply.js';
export type { Authorization, MirroredArgument, Subject, Wire } from './protocol/wire.js';
export { Expiry } from './transports/expiry.js';
export { isDroppable, PendingChanges } from './transports/slow-reader.js';
export {
  type ClosableHost,
  HOST,
  type Host,
  hostOf,
  type HostPort,
  requireNoScopes,
  requirePrincipal,
  type Transport,
} from './transports/transport.js';

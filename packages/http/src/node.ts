export type { AuthRefusal, Authenticate, RequestHead } from './authenticate.js';
export { nodeHandler, type NodeHandler, type NodeHandlerOptions } from './bindings/node-handler.js';
export { OneWriteResponse } from './bindings/one-write.js';
export type { Headers } from './http-context.js';
export type { EndpointLimits } from './limits.js';
export type { LegacyPaths } from './options.js';
export {
  type EventBatch,
  type EventStore,
  eventsOf,
  MemoryEventStore,
  type MemoryEventStoreOptions,
  type StoredEvent,
} from './event-store.js';
export { type KeptSession, MemorySessionStore, type SessionStore } from './session-store.js';
export type { SessionRecord } from '@decorum/core/transport';

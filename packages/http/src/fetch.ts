export type { AuthRefusal, Authenticate, RequestHead } from './authenticate.js';
export type { ConnectionInfo } from './bindings/fetch-context.js';
export { fetchHandler, type FetchHandler, type FetchHandlerOptions } from './bindings/fetch-handler.js';
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

export type { AuthRefusal, Authenticate, RequestHead } from './authenticate.js';
export type { ConnectionInfo } from './bindings/fetch-carrier.js';
export { fetchHandler, type FetchHandler, type FetchHandlerOptions } from './bindings/fetch-handler.js';
export type { Headers } from './carrier.js';
export type { LegacyPaths } from './options.js';
export {
  type EventBatch,
  type EventStore,
  eventsOf,
  MemoryEventStore,
  type MemoryEventStoreOptions,
  type StoredEvent,
} from './replay.js';
export { type KeptSession, MemorySessionStore, type SessionStore } from './session-store.js';
export type { SessionRecord } from '@decorum/core/transport';

export type { Auth, AuthDocument, AuthRefusal, Challenge, Denial, DocumentAnswer, RequestHead } from './auth.js';
export { authRoutes } from './bindings/auth-routes.js';
export { type HttpOptions, mcp, type McpPluginOptions } from './bindings/fastify-plugin.js';
export { listen, type Listening, type ListenOptions } from './bindings/listen.js';
export { OneWriteResponse } from './bindings/one-write.js';
export { addressOf } from './caller.js';
export type { Headers } from './http-context.js';
export type { EndpointLimits, ListenLimits } from './limits.js';
export type { LegacyPaths } from './options.js';
export { type EventBatch, type EventStore, eventsOf, type StoredEvent } from './event-store.js';
export { MemoryEventStore, type MemoryEventStoreOptions } from './memory-event-store.js';
export {
  type KeptSession,
  MemorySessionStore,
  type MemorySessionStoreOptions,
  type SessionStore,
} from './session-store.js';
export type { SessionRecord } from '@decorum/core/transport';
export { hostRequest } from './http-context.js';

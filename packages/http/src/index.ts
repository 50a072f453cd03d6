export type { SessionRecord } from '@decorum/core/transport';

export {
  AUTH,
  type Auth,
  type AuthDocument,
  type AuthEndpoint,
  type AuthOption,
  type AuthRefusal,
  type Challenge,
  type Denial,
  type DocumentAnswer,
  type RequestHead,
} from './auth/auth.js';
export type { CardHeader, CardOptions, CardRepository } from './card/card-option.js';
export type { Cluster } from './cluster/cluster.js';
export type { Courier, Letter } from './cluster/courier.js';
export { addressOf } from './endpoint/caller.js';
export { type Headers, hostRequest } from './endpoint/http-context.js';
export type { EndpointLimits, ListenLimits } from './endpoint/limits.js';
export type { LegacyPaths } from './endpoint/options.js';
export type { AuthMount } from './hosts/node/auth-mount.js';
export { authRoutes } from './hosts/fastify/auth-routes.js';
export { type HttpOptions, mcp, type McpPluginOptions } from './hosts/fastify/plugin.js';
export { listen, type Listening, type ListenOptions } from './hosts/listen/listen.js';
export {
  type KeptSession,
  MemorySessionStore,
  type MemorySessionStoreOptions,
  type SessionStore,
} from './sessions/session-store.js';
export { type EventBatch, type EventStore, eventsOf, type StoredEvent } from './streams/event-store.js';
export { MemoryEventStore, type MemoryEventStoreOptions } from './streams/memory-event-store.js';

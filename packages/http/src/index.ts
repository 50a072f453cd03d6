export { listen, type Listening, type ListenOptions } from './listen.js';
export type { HttpOptions, LegacyPaths } from './options.js';
export { mcp, type McpPluginOptions } from './plugin.js';
export { type EventStore, MemoryEventStore, type MemoryEventStoreOptions, type StoredEvent } from './replay.js';

import type { ClusterParts } from '@decorum/core';

import type { SessionStore } from '../sessions/session-store.js';
import type { EventStore } from '../streams/event-store.js';
import type { Courier } from './courier.js';

/** What processes share that serve the same clients: the `cluster` of `McpServer`. An engine provides all parts. */
export interface Cluster extends ClusterParts {
  readonly sessions: SessionStore;
  readonly events: EventStore;
  readonly courier: Courier;
}

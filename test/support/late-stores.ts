// Stores in memory, with the delay of a remote store.
import { setImmediate as turn } from 'node:timers/promises';

import {
  type EventStore,
  type KeptSession,
  MemoryEventStore,
  MemorySessionStore,
  type SessionStore,
  type StoredEvent,
} from '@decorum/http';

export class LateSessionStore implements SessionStore {
  private readonly memory = new MemorySessionStore();

  async get(id: string) {
    await turn();
    return this.memory.get(id);
  }

  async set(record: KeptSession, ttlMs: number, expected?: number) {
    // copied now, because the record may change during the delay
    const copy = structuredClone(record);
    await turn();
    return this.memory.set(copy, ttlMs, expected);
  }

  async touch(id: string, ttlMs: number) {
    await turn();
    this.memory.touch(id, ttlMs);
  }

  async delete(id: string) {
    await turn();
    this.memory.delete(id);
  }
}

export class LateEventStore implements EventStore {
  private readonly memory = new MemoryEventStore();

  async append(key: string, event: StoredEvent) {
    await turn();
    return this.memory.append(key, event);
  }

  async read(key: string, after: number) {
    await turn();
    return this.memory.read(key, after);
  }
}

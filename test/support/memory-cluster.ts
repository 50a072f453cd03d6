import { setImmediate as turn } from 'node:timers/promises';

import { MemoryChangeBus, MemoryKeyValueStore, MemorySingleUse } from '@decorum/core';
import {
  type Cluster,
  type Courier,
  type KeptSession,
  type Letter,
  MemoryEventStore,
  MemorySessionStore,
  type StoredEvent,
} from '@decorum/http';

type Take = (letter: Letter) => boolean | Promise<boolean>;

/** Several nodes of a cluster in one process. Everything between them takes a turn, and is copied as over a wire. */
export class MemoryCluster {
  readonly sessions = new MemorySessionStore();
  readonly events = new MemoryEventStore();
  /** All letters so far, with the node that they went to. */
  readonly letters: { readonly letter: Letter; readonly to: string | undefined }[] = [];
  private readonly bus = new MemoryChangeBus();
  private readonly values = new MemoryKeyValueStore();
  private readonly singleUse = new MemorySingleUse();
  private readonly takers = new Map<string, Set<Take>>();
  private count = 0;

  /** The parts of one more node. */
  node(): Cluster {
    const node = `node${(this.count += 1)}`;
    this.takers.set(node, new Set());
    const { sessions, events, bus, values } = this;
    return {
      sessions: {
        get: (id) => later(() => sessions.get(id)),
        set: (record, ttlMs, expected) => {
          const copy = JSON.parse(JSON.stringify(record)) as KeptSession;
          return later(() => sessions.set(copy, ttlMs, expected));
        },
        touch: (id, ttlMs) => later(() => sessions.touch(id, ttlMs)),
        delete: (id) => later(() => sessions.delete(id)),
      },
      events: {
        append: (key, event: StoredEvent) => later(() => events.append(key, event)),
        appendBatch: (key, batch) => later(() => events.appendBatch(key, batch)),
        read: (key, after, limit) => later(() => events.read(key, after, limit)),
      },
      bus: {
        publish: (change) => later(() => bus.publish(change)),
        subscribe: (listener) => bus.subscribe(listener),
      },
      courier: this.courier(node),
      singleUse: this.singleUse,
      store: {
        isDurable: false,
        get: (key) => later(() => values.get(key)),
        set: (key, value, options) => later(() => values.set(key, value, options)),
        delete: (key, expected) => later(() => values.delete(key, expected)),
      },
    };
  }

  /** Makes a node vanish, as if it was killed: it takes no more letters. */
  kill({ courier }: Cluster): void {
    this.takers.delete(courier.node);
  }

  private courier(node: string): Courier {
    return {
      node,
      send: async (letter, to) => {
        this.letters.push({ letter, to });
        const copy = JSON.parse(JSON.stringify(letter)) as Letter;
        await turn();
        const nodes = to === undefined ? [...this.takers.keys()].filter((each) => each !== node) : [to];
        const takers = nodes.flatMap((each) => [...(this.takers.get(each) ?? [])]);
        const taken = await Promise.all(takers.map((take) => take(copy)));
        await turn();
        return taken.includes(true);
      },
      receive: (take) => {
        this.takers.get(node)?.add(take);
        return () => void this.takers.get(node)?.delete(take);
      },
    };
  }
}

async function later<T>(step: () => T): Promise<T> {
  await turn();
  return step();
}

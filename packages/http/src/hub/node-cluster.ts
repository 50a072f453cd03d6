import { randomBytes } from 'node:crypto';

import type { Cluster } from '../cluster/cluster.js';
import { startupError } from '../errors.js';
import { batchOf } from '../streams/event-store.js';
import type { Channel } from './channel.js';
import { NodeClient } from './node-client.js';

/**
 * The parts of one server that reaches the hub over a channel.
 * @param nodes gets the client, for messages from the hub, while the server is open
 */
export function nodeCluster(channel: Channel, nodes: Map<string, NodeClient>): Cluster {
  const client = new NodeClient(randomBytes(6).toString('hex'), channel);
  const { node, takers, listeners } = client;
  let served: string | undefined;
  // servers that it didn't open for, and that will close it nevertheless
  let refused = 0;
  return {
    sessions: {
      get: (id) => client.call('get', id),
      set: (record, ttlMs, expected) => client.call('set', record, ttlMs, expected),
      touch: (id, ttlMs) => client.call('touch', id, ttlMs),
      delete: (id) => client.call('delete', id),
    },
    events: {
      append: (key, event) => client.call('append', key, batchOf(event)),
      appendBatch: (key, batch) => client.call('append', key, batch),
      read: (key, after, limit) => client.call('read', key, after, limit),
    },
    singleUse: { claim: (id, ttlMs) => client.call('claim', id, ttlMs) },
    store: storeOf(client),
    bus: {
      publish: (change) => client.publish(change),
      subscribe: (listener) => added(listeners, listener),
    },
    courier: {
      node,
      send: (letter, to) => client.send(letter, to),
      tell: (letter) => client.tell(letter),
      receive: (take) => added(takers, take),
    },
    open({ name }) {
      if (served !== undefined) {
        refused += 1;
        throw serverTaken(served);
      }
      served = name;
      nodes.set(node, client);
      return client.open(name);
    },
    close() {
      if (refused > 0) return void (refused -= 1);
      client.close();
      nodes.delete(node);
    },
    ping: () => client.hello(),
  };
}

const storeOf = (client: NodeClient): Cluster['store'] => ({
  isDurable: false,
  get: (key) => client.call('getValue', key),
  set: (key, value, options) => client.call('setValue', key, value, options),
  delete: (key, expected) => client.call('deleteValue', key, expected),
});

const serverTaken = (name: string) =>
  startupError(
    'DECORUM_INVALID_OPTION',
    'McpServer',
    'cluster',
    `serves another server already, "${name}". Call clusterHub() once for each server`,
  );

function added<T>(set: Set<T>, value: T): () => void {
  set.add(value);
  return () => void set.delete(value);
}

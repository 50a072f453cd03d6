import cluster, { type Worker } from 'node:cluster';
import { setImmediate } from 'node:timers';

import type { Cluster } from '../cluster/cluster.js';
import type { Channel } from './channel.js';
import { Hub } from './hub.js';
import type { HubOptions } from './hub-stores.js';
import { type Envelope, isEnvelope } from './messages.js';
import type { NodeClient } from './node-client.js';
import { nodeCluster } from './node-cluster.js';

/** The nodes of this process by id. */
const nodes = new Map<string, NodeClient>();

/**
 * Lets the workers of `node:cluster` serve the same clients. Call it in the primary before it forks: there it keeps the
 * sessions and events in memory. In a worker, call it once for each server. In a process that isn't forked by
 * `node:cluster`, the server shares nothing, but works.
 * @param options limits of the memory; only those of the first call in the primary count
 * @returns the `cluster` of one server
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`. The server throws `DECORUM_NO_HUB` when it starts, if the primary
 *   hasn't called this function
 * @example
 * ```ts
 * import cluster from 'node:cluster';
 * import { McpServer } from '@decorum/core';
 * import { listen } from '@decorum/http';
 * import { clusterHub } from '@decorum/http/cluster';
 *
 * const hub = clusterHub();
 * if (cluster.isPrimary) for (let count = 0; count < 4; count += 1) cluster.fork();
 * else await listen(new McpServer({ name: 'shop', version: '1.0.0', cluster: hub }), { port: 3000 });
 * ```
 */
export function clusterHub(options: HubOptions = {}): Cluster {
  const channel = cluster.isPrimary ? ownChannel((hub ??= serveWorkers(options))) : primaryChannel();
  return nodeCluster(channel, nodes);
}

/** Gives a batch from the hub to its node. */
function deliver({ node, items }: Envelope): void {
  nodes.get(node)?.receive(items);
}

let hub: Hub | undefined;

function serveWorkers(options: HubOptions): Hub {
  const created = new Hub(options);
  const channels = new WeakMap<Worker, Channel>();
  const channelOf = (worker: Worker) => {
    const channel = channels.get(worker) ?? { send: (envelope, done) => void worker.send(envelope, done) };
    channels.set(worker, channel);
    return channel;
  };
  cluster.on('message', (worker, message: unknown) => {
    if (isEnvelope(message)) created.receive(channelOf(worker), message);
  });
  cluster.on('disconnect', (worker) => created.lost(channelOf(worker)));
  return created;
}

/** Connects a server in the primary itself. Batches are copied, as between processes. */
function ownChannel(served: Hub): Channel {
  const copyOf = (envelope: Envelope) => JSON.parse(JSON.stringify(envelope)) as Envelope;
  const back: Channel = {
    send(envelope, done) {
      deliver(copyOf(envelope));
      setImmediate(done);
    },
  };
  return {
    send(envelope, done) {
      served.receive(back, copyOf(envelope));
      setImmediate(done);
    },
  };
}

let primary: Channel | undefined;

/** The channel of a worker to its primary. */
function primaryChannel(): Channel {
  if (primary !== undefined) return primary;
  process.on('message', (message) => {
    if (isEnvelope(message)) deliver(message);
  });
  process.on('disconnect', () => {
    for (const node of nodes.values()) node.lost();
  });
  primary = { send: sendToPrimary };
  return primary;
}

const sendToPrimary: Channel['send'] = (envelope, done) => {
  if (process.send === undefined || !process.connected) return done(new Error('The primary process is gone.'));
  process.send(envelope, undefined, undefined, done);
};

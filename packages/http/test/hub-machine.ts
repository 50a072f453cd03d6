// Processes with a node each, and their hub, over channels that can hang.
import type { Cluster } from '@decorum/http';

import type { Channel } from '../src/hub/channel.js';
import { Hub } from '../src/hub/hub.js';
import type { Envelope } from '../src/hub/messages.js';
import type { NodeClient } from '../src/hub/node-client.js';
import { nodeCluster } from '../src/hub/node-cluster.js';

/** A process with one node. */
export interface Process {
  readonly cluster: Cluster;
  readonly nodes: Map<string, NodeClient>;
  /** Its end of the channel in the hub. */
  readonly end: Channel;
  /** From now on it reads nothing. */
  hang(): void;
  /** Reads everything again. */
  wake(): void;
}

const copyOf = (envelope: Envelope) => JSON.parse(JSON.stringify(envelope)) as Envelope;

/** A hub with processes. */
export class Machine {
  readonly hub = new Hub({});
  /** How many batches it was sent. */
  batches = 0;

  async start(server = 'shop'): Promise<Process> {
    const nodes = new Map<string, NodeClient>();
    const held: (() => void)[] = [];
    let hangs = false;
    const end: Channel = {
      send(envelope, done) {
        const copy = copyOf(envelope);
        const read = () => {
          nodes.get(copy.node)?.receive(copy.items);
          done();
        };
        if (hangs) held.push(read);
        else setImmediate(read);
      },
    };
    const up: Channel = {
      send: (envelope, done) => {
        this.batches += 1;
        const copy = copyOf(envelope);
        setImmediate(() => {
          this.hub.receive(end, copy);
          done();
        });
      },
    };
    const cluster = nodeCluster(up, nodes);
    await cluster.open?.({ name: server, seal: (text) => text, open: (text) => text, report() {} });
    const hang = () => void (hangs = true);
    const wake = () => {
      hangs = false;
      for (const read of held.splice(0)) read();
    };
    return { cluster, nodes, end, hang, wake };
  }

  /** Ends a process as the system would: the hub learns it, and nobody else. */
  kill({ end, nodes }: Process): void {
    nodes.clear();
    this.hub.lost(end);
  }
}

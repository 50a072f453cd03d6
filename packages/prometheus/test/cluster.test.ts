import { McpServer, Tool } from '@decorum/core';
import { type Cluster, listen } from '@decorum/http';
import { metrics } from '@decorum/prometheus';
import { describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';

import { afterwards } from '../../http/test/fixture.js';
import { cancelOf } from '../../http/test/messages.js';
import { openSession, post } from '../../http/test/sending.js';
import { MemoryCluster } from '../../../test/support/memory-cluster.js';

class Shop {
  @Tool() order() {
    return 'ordered';
  }
}

/** Serves a node of a cluster, and returns its address. */
async function served(cluster: Cluster, registry = new Registry()): Promise<string> {
  const plugins = [metrics({ registry })];
  const secret = 's'.repeat(32);
  const server = new McpServer({ name: 'shop', version: '1.0.0', providers: [Shop], plugins, cluster, secret });
  const { url, close } = await listen(server, { port: 0, signals: false });
  afterwards(close);
  return url;
}

/** The counters that `GET /metrics` shows, by name. */
async function countsAt(url: string): Promise<Record<string, string>> {
  const text = await (await fetch(new URL('/metrics', url))).text();
  const found = text.matchAll(/^decorum_cluster_(\w+)_total\{server="shop"\} (\d+)$/gm);
  return Object.fromEntries([...found].map(([, name = '', count = '']) => [name, count]));
}

const NONE = { letters: '0', untaken_letters: '0', adopted_streams: '0', conflicts: '0', timeouts: '0' };
/** An answer to a question of a node that is gone. */
const LATE = { jsonrpc: '2.0', id: 'sgone.1', result: { action: 'cancel' } };

describe('What nodes exchange', () => {
  it('is counted by the node that sent it, from zero', async () => {
    const shared = new MemoryCluster();
    const [here, elsewhere] = [await served(shared.node()), await served(shared.node())];
    expect(await countsAt(here)).toEqual(NONE);
    const session = await openSession(here);
    const before = Number((await countsAt(elsewhere))['letters']);
    await post(elsewhere, cancelOf(7), session);
    await post(elsewhere, LATE, session);
    expect(await countsAt(elsewhere)).toEqual({ ...NONE, letters: String(before + 2), untaken_letters: '1' });
    expect((await countsAt(here))['untaken_letters']).toBe('0');
  });

  it('is added up for servers that share a registry and a name, and begins again when it is reset', async () => {
    const [shared, registry] = [new MemoryCluster(), new Registry()];
    const nodes = [await served(shared.node(), registry), await served(shared.node(), registry)];
    const session = await openSession(nodes[0] as string);
    for (const url of nodes) await post(url, LATE, session);
    expect((await countsAt(nodes[0] as string))['untaken_letters']).toBe('2');
    registry.resetMetrics();
    expect(await countsAt(nodes[0] as string)).toEqual(NONE);
  });
});

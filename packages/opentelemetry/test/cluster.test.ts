import { McpServer } from '@decorum/core';
import { type Cluster, listen } from '@decorum/http';
import { telemetry } from '@decorum/opentelemetry';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { afterwards } from '../../http/test/fixture.js';
import { cancelOf } from '../../http/test/messages.js';
import { openSession, post } from '../../http/test/sending.js';
import { MemoryCluster } from '../../../test/support/memory-cluster.js';
import { Sdk } from './sdk.js';

let sdk: Sdk;
beforeEach(() => {
  sdk = new Sdk().register();
});
afterEach(() => sdk.shutdown());

async function served(name: string, cluster?: Cluster): Promise<string> {
  const engine = cluster && { cluster, secret: 's'.repeat(32) };
  const server = new McpServer({ name, version: '1.0.0', plugins: [telemetry()], ...engine });
  const { url, close } = await listen(server, { port: 0, signals: false });
  afterwards(close);
  return url;
}

describe('The counters of a cluster', () => {
  it('are reported for each server of the process, once they are above zero', async () => {
    const shared = new MemoryCluster();
    const [url, alone] = [await served('shop', shared.node()), await served('alone')];
    await post(alone, cancelOf(7), await openSession(alone));
    const session = await openSession(url);
    await post(url, cancelOf(7), session);
    await post(url, { jsonrpc: '2.0', id: 'sgone.1', result: { action: 'cancel' } }, session);
    const counts = await sdk.counts();
    expect(Object.keys(counts).sort()).toEqual(['decorum.cluster.letters', 'decorum.cluster.untaken_letters']);
    expect(counts['decorum.cluster.untaken_letters']).toEqual([[{ 'decorum.server': 'shop' }, 1]]);
  });
});

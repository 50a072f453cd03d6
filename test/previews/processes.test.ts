// Plans on several processes that share a store.
import { type CallToolResult, McpServer } from '@decorum/core';
import { connect, revisions } from '@decorum/testing';
import { describe, expect, it } from '@jest/globals';

import { MemoryCluster } from '../support/memory-cluster.js';
import { Notes, textOf, ticketOf } from './notes.js';

/** Two processes of one server, each with a client of the same user. */
async function processes(revision: string) {
  const cluster = new MemoryCluster();
  const notes = new Notes();
  const principal = { subject: 'ada' };
  const options = { name: 'notes', version: '1', secret: 'a secret of at least 32 characters' };
  const clients = [cluster.node(), cluster.node()].map(async (node) => {
    const server = new McpServer({ ...options, providers: [notes], store: node.store });
    return await connect(server, { revision, principal });
  });
  return { notes, clients: await Promise.all(clients) };
}

describe.each(revisions)('a ticket in %s', (revision) => {
  it('is good on another process', async () => {
    const { notes, clients } = await processes(revision);
    const [one, two] = clients;
    const ticket = ticketOf(await one!.callTool('prune', { text: 'old' }));
    expect(textOf((await two!.callTool('prune', { text: 'old', ticket })) as CallToolResult)).toBe('done');
    expect(notes.done).toEqual([{ plan: 1 }]);
  });

  it('is used by one of many calls that race over two processes', async () => {
    const { notes, clients } = await processes(revision);
    const ticket = ticketOf(await clients[0]!.callTool('prune', { text: 'old' }));
    const racing = Array.from({ length: 40 }, (_, at) => clients[at % 2]!.callTool('prune', { text: 'old', ticket }));
    const results = await Promise.all(racing);
    expect(results.filter(({ isError }) => isError !== true)).toHaveLength(1);
    expect(notes.done).toEqual([{ plan: 1 }]);
  });
});

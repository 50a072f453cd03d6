import { McpServer } from '@decorum/core';
import { connect, type ConnectOptions, contract, revisions } from '@decorum/testing';
import { describe, expect, it } from '@jest/globals';

import { createServer } from './servers/weather.js';

const contractOf = async (server: McpServer, options: ConnectOptions = {}) => {
  const client = await connect(server, options);
  try {
    return await contract(client);
  } finally {
    await client.close();
  }
};

describe.each(revisions)('the contract that a client of %s sees', (revision) => {
  it('has the revision, the server, its capabilities and its sorted entries', async () => {
    const seen = await contractOf(createServer({ instructions: 'Ask for a city.' }), { revision });
    expect(seen).toMatchObject({
      revision,
      server: { name: 'weather' },
      instructions: 'Ask for a city.',
      capabilities: { tools: {}, resources: {}, prompts: {} },
      resources: [{ uri: 'weather://today' }],
      resourceTemplates: [{ uriTemplate: 'weather://{city}/station' }],
      prompts: [{ name: 'pack' }],
    });
    const names = seen.tools.map(({ name }) => name);
    expect(names).toEqual(['book', 'caller', 'forecast', 'guess', 'hours', 'map', 'route']);
    expect(Object.keys(seen.tools[2] ?? {})).toEqual(Object.keys(seen.tools[2] ?? {}).toSorted());
  });

  it('stays the same over another transport, in another version and another order', async () => {
    const entries = [
      ['b', 'second'],
      ['a', 'first'],
    ] as const;
    const serverOf = (version: string, order: readonly (readonly [string, string])[]) => {
      const server = new McpServer({ name: 'x', version });
      for (const [name, description] of order) server.addTool({ name, description }, () => name);
      return server;
    };
    const one = await contractOf(serverOf('1.0.0', entries), { revision });
    const other = await contractOf(serverOf('2.0.0', entries.toReversed()), { revision, via: 'http' });
    expect(JSON.stringify(other)).toBe(JSON.stringify(one));
    expect(one).toMatchObject({ resources: [], resourceTemplates: [], prompts: [] });
  });
});

import { afterEach, expect, it } from '@jest/globals';
import { type ClientOptions, connectClient, proxy } from '@decorum/client';
import { McpServer, Tool } from '@decorum/core';
import { listen } from '@decorum/http';
import { tasks } from '@decorum/tasks';

import { STATEFUL, STATELESS } from './front.js';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});
const keep = <T extends { close(): unknown }>(each: T): T => {
  open.push(each);
  return each;
};

class Reports {
  @Tool({ description: 'May run as a task', task: 'optional' })
  maybe() {
    return 'at once';
  }

  @Tool({ description: 'Runs as a task', task: 'required' })
  only() {
    return 'later';
  }
}

/** A client of a proxy in front of tools that may run, or only run, as tasks. */
async function behind(revision: string, client: ClientOptions) {
  const upstream = keep(new McpServer({ name: 'reports', version: '1.0.0', providers: [Reports], plugins: [tasks()] }));
  const warnings: string[] = [];
  const logger = { warn: (_details: object, message: string) => void warnings.push(message), error: () => {} };
  const providers = [proxy((await listen(upstream, { port: 0 })).url, { prefix: 'geo', revision })];
  const front = keep(new McpServer({ name: 'front', version: '1.0.0', providers, logger }));
  return { client: keep(await connectClient(front, client)), warnings };
}

it('leaves out tools that only run as tasks, and calls others without', async () => {
  const { client, warnings } = await behind(STATEFUL, { revision: STATEFUL });
  const tools = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(['geo_maybe']);
  expect(warnings.join()).toContain('has a tool "only" that only runs as a task, which does not pass a proxy');
  expect(await client.callTool('geo_maybe')).toMatchObject({ content: [{ text: 'at once' }] });
});

it('a call of a tool that only runs as a task fails, and no client is told to declare tasks twice', async () => {
  const { client: plain } = await behind(STATELESS, { revision: STATELESS });
  await expect(plain.callTool('geo_only')).rejects.toMatchObject({ code: -32021 });
  const capabilities = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
  const { client } = await behind(STATELESS, { revision: STATELESS, capabilities });
  expect(await client.callTool('geo_maybe')).toMatchObject({ content: [{ text: 'at once' }] });
  expect(await client.callTool('geo_only')).toMatchObject({
    isError: true,
    content: [
      { text: 'The server "geo" wants an extension for this, such as tasks, and extensions do not pass a proxy.' },
    ],
  });
});

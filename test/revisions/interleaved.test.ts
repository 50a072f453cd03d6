// Clients of all revisions at once on one server: each sees its own words, and what is its own.
import { describe, expect, it } from '@jest/globals';
import type { JsonObject, McpServer } from '@decorum/core';
import fc from 'fast-check';

import { CARRIERS, RawClient, textOf } from '../support/raw-client.js';
import { SESSION_REVISIONS } from '../support/requirements.js';
import { storyAnswers, storyCapabilities, storyServer } from './story.js';

type Deed = (client: RawClient, server: McpServer) => Promise<void>;

const LISTS = ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'];

const DEEDS = {
  list: async (client) => void (await Promise.all(LISTS.map((method) => client.result(method)))),
  revision: async (client) => expect(textOf(await client.call('revision'))).toBe(client.revision),
  media: async (client) => expect((await client.call('media'))['content']).toHaveLength(3),
  structured: async (client) => {
    const result = await client.call('forecast', { city: client.revision });
    expect('structuredContent' in result).toBe(client.revision >= '2025-06-18');
    expect(textOf(result)).toContain(client.revision);
  },
  prompt: async (client) => {
    const { messages } = await client.result('prompts/get', { name: 'pack', arguments: { city: client.revision } });
    expect(messages).toMatchObject([{ content: { text: `To ${client.revision}` } }, {}]);
  },
  ask: async (client) => {
    const said = `A model of ${client.revision} from file:///${client.revision}`;
    expect(textOf(await client.call('ask'))).toBe(said);
  },
  form: async (client) => {
    const said = textOf(await client.call('form'));
    if (client.revision >= '2025-06-18') expect(said).toBe(client.revision);
  },
  report: async (client) => {
    const params = { name: 'report', _meta: { progressToken: `token of ${client.revision}` } };
    await client.result('tools/call', params);
  },
  quiet: async (client) => void (await client.result('logging/setLevel', { level: 'error' })),
  follow: async (client) => void (await client.result('resources/subscribe', { uri: 'docs://a' })),
  update: async (_client, server) => server.notify.resourceUpdated('docs://a'),
  change: async (_client, server) => server.notify.toolsChanged(),
  unknown: async (client) => expect(await client.error('tools/fly')).toMatchObject({ code: -32601 }),
} satisfies Record<string, Deed>;

const deeds = fc.array(
  fc.tuple(fc.nat(SESSION_REVISIONS.length - 1), fc.constantFrom(...(Object.keys(DEEDS) as (keyof typeof DEEDS)[]))),
  { minLength: 4, maxLength: 40 },
);

/** What in a message names its owner. */
function ownersOf({ params = {} }: { params?: JsonObject }): unknown[] {
  const token = params['progressToken'];
  const { of } = (params['data'] ?? {}) as { of?: unknown };
  return [...(typeof token === 'string' ? [token.replace('token of ', '')] : []), ...(of === undefined ? [] : [of])];
}

describe('Four clients, one of each revision with sessions,', () => {
  it.each(Object.entries(CARRIERS))('see only their own words on one server, over %s', async (_medium, carrier) => {
    const property = fc.asyncProperty(deeds, async (plan) => {
      const server = storyServer();
      const clients = await Promise.all(
        SESSION_REVISIONS.map((revision) => {
          const options = { revision, capabilities: storyCapabilities(revision), answers: storyAnswers(revision) };
          return RawClient.connect(server, options, carrier);
        }),
      );
      const subscribed = new Set<number>();
      await Promise.all(
        plan.map(async ([index, name]) => {
          if (name === 'follow') subscribed.add(index);
          await (DEEDS[name] as Deed)(clients[index] as RawClient, server);
        }),
      );
      await Promise.all(clients.map((client) => client.settled()));
      for (const [index, client] of clients.entries()) {
        expect(client.problems).toEqual([]);
        for (const owner of client.received.flatMap(ownersOf)) expect(owner).toBe(client.revision);
        if (!subscribed.has(index)) expect(client.of('notifications/resources/updated')).toEqual([]);
        const answered = client.received.filter(({ method }) => method === undefined).map(({ id }) => id);
        expect(new Set(answered).size).toBe(answered.length);
      }
      await Promise.all(clients.map((client) => client.close()));
    });
    await fc.assert(property, { numRuns: 25 });
  });
});

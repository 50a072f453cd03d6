// Concurrent clients of all revisions on one server: each sees only its own messages in its own format.
import { randomUUID } from 'node:crypto';

import { describe, expect, it } from '@jest/globals';
import type { JsonObject, McpServer } from '@decorum/core';
import fc from 'fast-check';

import { overHttp } from '../support/http-transports.js';
import { overStdio, RawClient, textOf } from '../support/raw-client.js';
import { REVISIONS } from '../support/requirements.js';
import { storyAnswers, storyCapabilities, storyServer, subscribe } from './story.js';

/** An action of a client, with its assertions. */
type Action = (client: RawClient, server: McpServer) => Promise<void>;

const LISTS = ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'];

async function list(client: RawClient) {
  await Promise.all(LISTS.map((method) => client.result(method)));
}

async function date(client: RawClient) {
  expect(textOf(await client.call('revision'))).toBe(client.revision);
}

async function media(client: RawClient) {
  expect((await client.call('media'))['content']).toHaveLength(3);
}

async function structured(client: RawClient) {
  const result = await client.call('forecast', { city: client.revision });
  expect('structuredContent' in result).toBe(client.revision >= '2025-06-18');
  expect(textOf(result)).toContain(client.revision);
}

async function prompt(client: RawClient) {
  const { messages } = await client.result('prompts/get', { name: 'pack', arguments: { city: client.revision } });
  expect(messages).toMatchObject([{ content: { text: `To ${client.revision}` } }, {}]);
}

async function ask(client: RawClient) {
  const said = `A model of ${client.revision} from file:///${client.revision}`;
  expect(textOf(await client.call('ask'))).toBe(said);
}

async function form(client: RawClient) {
  const result = await client.call('form');
  if (client.revision >= '2025-06-18') expect(textOf(result)).toBe(client.revision);
  else expect(result).toMatchObject({ isError: true });
}

async function report(client: RawClient) {
  await client.result('tools/call', { name: 'report', _meta: { progressToken: `token of ${client.revision}` } });
}

async function quiet(client: RawClient) {
  if (!client.stateless) await client.result('logging/setLevel', { level: 'error' });
}

async function follow(client: RawClient) {
  await subscribe(client, randomUUID());
}

async function update(_client: RawClient, server: McpServer) {
  server.notify.resourceUpdated('docs://a');
}

async function change(_client: RawClient, server: McpServer) {
  server.notify.toolsChanged();
}

async function err(client: RawClient) {
  expect(await client.error('tools/fly')).toMatchObject({ code: -32601 });
}

/** Actions that work in any order. */
const ACTIONS = {
  list,
  date,
  media,
  structured,
  prompt,
  ask,
  form,
  report,
  quiet,
  follow,
  update,
  change,
  err,
} satisfies Record<string, Action>;

const plans = fc.array(
  fc.tuple(fc.nat(REVISIONS.length - 1), fc.constantFrom(...(Object.keys(ACTIONS) as (keyof typeof ACTIONS)[]))),
  { minLength: 4, maxLength: 40 },
);

/** The fields of a message that identify its owner. */
function ownersOf({ params = {} }: { params?: JsonObject }): unknown[] {
  const token = params['progressToken'];
  const { of } = (params['data'] ?? {}) as { of?: unknown };
  return [...(typeof token === 'string' ? [token.replace('token of ', '')] : []), ...(of === undefined ? [] : [of])];
}

describe('Five clients, one of each revision,', () => {
  it.each(Object.entries({ stdio: overStdio, HTTP: overHttp }))(
    'see only messages in the format of their revision on one server, over %s',
    async (_medium, transport) => {
      const property = fc.asyncProperty(plans, async (plan) => {
        const server = storyServer();
        const clients = await Promise.all(
          REVISIONS.map((revision) => {
            const options = { revision, capabilities: storyCapabilities(revision), answers: storyAnswers(revision) };
            return RawClient.connect(server, { ...options, logLevel: 'info' }, transport);
          }),
        );
        const subscribed = new Set<number>();
        await Promise.all(
          plan.map(async ([index, name]) => {
            if (name === 'follow') subscribed.add(index);
            await (ACTIONS[name] as Action)(clients[index] as RawClient, server);
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
      await fc.assert(property, { numRuns: 10 });
    },
  );
});

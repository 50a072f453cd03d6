// Concurrent clients of all revisions on one server: each sees only its own messages in its own format.
import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '@decorum/core';
import fc from 'fast-check';

import { overHttp } from '../support/http-transports.js';
import { RAW_TRANSPORTS, RawClient } from '../support/raw-client.js';
import { REVISIONS } from '../support/requirements.js';
import { type Deed, DEEDS } from './deeds.js';
import { storyAnswers, storyCapabilities, storyServer } from './story.js';

const deeds = fc.array(
  fc.tuple(fc.nat(REVISIONS.length - 1), fc.constantFrom(...(Object.keys(DEEDS) as (keyof typeof DEEDS)[]))),
  { minLength: 4, maxLength: 40 },
);

/** The fields of a message that identify its owner. */
function ownersOf({ params = {} }: { params?: JsonObject }): unknown[] {
  const token = params['progressToken'];
  const { of } = (params['data'] ?? {}) as { of?: unknown };
  return [...(typeof token === 'string' ? [token.replace('token of ', '')] : []), ...(of === undefined ? [] : [of])];
}

describe('Five clients, one of each revision,', () => {
  it.each(Object.entries({ ...RAW_TRANSPORTS, HTTP: overHttp }))(
    'see only messages in the format of their revision on one server, over %s',
    async (_medium, transport) => {
      const property = fc.asyncProperty(deeds, async (plan) => {
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
      await fc.assert(property, { numRuns: 15 });
    },
  );
});

// Answers that reach the call that asks, whoever else asks. `PROXY_ROUNDS=1000` is the full number.
import { afterEach, describe, expect, it } from '@jest/globals';
import type { ClientOptions } from '@decorum/client';

import { closeAll, Front, jsonOf, Listener, program, STATEFUL, STATELESS, textOf } from './front.js';

const ROUNDS = Number(process.env['PROXY_ROUNDS'] ?? 25);

afterEach(closeAll);

/** Answers with the user, and with what the question and its call say. */
const answering = (user: string): ClientOptions['onElicit'] => {
  return ({ message }, call) => {
    const { who } = (call?.params['arguments'] ?? {}) as { who?: string };
    return { action: 'accept', content: { name: `${user} to ${message} of ${who}` } };
  };
};

const PAIRS = [STATELESS, STATEFUL].flatMap((front) => [STATELESS, STATEFUL].map((behind) => [front, behind] as const));

describe.each(PAIRS)('calls of clients of %s, and an upstream of %s,', (revision, behind) => {
  it.each(['http', 'stdio'])(
    `get their own answers over %s, ${ROUNDS} times`,
    async (kind) => {
      const front =
        kind === 'http'
          ? new Front((await Listener.start()).url, { revision: behind })
          : new Front(program, { revision: behind, process: 'session' });
      const users = ['ann', 'bob'];
      const clients = await Promise.all(
        users.map(async (user) => {
          return await front.overHttp({ revision, headers: { 'x-user': user }, onElicit: answering(user) });
        }),
      );
      for (let round = 0; round < ROUNDS; round += 1) {
        const calls = clients.flatMap((client, at) =>
          [1, 2].map((number) => ({ client, user: users[at], who: `${number}-${round}-${at}` })),
        );
        const texts = await Promise.all(
          calls.map(async ({ client, who }) => textOf(await client.callTool('ask', { who }))),
        );
        expect(texts).toEqual(calls.map(({ user, who }) => `${who}: ${user} to geo: Name of ${who}? of ${who}`));
      }
      expect((jsonOf(await (clients[0] as (typeof clients)[0]).callTool('state'))['begun'] as string[]).length).toBe(
        kind === 'http' ? 4 * ROUNDS : 2 * ROUNDS,
      );
    },
    60_000 + 500 * ROUNDS,
  );
});

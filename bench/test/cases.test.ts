import { PassThrough } from 'node:stream';

import { afterEach, describe, expect, test } from '@jest/globals';

import { Arena, type Question } from '../src/arena.js';
import { CALLS, type CallName } from '../src/calls.js';
import { CASES, type SliceCase } from '../src/cases.js';
import { LinesEntrant } from '../src/lines-entrant.js';
import { openEntrants } from '../src/run-case.js';

const HANDLER_CASES = ['node', 'fetch'];
const slices = CASES.filter((one) => one.kind === 'slices').map((one) => [one.name, one] as const);

/** The client's and the server's end of each pipe that has been asked for. */
let ends: { readonly toServer: PassThrough; readonly toClient: PassThrough }[] = [];
let arena: Arena | undefined;

function openArena(): Arena {
  ends = [];
  arena = new Arena(() => {
    const pair = { toServer: new PassThrough(), toClient: new PassThrough() };
    ends.push(pair);
    return { input: pair.toServer, output: pair.toClient };
  });
  return arena;
}

async function ask(opened: Arena, question: Question) {
  const answer = await opened.answer(question);
  if (answer.error !== undefined) throw new Error(answer.error);
  return answer;
}

/** Opens the entrants of a real run in this process. */
async function entrantsOf(one: SliceCase) {
  const opened = openArena();
  const measured = {
    ask: (question: Question) => ask(opened, question),
    pipe: (index: number) => {
      const { toServer, toClient } = ends[index]!;
      return { input: toClient, output: toServer };
    },
  };
  return await openEntrants({ ...one, maxConnections: Math.min(one.maxConnections, 3) }, measured, 3);
}

afterEach(async () => {
  await arena?.close();
  arena = undefined;
});

describe('every case', () => {
  test.each(slices)('%s: all entrants give the right answers, call after call', async (name, one) => {
    const entrants = await entrantsOf(one).catch((error: Error) => error);
    if (entrants instanceof Error) {
      // a binding that the package does not have is reported, and fails no other case
      expect(HANDLER_CASES).toContain(name);
      expect(entrants.message).toMatch(/@decorum\/http\/|not defined by "exports"/);
      return;
    }
    expect([...entrants.keys()]).toEqual(one.entrants.map((entrant) => entrant.name));
    for (const entrant of entrants.values()) {
      await entrant.prepare();
      expect(await entrant.slice(6)).toBeGreaterThan(0);
      await entrant.finish();
    }
  });
});

describe('answers', () => {
  test.each<[CallName, string]>([
    ['add', '{"id":1003,"result":{"content":[{"type":"text","text":"4"}]}}'],
    ['echo', '{"id":1003,"result":{"content":[{"type":"text","text":"{}"}]}}'],
    ['blob', '{"id":1003,"result":{"content":[{"type":"text","text":"4"}]}}'],
    ['list', '{"id":1003,"result":{"tools":[]}}'],
    ['progress', '{"id":1003,"result":{"content":[{"type":"text","text":"done"}]}}'],
    ['listen', '{"id":1003,"error":{"code":-32603,"message":"There are too many subscriptions."}}'],
  ])('of %s that are wrong are rejected', (name, wrong) => {
    expect(() => CALLS[name].verify([JSON.parse(wrong)], 3)).toThrow('wrong response to');
  });

  test('over a pipe that are wrong do not count', async () => {
    const toClient = new PassThrough();
    const entrant = new LinesEntrant(
      { ask: async () => ({}) },
      { input: toClient, output: new PassThrough() },
      'stateless',
    );
    const prepared = entrant.prepare();
    toClient.write('{"jsonrpc":"2.0","id":1000,"error":{"code":-32600,"message":"No"}}\n'.repeat(64));
    await expect(prepared).rejects.toThrow('wrong response to add 1000');
  });
});

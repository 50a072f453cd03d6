// What a client has not declared is not asked of it, whichever member asks, in whichever way, over whichever transport.
import { describe, expect } from '@jest/globals';
import type { Context, JsonObject } from '@decorum/core';
import { listen, MemorySessionStore } from '@decorum/http';

import { transportsOf } from '../support/http-transports.js';
import { overMemory, RawClient } from '../support/raw-client.js';
import { eachRevision, eachSessionRevision, inStateless, type Revision, STATELESS } from '../support/requirements.js';
import { HttpClient } from '../support/http-client.js';
import { ASKING, membersOf, returned, type Work } from './members.js';
import { ADA, ANSWERS, asked, CAPABILITIES, NAME } from './rounds.js';
import { serverOf, serverWith } from './servers.js';

const asking =
  (question: (context: Context) => Promise<unknown>): Work =>
  async (context) => {
    await question(context);
    return 'done';
  };

const HI: JsonObject = { messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }], maxTokens: 5 };
const sampling = (more: JsonObject): readonly Work[] => [
  asking((context) => context.sample({ ...HI, ...more } as never)),
  returned('sampling/createMessage', { ...HI, ...more }),
];
const USED = [
  { role: 'assistant', content: [{ type: 'tool_use', id: '1', name: 'add', input: {} }] },
  { role: 'user', content: [{ type: 'tool_result', toolUseId: '1', content: [] }] },
];
const FORM = { message: 'Who?', requestedSchema: NAME };
const VISIT = { message: 'Go', url: 'https://example.com/' };
const FORMS: readonly Work[] = [
  asking((context) => context.elicit(NAME, { message: 'Who?' })),
  asking((context) => context.confirm('Sure?')),
  returned('elicitation/create', FORM),
  returned('elicitation/create', { ...FORM, mode: 'form' }),
];
const VISITS: readonly Work[] = [
  asking((context) => context.elicitUrl(VISIT)),
  returned('elicitation/create', { ...VISIT, mode: 'url' }),
];

/** Values of a capability that declare nothing. */
const UNDECLARED: readonly unknown[] = [undefined, null, false, true, 0, '', 'yes', []];
const { roots, sampling: model, elicitation } = CAPABILITIES;

/** The ways that need a part of the capabilities, which is the value of `declare`. */
interface Case {
  readonly id: string;
  readonly what: string;
  readonly ways: readonly Work[];
  readonly declare: (value: unknown) => JsonObject;
}

const CASES: readonly Case[] = [
  {
    id: 'ROOT-01',
    what: 'roots',
    ways: [asking((context) => context.roots()), returned('roots/list')],
    declare: (value) => ({ sampling: model, elicitation, roots: value }),
  },
  {
    id: 'SAMP-01',
    what: 'sampling',
    ways: sampling({}),
    declare: (value) => ({ roots, elicitation, sampling: value }),
  },
  {
    id: 'SAMP-02',
    what: 'sampling with tools',
    ways: [{ tools: [] }, { toolChoice: { mode: 'none' } }, { messages: USED }].flatMap(sampling),
    declare: (value) => ({ ...CAPABILITIES, sampling: { context: {}, tools: value } }),
  },
  {
    id: 'SAMP-03',
    what: 'sampling with context',
    ways: [{ includeContext: 'thisServer' }, { includeContext: 'allServers' }].flatMap(sampling),
    declare: (value) => ({ ...CAPABILITIES, sampling: { tools: {}, context: value } }),
  },
  {
    id: 'ELIC-01',
    what: 'elicitation',
    ways: FORMS,
    declare: (value) => ({ roots, sampling: model, elicitation: value }),
  },
  {
    id: 'ELIC-02',
    what: 'a URL',
    ways: VISITS,
    declare: (value) => ({ ...CAPABILITIES, elicitation: { form: {}, url: value } }),
  },
  {
    id: 'ELIC-02',
    what: 'a form',
    ways: FORMS,
    declare: (value) => ({ ...CAPABILITIES, elicitation: { url: {}, form: value } }),
  },
];

/** How many questions a client gets from each member, and whether the request is complete in the end. */
async function countsOf(way: Work, options: { revision: Revision; capabilities: JsonObject }, transport = overMemory) {
  const client = await RawClient.connect(
    serverOf({ providers: [membersOf(way)] }),
    { ...options, answers: { ...ANSWERS } },
    transport,
  );
  const counts = [];
  for (const [method, params] of ASKING) {
    const before = client.questions.length;
    const result = await client.result(method, { ...params }).catch(() => ({ isError: true }));
    counts.push(client.questions.length - before, JSON.stringify(result).includes('"done"'));
  }
  await client.close();
  return counts;
}

const ONCE = ASKING.flatMap(() => [1, true]);
const NEVER = ASKING.flatMap(() => [0, false]);

describe('a question that the client has not declared', () => {
  for (const { id, what, ways, declare } of CASES) {
    eachRevision(id, `is sent by no kind of member over no transport: ${what}`, async (revision) => {
      for (const [at, way] of ways.entries()) {
        for (const [name, transport] of Object.entries(transportsOf(revision))) {
          if (name !== 'memory' && at > 1) continue;
          // one that asks, and one that returns its question
          const isEnd = at === 0 || at === ways.length - 1;
          const countsFor = (value: unknown) => countsOf(way, { revision, capabilities: declare(value) }, transport);
          expect([name, await countsFor({})]).toEqual([name, ONCE]);
          for (const value of name === 'memory' && isEnd ? UNDECLARED : [undefined]) {
            expect([name, value, String(way), await countsFor(value)]).toEqual([name, value, String(way), NEVER]);
          }
        }
      }
    });
  }

  eachSessionRevision(['ELIC-01', 'SAMP-01', 'ROOT-01'], 'is not sent by another process either', async (revision) => {
    const kindOf = (error: unknown) => (error as { kind?: string }).kind;
    const server = () =>
      serverWith({
        ask: async (context) => {
          const refused: unknown[] = [await context.roots().catch(kindOf)];
          refused.push(await context.sample({ messages: 'Hi', maxTokens: 5 }).catch(kindOf));
          return JSON.stringify([...refused, await context.confirm('Sure?')]);
        },
      });
    const sessionStore = new MemorySessionStore();
    const nodes = await Promise.all([server(), server()].map((each) => listen(each, { port: 0, sessionStore })));
    try {
      // it declares elicitation only
      const client = await HttpClient.open(nodes[0]!.url, revision);
      const moved = client.at(nodes[1]!.url);
      const reader = await moved.stream(1, 'ask');
      const { message } = await reader.message();
      expect(message?.method).toBe('elicitation/create');
      await moved.post({ jsonrpc: '2.0', id: message?.id, result: { action: 'accept' } });
      const text = JSON.stringify(['missing-capability', 'missing-capability', true]);
      expect((await reader.message()).message).toMatchObject({ id: 1, result: { content: [{ text }] } });
    } finally {
      await Promise.all(nodes.map((node) => node.close()));
    }
  });
});

describe('the capabilities of a request', () => {
  const twice: Work = async (context) => {
    const { action } = await context.elicit(NAME, { message: 'Who?' });
    return `${action} ${(await context.roots()).length} done`;
  };

  inStateless('MRTR-05', 'are those of its own round, whatever an earlier one has declared', async () => {
    for (const transport of Object.values(transportsOf(STATELESS))) {
      const server = serverOf({ providers: [membersOf(twice)] });
      const connect = (capabilities: JsonObject) =>
        RawClient.connect(server, { revision: STATELESS, capabilities }, transport);
      const able = await connect({ elicitation: {}, roots: {} });
      const partial = await connect({ elicitation: {} });
      for (const [method, params] of ASKING) {
        const { requestState } = asked((await able.request(method, params)).result);
        const retry = { ...params, requestState, inputResponses: { '#1': ADA } };
        const { error } = await partial.request(method, retry);
        expect([method, error]).toMatchObject([
          method,
          { code: -32021, data: { requiredCapabilities: { roots: {} } } },
        ]);
        expect(asked((await able.request(method, retry)).result).inputRequests).toEqual({
          '#2': { method: 'roots/list', params: {} },
        });
      }
      await able.close();
      await partial.close();
    }
  });

  inStateless('MRTR-05', 'fail every kind of request that needs more, with what it needs', async () => {
    const needs: readonly (readonly [declared: JsonObject, ways: readonly Work[], required: JsonObject])[] = [
      [{ sampling: {} }, [asking((context) => context.roots()), returned('roots/list')], { roots: {} }],
      [{ roots: {} }, sampling({}), { sampling: {} }],
      [{ sampling: { context: {} } }, sampling({ tools: [] }), { sampling: { tools: {} } }],
      [
        { sampling: {} },
        sampling({ tools: [], includeContext: 'allServers' }),
        { sampling: { tools: {}, context: {} } },
      ],
      [{ sampling: {} }, FORMS, { elicitation: {} }],
      [{ elicitation: { url: {} } }, FORMS, { elicitation: { form: {} } }],
      [
        { elicitation: {} },
        [...VISITS, asking((context) => context.requireUrl({ ...VISIT }))],
        { elicitation: { url: {} } },
      ],
    ];
    for (const [capabilities, ways, requiredCapabilities] of needs) {
      for (const way of ways) {
        const server = serverOf({ providers: [membersOf(way)] });
        const client = await RawClient.connect(server, { revision: STATELESS, capabilities });
        for (const [method, params] of ASKING) {
          const error = await client.error(method, params);
          expect([method, error.code, error.data]).toEqual([method, -32021, { requiredCapabilities }]);
        }
      }
    }
  });
});

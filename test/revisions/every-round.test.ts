// Requests with several rounds: whichever member asks, in each of its rounds, with and without plugins around it.
import { describe, expect, jest } from '@jest/globals';
import {
  type Context,
  type JsonObject,
  type McpServerOptions,
  MemorySingleUse,
  needInput,
  NoInput,
  type SingleUse,
} from '@decorum/core';
import { definePlugin } from '@decorum/core/plugin';

import { overHttp } from '../support/http-transports.js';
import { overMemory, type RawClient } from '../support/raw-client.js';
import { inStateless } from '../support/requirements.js';
import { ASKING, membersOf, type Work } from './members.js';
import { ADA, asked, connect, HOME, INVALID, NAME, SAID, SECRET } from './rounds.js';
import { serverOf } from './servers.js';

const askAll: Work = async (context) => {
  const { action } = await context.elicit(NAME, { message: 'Who?' });
  const { text } = await context.sample({ messages: 'Hi', maxTokens: 5 });
  return `${action} ${text} ${(await context.roots()).length}`;
};
/** The answers of `askAll`, in order. */
const GIVEN = [ADA, SAID, HOME];
const DONE = 'accept Ho 1';

/** A plugin that wraps requests and questions and changes nothing. */
const onlooker = definePlugin(() => ({
  name: 'onlooker',
  observe: async (_request, run) => {
    await run();
  },
  ask: async (_question, run) => await run(),
}));

const SETUPS: readonly Partial<McpServerOptions>[] = [{}, { plugins: [onlooker()] }];

interface Member {
  readonly client: RawClient;
  /** How often the member has run. */
  readonly desk: { ran: number };
  readonly method: string;
  /** Sends the request, with the members of a retry. */
  readonly send: (retry?: JsonObject, by?: RawClient, id?: string | number) => ReturnType<RawClient['request']>;
}

/** Runs a test for each kind of member, with and without plugins. */
async function eachMember(
  test: (member: Member) => Promise<void>,
  {
    way = askAll,
    transport = overMemory,
    ...options
  }: Partial<McpServerOptions> & { way?: Work; transport?: typeof overMemory } = {},
): Promise<void> {
  for (const setup of SETUPS) {
    for (const [method, params] of ASKING) {
      const desk = { ran: 0 };
      const work: Work = (context, input) => ((desk.ran += 1), way(context, input));
      const server = serverOf({ providers: [membersOf(work)], secret: SECRET, ...setup, ...options });
      const client = await connect(server, {}, transport);
      const send: Member['send'] = async (retry = {}, by = client, id?: string | number) =>
        await by.request(method, { ...params, ...retry }, ...(id === undefined ? [] : [id]));
      await test({ client, desk, method, send });
      await client.close();
    }
  }
}

/** The retry that answers all questions of a result. */
function retryOf(result: JsonObject | undefined, answer: unknown): JsonObject {
  const { inputRequests, requestState } = asked(result);
  return { requestState, inputResponses: Object.fromEntries(Object.keys(inputRequests).map((key) => [key, answer])) };
}

/** Goes to each round in turn, and runs a step with the questions of the round. At the end, the request is complete. */
async function eachRound(
  { send }: Pick<Member, 'send'>,
  step: (result: JsonObject, given: unknown) => Promise<void>,
): Promise<void> {
  let { result } = await send();
  for (const given of GIVEN) {
    asked(result);
    await step(result as JsonObject, given);
    ({ result } = await send(retryOf(result, given)));
  }
  expect(result).toMatchObject({ resultType: 'complete' });
  expect(result).not.toHaveProperty('inputRequests');
  expect(JSON.stringify(result)).toContain(DONE);
}

describe('each round of each kind of request', () => {
  inStateless(['MRTR-01', 'RPC-24'], 'has its questions in its result, and sends nothing else', async () => {
    for (const transport of [overMemory, overHttp]) {
      await eachMember(
        async ({ send, client }) => {
          const methods: unknown[] = [];
          await eachRound({ send }, async (result) => {
            methods.push(...Object.values(asked(result).inputRequests).map(({ method }) => method));
          });
          expect(methods).toEqual(['elicitation/create', 'sampling/createMessage', 'roots/list']);
          expect(client.received.map((message) => Object.keys(message).join())).toEqual(
            Array.from({ length: 4 }, () => 'jsonrpc,id,result'),
          );
        },
        { transport },
      );
    }
  });

  inStateless('MRTR-03', 'has a question and a state, and one without both is an error', async () => {
    await eachMember(async (member) => {
      await eachRound(member, async (result) => {
        expect(Object.keys(asked(result).inputRequests)).toHaveLength(1);
        expect(asked(result).requestState).toMatch(/^[\w-]{64,}$/);
      });
    });
    for (const state of [undefined, null, 0, { a: 1 }]) {
      const first: Work = () => needInput({}, state);
      const second: Work = (context) =>
        context.answers ? needInput({}, state) : needInput({ a: { method: 'roots/list' } });
      for (const [way, rounds] of [
        [first, 0],
        [second, 1],
      ] as const) {
        await eachMember(
          async ({ send, method }) => {
            let answer = await send();
            if (rounds === 1) answer = await send(retryOf(answer.result, HOME));
            const { result, error } = answer;
            expect([method, result?.['isError'] ?? error?.code]).toEqual([
              method,
              method === 'tools/call' ? true : -32603,
            ]);
            expect(JSON.stringify(answer)).not.toMatch(/input_required|inputRequests|requestState/);
          },
          { way },
        );
      }
    }
  });

  inStateless('MRTR-06', 'takes bare results only', async () => {
    await eachMember(async (member) => {
      await eachRound(member, async (result, given) => {
        const [request] = Object.values(asked(result).inputRequests);
        for (const wrapped of [
          { result: given },
          { method: request?.method, result: given },
          { response: given },
          [given],
        ]) {
          const again = await member.send(retryOf(result, wrapped));
          expect(asked(again.result).inputRequests).toEqual(asked(result).inputRequests);
        }
      });
    });
  });

  inStateless('MRTR-13', 'rejects answers that are not an object, with and without a state', async () => {
    const odd = ['', 'x', 0, 7, null, true, false, [], [ADA]];
    await eachMember(async (member) => {
      const { method, send, desk } = member;
      await eachRound(member, async (result) => {
        const { ran } = desk;
        for (const inputResponses of odd) {
          for (const state of [{ requestState: result['requestState'] }, {}]) {
            const answer = await send({ ...state, inputResponses });
            expect([method, inputResponses, answer]).toMatchObject([method, inputResponses, INVALID]);
          }
        }
        expect(desk.ran).toBe(ran);
      });
    });
    // even if nothing would be asked
    await eachMember(
      async ({ send, desk }) => {
        for (const inputResponses of odd) expect(await send({ inputResponses })).toMatchObject(INVALID);
        expect(desk.ran).toBe(0);
      },
      { way: () => 'done' },
    );
  });

  inStateless('MRTR-14', 'ignores unknown keys, and does not tell its handler', async () => {
    const more = { '#0': ADA, '#01': ADA, ' #1': ADA, '#9': ADA, own: SAID, toString: HOME, '': ADA, a: null, b: 7 };
    await eachMember(async (member) => {
      await eachRound(member, async (result, given) => {
        const { requestState, inputRequests } = asked(result);
        const again = await member.send({ requestState, inputResponses: more });
        expect(asked(again.result).inputRequests).toEqual(inputRequests);
        const { result: next } = await member.send({
          requestState,
          inputResponses: { ...more, ...(retryOf(result, given)['inputResponses'] as object) },
        });
        expect(JSON.stringify(next?.['inputRequests'])).not.toBe(JSON.stringify(inputRequests));
      });
    });
    const seen: unknown[] = [];
    await eachMember(
      async ({ send }) => {
        const { requestState } = asked((await send()).result);
        await send({ requestState, inputResponses: { ...more, where: HOME } });
        expect(seen.pop()).toEqual({ where: HOME });
      },
      {
        way: (context) => {
          if (!context.answers) return needInput({ where: { method: 'roots/list' } });
          seen.push(context.answers);
          return 'done';
        },
      },
    );
  });

  inStateless(['MRTR-15', 'ROOT-04'], 'asks again for an answer that is missing, and for no other', async () => {
    await eachMember(async (member) => {
      await eachRound(member, async (result) => {
        const { requestState, inputRequests } = asked(result);
        const [key = ''] = Object.keys(inputRequests);
        const missing = [undefined, {}, ...[undefined, null, 0, '', 'x', true, [], {}].map((odd) => ({ [key]: odd }))];
        for (const inputResponses of missing) {
          const again = await member.send({ requestState, ...(inputResponses && { inputResponses }) });
          expect([inputResponses, asked(again.result).inputRequests]).toEqual([inputResponses, inputRequests]);
        }
      });
    });
    const all: Work = async (context) =>
      (
        await Promise.all([
          context.elicit(NAME, { message: 'Who?', key: 'who' }),
          context.sample({ messages: 'Hi', maxTokens: 5, key: 'model' }),
          context.roots({ key: 'where' }),
        ])
      ).length;
    const answers: JsonObject = { who: ADA, model: SAID, where: HOME };
    await eachMember(
      async ({ send }) => {
        const { requestState } = asked((await send()).result);
        for (const missing of Object.keys(answers)) {
          const inputResponses = { ...answers, [missing]: undefined };
          const next = asked((await send({ requestState, inputResponses })).result);
          expect(Object.keys(next.inputRequests)).toEqual([missing]);
          const { result } = await send({
            requestState: next.requestState,
            inputResponses: { [missing]: answers[missing] },
          });
          expect(JSON.stringify(result)).toContain('complete');
        }
      },
      { way: async (context, input) => String(await all(context, input)) },
    );
  });

  inStateless('MRTR-16', 'may have any id, and come from any connection and to any process', async () => {
    for (const setup of SETUPS) {
      for (const [method, params] of ASKING) {
        const nodes = Array.from({ length: 4 }, () =>
          serverOf({ providers: [membersOf(askAll)], secret: SECRET, ...setup }),
        );
        const transports = [overMemory, overHttp, overMemory, overHttp];
        let retry: JsonObject = {};
        let last: JsonObject | undefined;
        for (const [index, id] of ['a', 0, 'a', -1].entries()) {
          const client = await connect(nodes[index]!, {}, transports[index]);
          const answer = await client.request(method, { ...params, ...retry }, id);
          await client.close();
          last = answer.result;
          if (index < 3) retry = retryOf(last, GIVEN[index]);
        }
        expect([method, JSON.stringify(last)]).toEqual([method, expect.stringContaining(DONE)]);
      }
    }
  });
});

describe('the state of each round of each kind of request', () => {
  const ODD = ['', ' ', '{}', 'A'.repeat(80), 0, 7, true, null, [], {}];
  const forgeriesOf = (state: string): readonly unknown[] => [
    ...ODD,
    [state],
    { state },
    state.slice(1),
    state.slice(0, -1),
    state.slice(0, 43),
    `${state}A`,
    `${state.startsWith('A') ? 'B' : 'A'}${state.slice(1)}`,
    `${state.slice(0, -4)}${state.endsWith('AAAA') ? 'BBBB' : 'AAAA'}`,
    state.toLowerCase(),
    Buffer.from(state, 'base64url').reverse().toString('base64url'),
  ];

  inStateless(['MRTR-07', 'MRTR-08'], 'is rejected before anything runs if it is forged', async () => {
    await eachMember(async (member) => {
      const { method, send, desk } = member;
      await eachRound(member, async (result, given) => {
        const { ran } = desk;
        for (const requestState of forgeriesOf(asked(result).requestState)) {
          for (const retry of [retryOf(result, given), {}]) {
            const answer = await send({ ...retry, requestState });
            expect([method, requestState, answer]).toMatchObject([method, requestState, INVALID]);
          }
        }
        expect(desk.ran).toBe(ran);
      });
    });
    // even if nothing would be asked
    await eachMember(
      async ({ send, desk }) => {
        for (const requestState of forgeriesOf('A'.repeat(80)))
          expect(await send({ requestState })).toMatchObject(INVALID);
        expect(desk.ran).toBe(0);
      },
      { way: () => 'done' },
    );
  });

  inStateless(['MRTR-09', 'SEC-10'], 'expires in its own time, whether the retry has answers or not', async () => {
    await eachMember(
      async (member) => {
        const start = Date.now();
        const now = jest.spyOn(Date, 'now').mockReturnValue(start);
        try {
          let time = start;
          await eachRound(member, async (result, given) => {
            const { requestState } = asked(result);
            now.mockReturnValue(time + 1001);
            for (const retry of [retryOf(result, given), { requestState }]) {
              expect(await member.send(retry)).toMatchObject(INVALID);
            }
            // each round has the full time
            time += 999;
            now.mockReturnValue(time);
          });
        } finally {
          now.mockRestore();
        }
      },
      { requestStateTtlMs: 1000 },
    );
  });

  inStateless(['MRTR-09', 'SEC-09'], 'is of no use for another request or another user', async () => {
    const desk = { ran: 0 };
    const work: Work = (context, input) => ((desk.ran += 1), askAll(context, input));
    const server = serverOf({ providers: [membersOf(work)], secret: SECRET });
    server.addTool(
      { name: 'other', input: NoInput },
      (_input: NoInput, context: Context) => askAll(context, {}) as never,
    );
    const ada = await connect(server, { principal: { subject: 'ada' } });
    const strangers = ['bob', 'Ada', 'ada\u0301', 'ad', 'adaa', undefined].map((subject) =>
      connect(server, subject === undefined ? {} : { principal: { subject } }),
    );
    const all = [
      ...ASKING,
      ['tools/call', { name: 'other' }],
      ['tools/call', { name: 'tool', arguments: { at: 1 } }],
      ['prompts/get', { name: 'prompt', arguments: { at: '1' } }],
      ['resources/read', { uri: 'docs://b' }],
    ] as const;
    for (const [method, params] of ASKING) {
      const { result } = await ada.request(method, params);
      const { ran } = desk;
      const retry = retryOf(result, ADA);
      for (const [otherMethod, others] of all) {
        if (method === otherMethod && params === others) continue;
        const answer = await ada.request(otherMethod, { ...others, ...retry });
        expect([method, params, others, answer]).toMatchObject([method, params, others, INVALID]);
      }
      for (const stranger of await Promise.all(strangers))
        expect(await stranger.request(method, { ...params, ...retry })).toMatchObject(INVALID);
      expect(desk.ran).toBe(ran);
      asked((await ada.request(method, { ...params, ...retry })).result);
    }
  });

  /** Answers late, like one that is shared over a network. */
  class Late implements SingleUse {
    private readonly store = new MemorySingleUse();

    async claim(id: string, ttlMs: number): Promise<boolean> {
      await new Promise((resolve) => setImmediate(resolve));
      return this.store.claim(id, ttlMs);
    }
  }

  inStateless('MRTR-10', 'is valid once, whenever the store answers', async () => {
    for (const store of [new MemorySingleUse(), new Late()]) {
      await eachMember(
        async (member) => {
          const { send, desk } = member;
          await eachRound(member, async (result, given) => {
            // a state that belongs to a branch of its own
            const spare = asked((await send()).result);
            expect(spare.requestState).not.toBe(result['requestState']);
            const { ran } = desk;
            const retry = retryOf(spare as unknown as JsonObject, ADA);
            const answers = await Promise.all([send(retry), send(retry), send(retry)]);
            expect(answers.filter(({ error }) => error?.code === -32602)).toHaveLength(2);
            for (const more of [
              retry,
              { ...retry, inputResponses: undefined },
              { ...retry, inputResponses: { a: given } },
            ]) {
              expect(await send(more)).toMatchObject(INVALID);
            }
            expect(desk.ran).toBe(ran + 1);
          });
        },
        { singleUse: store },
      );
    }
  });

  inStateless('MRTR-10', 'is not accepted if the store fails', async () => {
    const failing: readonly SingleUse[] = [
      { claim: () => Promise.reject(new Error('no connection')) },
      {
        claim: () => {
          throw new Error('no connection');
        },
      },
      { claim: async () => false },
      { claim: () => false },
    ];
    for (const singleUse of failing) {
      await eachMember(
        async ({ send, desk }) => {
          const { result } = await send();
          const answer = await send(retryOf(result, ADA));
          expect(answer.result?.['isError'] ?? answer.error?.code).toEqual(expect.anything());
          expect(answer.result?.['resultType']).not.toBe('input_required');
          expect(desk.ran).toBe(1);
        },
        { singleUse },
      );
    }
  });
});

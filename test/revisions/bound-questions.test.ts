// Questions belong to their wording, their request and their user, whichever method asks them.
import { describe, expect } from '@jest/globals';
import { type Context, type JsonObject } from '@decorum/core';

import { overHttp } from '../support/http-transports.js';
import { overMemory, type RawClient, type RawTransport, textOf } from '../support/raw-client.js';
import { inStateless } from '../support/requirements.js';
import { ASKING, membersOf, returned, type Work } from './members.js';
import { ADA, ANSWERS, asked, connect, NAME } from './rounds.js';
import { serverOf, serverWith } from './servers.js';

type Ask = (context: Context, question: string) => Promise<{ action: string } | boolean>;

/** A server whose members ask the same questions, which may change between rounds. */
function deskThat(ask: Ask = (context, message) => context.elicit(NAME, { message })) {
  const desk = { ask, questions: ['Pay 5?', 'Are you sure?'], done: [] as string[] };
  const work = async (context: Context) => {
    for (const question of desk.questions) await desk.ask(context, question);
    desk.done.push(desk.questions.join(' '));
    return 'done';
  };
  return { desk, server: serverOf({ providers: [membersOf(work)] }) };
}

type Request = (typeof ASKING)[number];

const TRANSPORTS: readonly RawTransport[] = [overMemory, overHttp];

/** Sends a request. With the result of an earlier round, it answers the questions of that round. */
async function round(client: RawClient, [method, params]: Request, earlier?: JsonObject) {
  if (earlier === undefined) return await client.request(method, params);
  const { inputRequests, requestState } = asked(earlier);
  const inputResponses = Object.fromEntries(Object.keys(inputRequests).map((key) => [key, ADA]));
  return await client.request(method, { ...params, requestState, inputResponses });
}

/** The questions in a result. */
const questionsIn = (result: JsonObject | undefined) => JSON.stringify(Object.values(asked(result).inputRequests));

describe('a question', () => {
  const form = (limit: number) =>
    ({ type: 'object', properties: { limit: { type: 'number', maximum: limit } } }) as const;
  const WAYS: readonly Ask[] = [
    (context, message) => context.elicit(NAME, { message }),
    (context, message) => context.elicit(NAME, { message, key: message.slice(0, 3) }),
    (context, text) => context.elicit(form(Number(/\d+/.exec(text)?.[0] ?? 1)), { message: 'How much?' }),
  ];

  inStateless('MRTR-15', 'that has changed since an earlier round is asked again, however it is known', async () => {
    for (const ask of WAYS) {
      for (const transport of TRANSPORTS) {
        for (const request of ASKING) {
          const { desk, server } = deskThat(ask);
          const client = await connect(server, {}, transport);
          const { result: first } = await round(client, request);
          const { result: second } = await round(client, request, first);
          expect(questionsIn(second)).not.toContain('5');
          desk.questions[0] = 'Pay 5000?';
          // the yes to "Pay 5?" is none to "Pay 5000?", whether it was given now or in an earlier round
          for (const old of [first, second]) {
            const { result } = await round(client, request, old);
            expect(questionsIn(result)).toContain('5000');
          }
          expect(desk.done).toEqual([]);
          // only the answer to the new question counts
          let { result } = await round(client, request, second);
          while (result?.['resultType'] === 'input_required') ({ result } = await round(client, request, result));
          desk.questions[0] = 'Pay 5?';
          expect((await round(client, request, second)).result).toMatchObject({ resultType: 'complete' });
          expect(desk.done).toEqual(['Pay 5000? Are you sure?', 'Pay 5? Are you sure?']);
        }
      }
    }
  });

  inStateless('MRTR-15', 'that is asked of another party is asked again, even with the same key', async () => {
    for (const request of ASKING) {
      const { desk, server } = deskThat();
      desk.ask = (context, message) => context.elicit(NAME, { message, key: message });
      const client = await connect(server);
      const { result: first } = await round(client, request);
      const { result: second } = await round(client, request, first);
      desk.ask = async (context, message) => ({
        action: (await context.sample({ messages: message, maxTokens: 5, key: message })).text,
      });
      for (const old of [first, second]) {
        const { result } = await round(client, request, old);
        expect(asked(result).inputRequests).toMatchObject({ 'Pay 5?': { method: 'sampling/createMessage' } });
      }
      expect(desk.done).toEqual([]);
    }
  });
});

describe('a request of each kind', () => {
  const model: Ask = async (context, messages) => ({ action: (await context.sample({ messages, maxTokens: 5 })).text });
  const ways: Readonly<Record<string, readonly [method: string, ask: Ask]>> = {
    form: ['elicitation/create', (context, message) => context.elicit(NAME, { message })],
    confirmation: ['elicitation/create', (context, message) => context.confirm(message)],
    visit: ['elicitation/create', (context, message) => context.elicitUrl({ message, url: 'https://example.com' })],
    sample: ['sampling/createMessage', model],
    roots: ['roots/list', async (context, key) => (await context.roots({ key })).length > 0],
  };
  inStateless(['TOOL-30', 'PROMPT-14', 'RES-23'], 'may ask in every way, several times, and completes', async () => {
    for (const transport of TRANSPORTS) {
      for (const [way, [asks, ask]] of Object.entries(ways)) {
        for (const [method, params] of ASKING) {
          const { desk, server } = deskThat(ask);
          const client = await connect(server, { answers: ANSWERS }, transport);
          expect(await client.result(method, params)).toMatchObject({ resultType: 'complete' });
          expect([way, client.questions.map((question) => question.method)]).toEqual([way, [asks, asks]]);
          const types = client.received.map(({ result }) => result?.['resultType']);
          expect(types).toEqual(['input_required', 'input_required', 'complete']);
          expect(desk.done).toHaveLength(1);
        }
      }
    }
  });
});

describe('a question with all its options', () => {
  const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: 'Hi' } }];
  const model = {
    maxTokens: 5,
    systemPrompt: 'Be brief.',
    temperature: 0,
    stopSequences: ['.'],
    metadata: { a: 1 },
    modelPreferences: { costPriority: 1 },
    includeContext: 'none' as const,
  };
  const own = { key: 'own', timeoutMs: 1 };
  const options = { ...own, acceptUnsolicited: true };
  const visit = { message: 'Please', url: 'https://example.com/' };
  const WAYS: Readonly<Record<string, readonly Work[]>> = {
    'elicitation/create': [
      (context) => context.elicit(NAME, { message: 'Who?', ...options }),
      (context) => context.confirm('Sure?', own),
      (context) => context.elicitUrl({ ...visit, ...options }),
      (context) => context.requireUrl({ ...visit, ...options, url: () => 'https://example.com/' }).then(() => 'there'),
      returned('elicitation/create', { mode: 'url', ...visit, elicitationId: 'own' }),
      returned('elicitation/create', { message: 'Who?', requestedSchema: NAME }),
    ],
    'sampling/createMessage': [
      (context) => context.sample({ messages, ...model, ...options }),
      (context) => context.sample({ messages: 'Hi', ...model }),
      returned('sampling/createMessage', { messages, ...model }),
    ],
    'roots/list': [(context) => context.roots(options), returned('roots/list')],
  };
  inStateless(
    ['MRTR-01', 'SAMP-13', 'ROOT-06', 'ELIC-12'],
    'is in the result and nowhere else, in the form of the revision',
    async () => {
      for (const transport of TRANSPORTS) {
        for (const [method, all] of Object.entries(WAYS)) {
          for (const way of all) {
            const client = await connect(serverWith({ ask: way }), { answers: ANSWERS }, transport);
            expect(await client.call('ask')).toMatchObject({ resultType: 'complete' });
            expect(client.questions.map((question) => question.method)).toEqual([method]);
            const { params = {} } = client.questions[0] ?? {};
            expect(params).not.toHaveProperty('elicitationId');
            if (params['mode'] === 'url') expect(Object.keys(params).sort()).toEqual(['message', 'mode', 'url']);
            for (const message of client.received) expect(Object.keys(message)).toEqual(['jsonrpc', 'id', 'result']);
          }
        }
      }
    },
  );

  inStateless('MRTR-20', 'is answered by a refusal too, which counts in every later round', async () => {
    for (const action of ['decline', 'cancel']) {
      const seen: unknown[] = [];
      const server = serverWith({
        async ask(context) {
          const answers = [
            await context.elicit(NAME, { message: 'Who?' }),
            await context.confirm('Sure?'),
            await context.elicitUrl({ message: 'Please', url: 'https://example.com/' }),
            await context.requireUrl({ message: 'Go', url: 'https://example.com/' }).catch(() => 'refused'),
          ];
          seen.push(answers);
          return 'done';
        },
      });
      const client = await connect(server, { answers: { 'elicitation/create': () => ({ result: { action } }) } });
      expect(textOf(await client.call('ask'))).toBe('done');
      // also where the handler swallows what interrupts it
      expect(seen.at(-1)).toEqual([{ action }, false, { action }, 'refused']);
      expect(client.questions).toHaveLength(4);
    }
  });
});

// Questions belong to their wording, their request and their user, whichever method asks them.
import { describe, expect } from '@jest/globals';
import {
  type Context,
  type InputRequest,
  type JsonObject,
  MemorySingleUse,
  needInput,
  NoInput,
  Prompt,
  Resource,
  Tool,
  toolResult,
} from '@decorum/core';

import { json, serve } from '../../packages/http/test/fixture.js';
import { overHttp } from '../support/http-transports.js';
import { overMemory, RawClient, type RawTransport, textOf } from '../support/raw-client.js';
import { eachRevision, inStateless } from '../support/requirements.js';
import { HttpClient, SseClient } from './http-client.js';
import { ADA, ANSWERS, asked, connect, INVALID, NAME } from './rounds.js';
import { serverOf, serverWith } from './servers.js';

type Ask = (context: Context, question: string) => Promise<{ action: string } | boolean>;

/** One member of each kind that may ask. All ask the same questions. */
class Desk {
  questions = ['Pay 5?', 'Are you sure?'];
  readonly done: string[] = [];
  ask: Ask = (context, message) => context.elicit(NAME, { message });

  private async askAll(context: Context): Promise<string> {
    for (const question of this.questions) await this.ask(context, question);
    this.done.push(this.questions.join(' '));
    return 'done';
  }

  @Tool({ name: 'desk' })
  tool(_input: NoInput, context: Context) {
    return this.askAll(context);
  }

  @Prompt({ name: 'desk' })
  prompt(_input: NoInput, context: Context) {
    return this.askAll(context);
  }

  @Resource('docs://desk')
  resource(_input: NoInput, context: Context) {
    return this.askAll(context);
  }
}

/** The methods that may ask, with their parameters. */
const METHODS = [
  ['tools/call', { name: 'desk' }],
  ['prompts/get', { name: 'desk' }],
  ['resources/read', { uri: 'docs://desk' }],
] as const;
type Request = (typeof METHODS)[number];

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
  const WAYS: Readonly<Record<string, Ask>> = {
    'by its position': (context, message) => context.elicit(NAME, { message }),
    'by its key': (context, message) => context.elicit(NAME, { message, key: message.slice(0, 3) }),
    'by its form': (context, text) =>
      context.elicit(form(Number(/\d+/.exec(text)?.[0] ?? 1)), { message: 'How much?' }),
  };

  for (const [way, ask] of Object.entries(WAYS)) {
    inStateless('MRTR-15', `that is known ${way} and has changed since an earlier round is asked again`, async () => {
      for (const transport of TRANSPORTS) {
        for (const request of METHODS) {
          const desk = Object.assign(new Desk(), { ask });
          const client = await connect(serverOf({ providers: [desk] }), {}, transport);
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
    });
  }

  inStateless('MRTR-15', 'that is asked of another party is asked again, even with the same key', async () => {
    for (const request of METHODS) {
      const desk = new Desk();
      desk.ask = (context, message) => context.elicit(NAME, { message, key: message });
      const client = await connect(serverOf({ providers: [desk] }));
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
  for (const [index, id] of (['TOOL-30', 'PROMPT-14', 'RES-23'] as const).entries()) {
    inStateless(id, 'may ask in every way, several times, and is complete in the end', async () => {
      const [method, params] = METHODS[index] as Request;
      for (const transport of TRANSPORTS) {
        for (const [way, [asks, ask]] of Object.entries(ways)) {
          const desk = Object.assign(new Desk(), { ask });
          const client = await connect(serverOf({ providers: [desk] }), { answers: ANSWERS }, transport);
          expect(await client.result(method, { ...params })).toMatchObject({ resultType: 'complete' });
          expect([way, client.questions.map((question) => question.method)]).toEqual([way, [asks, asks]]);
          const types = client.received.map(({ result }) => result?.['resultType']);
          expect(types).toEqual(['input_required', 'input_required', 'complete']);
          expect(desk.done).toHaveLength(1);
        }
      }
    });
  }
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
  const returned = (request: InputRequest) => (context: Context) =>
    context.answers ? 'answered' : needInput({ own: request });
  const WAYS: Readonly<Record<string, readonly ((context: Context) => unknown)[]>> = {
    'elicitation/create': [
      (context) => context.elicit(NAME, { message: 'Who?', ...options }),
      (context) => context.confirm('Sure?', own),
      (context) => context.elicitUrl({ ...visit, ...options }),
      (context) => context.requireUrl({ ...visit, ...options, url: () => 'https://example.com/' }).then(() => 'there'),
      returned({ method: 'elicitation/create', params: { mode: 'url', ...visit, elicitationId: 'own' } }),
      returned({ method: 'elicitation/create', params: { message: 'Who?', requestedSchema: NAME } }),
    ],
    'sampling/createMessage': [
      (context) => context.sample({ messages, ...model, ...options }),
      (context) => context.sample({ messages: 'Hi', ...model }),
      returned({ method: 'sampling/createMessage', params: { messages, ...model } }),
    ],
    'roots/list': [(context) => context.roots(options), returned({ method: 'roots/list' })],
  };
  for (const [id, methods] of [
    ['MRTR-01', Object.keys(WAYS)],
    ['SAMP-13', ['sampling/createMessage']],
    ['ROOT-06', ['roots/list']],
    ['ELIC-12', ['elicitation/create']],
  ] as const) {
    inStateless(id, 'is in the result and nowhere else, in the form of the revision', async () => {
      for (const transport of TRANSPORTS) {
        for (const method of methods) {
          for (const way of WAYS[method] ?? []) {
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
    });
  }

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

describe('several questions at once', () => {
  inStateless('MRTR-05', 'fail together, whichever of them the client does not support', async () => {
    const all: Readonly<Record<string, InputRequest>> = {
      roots: { method: 'roots/list' },
      sampling: {
        method: 'sampling/createMessage',
        params: { messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }], maxTokens: 5 },
      },
      elicitation: { method: 'elicitation/create', params: { message: 'Who?', requestedSchema: NAME } },
    };
    const names = Object.keys(all);
    for (const order of [names, [...names].reverse(), ['sampling', 'roots', 'elicitation']]) {
      const requests = Object.fromEntries(order.map((name) => [name, all[name] as InputRequest]));
      const server = serverWith({ ask: (context) => (context.answers ? 'answered' : needInput(requests)) });
      for (const missing of [undefined, ...names]) {
        const capabilities = Object.fromEntries(names.filter((name) => name !== missing).map((name) => [name, {}]));
        const client = await connect(server, { capabilities });
        const { result, error } = await client.request('tools/call', { name: 'ask' });
        if (missing === undefined) expect(Object.keys(asked(result).inputRequests)).toEqual(order);
        else
          expect([order, error]).toMatchObject([
            order,
            { code: -32021, data: { requiredCapabilities: { [missing]: {} } } },
          ]);
      }
    }
  });
});

describe('the type of a result', () => {
  inStateless('RPC-24', 'says whether it is one, whichever method asks', async () => {
    for (const transport of TRANSPORTS) {
      for (const request of METHODS) {
        const client = await connect(serverOf({ providers: [new Desk()] }), {}, transport);
        let { result } = await round(client, request);
        for (let turn = 0; turn < 2; turn += 1) {
          expect(result).toMatchObject({ resultType: 'input_required', inputRequests: {} });
          ({ result } = await round(client, request, result));
        }
        expect(result).toMatchObject({ resultType: 'complete' });
        expect(result).not.toHaveProperty('inputRequests');
      }
    }
  });

  inStateless('RPC-25', 'is no choice of a handler', async () => {
    const own = { resultType: 'task', 'example.com/resultType': 'task' };
    class Choosing {
      @Tool()
      tool() {
        return toolResult({ content: 'a', structuredContent: own, _meta: own });
      }

      @Prompt()
      prompt() {
        return { ...own, messages: [{ role: 'user', content: 'a' }], _meta: own };
      }

      @Resource('docs://a')
      resource() {
        return { ...own, contents: [{ uri: 'docs://a', text: 'a' }], _meta: own };
      }
    }
    for (const transport of TRANSPORTS) {
      const client = await connect(serverOf({ providers: [Choosing] }), {}, transport);
      for (const [method, params] of [
        ['tools/call', { name: 'tool' }],
        ['prompts/get', { name: 'prompt' }],
        ['resources/read', { uri: 'docs://a' }],
      ] as const) {
        expect([method, await client.result(method, { ...params })]).toMatchObject([
          method,
          { resultType: 'complete' },
        ]);
      }
    }
  });
});

describe('many rounds', () => {
  inStateless('MRTR-12', 'have each effect once, and remember what each returned', async () => {
    const steps = ['a', 'b', 'c', 'd', 'e'];
    for (const transport of TRANSPORTS) {
      const done: string[] = [];
      const server = serverWith({
        async many(context) {
          const returned: unknown[] = [];
          for (const step of steps) {
            returned.push(
              await context.once(step, () => (done.push(step), step === 'c' ? null : `${step}${done.length}`)),
            );
            await context.elicit(NAME, { message: step });
          }
          return JSON.stringify(returned);
        },
      });
      const answers = { 'elicitation/create': () => ({ result: ADA }) };
      const client = await connect(server, { answers }, transport);
      expect(textOf(await client.call('many'))).toBe('["a1","b2",null,"d4","e5"]');
      expect([done, client.questions.length]).toEqual([steps, 5]);
    }
  });
});

describe('the state of a request', () => {
  inStateless('MRTR-09', 'is valid for its user and its method only, whichever method asks', async () => {
    for (const transport of TRANSPORTS) {
      for (const request of METHODS) {
        const desk = new Desk();
        desk.questions.pop();
        const server = serverOf({ providers: [desk] });
        const ada = await connect(server, { principal: { subject: 'ada' } }, transport);
        const { result: state } = await round(ada, request);
        const strangers = ['bob', 'Ada', 'ADA', 'ada\u0301', 'ad', 'adaa', undefined];
        for (const subject of strangers) {
          // a header cannot have every subject
          if (transport === overHttp && subject !== undefined && !/^[\x21-\x7e]+$/.test(subject)) continue;
          const principal = subject === undefined ? {} : { principal: { subject } };
          const stranger = await connect(server, principal, transport);
          expect([subject, await round(stranger, request, state)]).toMatchObject([subject, INVALID]);
        }
        for (const other of METHODS.filter((each) => each !== request)) {
          expect(await round(ada, other, state)).toMatchObject(INVALID);
        }
        expect(desk.done).toEqual([]);
        expect((await round(ada, request, state)).result).toMatchObject({ resultType: 'complete' });
      }
    }
  });
});

describe('a state for single use', () => {
  inStateless('MRTR-10', 'is valid once, whichever method asks, and also if it leads to another question', async () => {
    for (const request of METHODS) {
      const desk = new Desk();
      const server = serverOf({ providers: [desk], singleUse: new MemorySingleUse() });
      const client = await connect(server);
      const { result: first } = await round(client, request);
      const { result: second } = await round(client, request, first);
      expect(await round(client, request, first)).toMatchObject(INVALID);
      expect((await round(client, request, second)).result).toMatchObject({ resultType: 'complete' });
      expect(await round(client, request, second)).toMatchObject(INVALID);
      expect(desk.done).toHaveLength(1);
    }
  });
});

describe('the user of a session', () => {
  const user = (subject: string, scopes = '') => ({ 'x-user': subject, 'x-scopes': scopes });

  /** A server whose users and scopes are in the headers. Paying needs a scope. */
  async function open() {
    const served = await serve({
      legacySse: true,
      principal: ({ headers }) => ({
        subject: String(headers['x-user']),
        scopes: String(headers['x-scopes'] ?? '').split(' '),
      }),
    });
    const paid: unknown[] = [];
    const access = (principal?: { scopes?: readonly string[] }) => principal?.scopes?.includes('pay') ?? false;
    served.server.addTool({ name: 'pay', access, input: NoInput }, (_input: NoInput, { principal }: Context) => {
      paid.push(principal?.scopes);
      return 'paid';
    });
    return { url: served.url, paid };
  }

  eachRevision('SEC-14', 'has the scopes of each request, not those of an earlier one', async (revision) => {
    const { url, paid } = await open();
    const client = await HttpClient.open(url, revision, user('ada', 'read'));
    const call = async (scopes: string) => {
      const { result, error } = await json(await client.call(1, 'pay', { headers: user('ada', scopes) }));
      return result?.content?.[0]?.text ?? error?.code;
    };
    const listed = async (scopes: string) =>
      (await (await client.post(client.buildMessage(2, 'tools/list'), user('ada', scopes))).text()).includes('"pay"');
    const told = [];
    for (const scopes of ['read', 'read pay', 'read', 'pay', '', 'PAY']) {
      told.push([scopes, await call(scopes), await listed(scopes)]);
    }
    expect(told).toEqual([
      ['read', -32602, false],
      ['read pay', 'paid', true],
      ['read', -32602, false],
      ['pay', 'paid', true],
      ['', -32602, false],
      ['PAY', -32602, false],
    ]);
    expect(paid).toEqual([['read', 'pay'], ['pay']]);
    if (revision !== '2024-11-05') return;
    const sse = await SseClient.open(new URL('/sse', url).href, user('ada', 'read'));
    for (const [scopes, expected] of [
      ['read', { error: { code: -32602 } }],
      ['pay', { result: { content: [{ text: 'paid' }] } }],
      ['read', { error: { code: -32602 } }],
    ] as const) {
      await sse.send(client.buildMessage(3, 'tools/call', { name: 'pay' }), user('ada', scopes));
      expect((await sse.reader.message()).message).toMatchObject(expected);
    }
  });

  eachRevision('SEC-14', 'is not another whose name differs in case only', async (revision) => {
    const { url, paid } = await open();
    const client = await HttpClient.open(url, revision, user('ada', 'pay'));
    for (const subject of ['Ada', 'ADA', 'adA']) {
      const response = await client.call(1, 'pay', { headers: user(subject, client.stateless ? '' : 'pay') });
      expect([subject, response.status]).toEqual([subject, client.stateless ? 200 : 404]);
      if (!client.stateless) expect((await client.get(user(subject, 'pay'))).status).toBe(404);
      if (!client.stateless) expect(await client.end(user(subject, 'pay'))).toBe(404);
    }
    expect(paid).toEqual([]);
    const { result } = await json(await client.call(2, 'pay'));
    expect(result?.content?.[0]?.text).toBe('paid');
  });
});

// What a stateless request says about itself, in every method and in every round.
import { describe, expect } from '@jest/globals';
import { type Context, type JsonObject, NoInput, Prompt, Resource } from '@decorum/core';

import { transportsOf } from '../support/http-transports.js';
import { type Message, RawClient } from '../support/raw-client.js';
import { inStateless, STATELESS } from '../support/requirements.js';
import { answerTo, asked, CAPABILITIES, declares, metaOf, PREFIX, VERSION } from '../support/stateless-post.js';
import { failing } from './failing.js';
import { serverOf } from './servers.js';
import { storyServer } from './story.js';

const revision = STATELESS;
const TRANSPORTS = Object.values(transportsOf(revision));
const SAMPLED = { role: 'assistant', model: 'm', content: { type: 'text', text: 'Ho' } };

const city = (how: string) => ({ city: how });

/** A request of each method that the server of `failing` has. */
const REQUESTS: readonly (readonly [method: string, params: JsonObject])[] = [
  ['server/discover', {}],
  ['tools/list', {}],
  ['tools/call', { name: 'fail', arguments: city('4711') }],
  ['prompts/list', {}],
  ['prompts/get', { name: 'pack', arguments: city('Oslo') }],
  ['resources/list', {}],
  ['resources/templates/list', {}],
  ['resources/read', { uri: 'docs://Oslo' }],
  [
    'completion/complete',
    { ref: { type: 'ref/prompt', name: 'pack' }, argument: { name: 'city', value: '' }, context: {} },
  ],
  ['subscriptions/listen', { notifications: {} }],
  ['x/y', {}],
  ['no/such', {}],
];

/** A valid request with a part of its envelope replaced. Undefined removes the part. */
function without(key: string, value: unknown, [method, params]: (typeof REQUESTS)[number]): Message {
  const { [key]: _removed, ...rest } = metaOf(asked(1, method));
  return {
    jsonrpc: '2.0',
    id: method,
    method,
    params: { ...params, _meta: { ...rest, ...(value !== undefined && { [key]: value }) } },
  };
}

describe('an incomplete envelope', () => {
  for (const id of ['META-18', 'META-19']) {
    inStateless(id, 'is rejected with 400, whatever the method', async () => {
      const server = failing();
      for (const request of REQUESTS) {
        for (const key of [VERSION, CAPABILITIES]) {
          for (const value of [undefined, null, 0, false, [], ...(key === VERSION ? [{}] : ['', '{}'])]) {
            const answer = await answerTo(server, without(key, value, request));
            const expected = [400, { id: request[0], error: { code: -32602 } }];
            expect([request[0], key, value, ...answer]).toMatchObject([request[0], key, value, ...expected]);
            expect(answer[1]).not.toHaveProperty('result');
          }
        }
      }
    });
  }
});

/** Members that ask in two rounds: first the model, then for the roots. */
class Asking {
  @Prompt()
  async prompt(_input: NoInput, context: Context) {
    return await twice(context);
  }

  @Resource('asking://fixed')
  async resource(_input: NoInput, context: Context) {
    return await twice(context);
  }
}

async function twice(context: Context): Promise<string> {
  const { text } = await context.sample({ messages: 'Hi', maxTokens: 1 });
  return `${text} ${(await context.roots()).length}`;
}

function askingServer() {
  const server = serverOf({ providers: [Asking] });
  server.addTool({ name: 'tool', input: NoInput }, (_input, context) => twice(context));
  return server;
}

const ASKING: readonly (readonly [method: string, params: JsonObject])[] = [
  ['tools/call', { name: 'tool' }],
  ['prompts/get', { name: 'prompt' }],
  ['resources/read', { uri: 'asking://fixed' }],
];

/** The params that answer the questions of a result. */
function answered({ result = {} }: Message, answer: JsonObject): JsonObject {
  const keys = Object.keys(result['inputRequests'] as object);
  return {
    inputResponses: Object.fromEntries(keys.map((key) => [key, answer])),
    requestState: result['requestState'],
  };
}

describe('a later round', () => {
  inStateless('META-21', 'asks only what its own request declares', async () => {
    for (const [method, params] of ASKING) {
      const server = askingServer();
      const round = (more: JsonObject, capabilities: JsonObject) =>
        answerTo(server, asked(1, method, { ...params, ...more }, declares(capabilities)));
      const [, first] = await round({}, { sampling: {}, roots: {} });
      expect(first).toMatchObject({ result: { resultType: 'input_required' } });
      const given = answered(first, SAMPLED);
      for (const capabilities of [{}, { sampling: {} }, { sampling: {}, roots: false }]) {
        const [status, { error, result }] = await round(given, capabilities);
        expect([method, status, error?.code, result]).toEqual([method, 400, -32021, undefined]);
        expect(error?.data).toMatchObject({ requiredCapabilities: expect.any(Object) });
      }
      const [status, second] = await round(given, { sampling: {}, roots: {} });
      expect([status, second]).toMatchObject([200, { result: { resultType: 'input_required' } }]);
      const [last, done] = await round(answered(second, { roots: [] }), { sampling: {}, roots: {} });
      expect([last, done]).toMatchObject([200, { result: { resultType: 'complete' } }]);
    }
  });

  for (const id of ['META-20', 'META-23']) {
    inStateless(id, 'needs no client info, nor the same one', async () => {
      for (const transport of TRANSPORTS) {
        const client = await RawClient.connect(askingServer(), { revision }, transport);
        const capabilities = declares({ sampling: {}, roots: {} });
        let last = 0;
        const round = async (infos: readonly unknown[], [method, params]: (typeof ASKING)[number]) => {
          const answers: Message[] = [];
          for (const info of infos) {
            last += 1;
            const who = info === undefined ? {} : { [`${PREFIX}clientInfo`]: info };
            void client.send(asked(last, method, params, { ...capabilities, ...who }));
            answers.push(await client.response(last));
          }
          return answers;
        };
        const INFOS = [{ name: 'a', version: '1' }, undefined, { name: 'b', version: '2', title: 'B' }, null, 'c', []];
        for (const [method, params] of ASKING) {
          for (const first of await round(INFOS.slice(0, 2), [method, params])) {
            expect(first).toMatchObject({ result: { resultType: 'input_required' } });
            for (const second of await round(INFOS, [method, { ...params, ...answered(first, SAMPLED) }])) {
              expect(second).toMatchObject({ result: { resultType: 'input_required' } });
              const more = { ...params, ...answered(second, { roots: [] }) };
              const [done] = await round([undefined], [method, more]);
              expect([method, JSON.stringify(done?.result)]).toEqual([method, expect.stringContaining('"Ho 0"')]);
            }
          }
        }
      }
    });
  }
});

describe('a subscription', () => {
  inStateless('META-20', 'needs no client info', async () => {
    for (const transport of TRANSPORTS) {
      const client = await RawClient.connect(storyServer(), { revision }, transport);
      void client.send(asked('all', 'subscriptions/listen', { notifications: {} }));
      const isAcknowledged = ({ method }: Message) => method === 'notifications/subscriptions/acknowledged';
      expect(metaOf(await client.find(isAcknowledged))?.[`${PREFIX}subscriptionId`]).toBe('all');
    }
  });

  inStateless('META-24', 'has its id, of the same type, in notifications of every kind, each time', async () => {
    const wanted = {
      toolsListChanged: true,
      promptsListChanged: true,
      resourcesListChanged: true,
      resourceSubscriptions: ['docs://a'],
    };
    for (const transport of TRANSPORTS) {
      const server = storyServer();
      const client = await RawClient.connect(server, { revision }, transport);
      const ids = [0, '0', '', 7, 'seven'];
      for (const [index, id] of ids.entries()) {
        void client.send(asked(id, 'subscriptions/listen', { notifications: wanted }));
        await client.at(index);
      }
      for (let time = 0; time < 2; time += 1) {
        const from = client.received.length;
        server.notify.toolsChanged();
        server.notify.promptsChanged();
        server.notify.resourcesChanged();
        server.notify.resourceUpdated('docs://a');
        await client.at(from + 4 * ids.length - 1);
        const told = new Map<string, unknown[]>();
        for (const message of client.received.slice(from)) {
          const method = String(message.method);
          told.set(method, [...(told.get(method) ?? []), metaOf(message)?.[`${PREFIX}subscriptionId`]]);
        }
        expect([...told.keys()].sort()).toEqual([
          'notifications/prompts/list_changed',
          'notifications/resources/list_changed',
          'notifications/resources/updated',
          'notifications/tools/list_changed',
        ]);
        for (const each of told.values()) expect(new Set(each)).toEqual(new Set(ids));
      }
    }
  });
});

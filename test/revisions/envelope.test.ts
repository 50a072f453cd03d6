// What a stateless request says about itself, in every method.
import { describe, expect } from '@jest/globals';
import { Completion, type JsonObject, NoInput, Prompt, rateLimit, Resource } from '@decorum/core';
import { IsString } from 'class-validator';

import { transportsOf } from '../support/http-transports.js';
import { type Message, RawClient } from '../support/raw-client.js';
import { inStateless, STATELESS } from '../support/requirements.js';
import { answerTo, asked, CAPABILITIES, declares, metaOf, PREFIX, VERSION } from '../support/stateless-post.js';
import { failing } from './failing.js';
import { ASKING, membersOf } from './members.js';
import { serverOf } from './servers.js';
import { storyServer } from './story.js';

const revision = STATELESS;
const TRANSPORTS = Object.values(transportsOf(revision));

const of = (city: string) => ({ city });

/** A request of each method that the server of `failing` has. */
const REQUESTS: readonly (readonly [method: string, params: JsonObject])[] = [
  ['server/discover', {}],
  ['tools/list', {}],
  ['tools/call', { name: 'fail', arguments: of('4711') }],
  ['prompts/list', {}],
  ['prompts/get', { name: 'pack', arguments: of('Oslo') }],
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
  inStateless(['META-18', 'META-19'], 'is rejected with 400, whatever the method', async () => {
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
});

class City {
  @IsString()
  city!: string;
}

/** One member of each kind, and nothing that asks who the client is. */
class Anyone {
  @Prompt()
  pack({ city }: City) {
    return city;
  }

  @Resource('docs://{city}')
  docs({ city }: City) {
    return city;
  }

  @Completion({ for: 'pack', argument: 'city' })
  cities() {
    return ['Oslo'];
  }
}

/** Requests for all methods, that a server with `Anyone` and a tool `who` can serve. */
const SERVED: readonly (readonly [method: string, params: JsonObject])[] = [
  ['server/discover', {}],
  ['tools/list', {}],
  ['tools/call', { name: 'who' }],
  ['prompts/list', {}],
  ['prompts/get', { name: 'pack', arguments: { city: 'Oslo' } }],
  ['resources/list', {}],
  ['resources/templates/list', {}],
  ['resources/read', { uri: 'docs://Oslo' }],
  ['completion/complete', { ref: { type: 'ref/prompt', name: 'pack' }, argument: { name: 'city', value: '' } }],
];

describe('the client info of a request', () => {
  inStateless(['META-20', 'META-23'], 'is optional, and makes no difference to the response', async () => {
    const infos = [
      undefined,
      { name: 'a', version: '1' },
      { name: 'claude-ai', version: '0.1' },
      { name: 7 },
      'nobody',
    ];
    const ran: unknown[] = [];
    for (const transport of TRANSPORTS) {
      const server = serverOf({ providers: [Anyone], instructions: 'Ask first.', title: 'Anyone' });
      server.addTool({ name: 'who', input: NoInput }, () => void ran.push('anyone'));
      for (const [method, params] of [...SERVED, ['tools/fly', {}] as const]) {
        const answers = [];
        for (const info of infos) {
          const client = await RawClient.connect(server, { revision }, transport);
          const message = asked(1, method, params, info === undefined ? {} : { [`${PREFIX}clientInfo`]: info });
          if (info === undefined) expect(metaOf(message)).not.toHaveProperty([`${PREFIX}clientInfo`]);
          void client.send(message);
          answers.push(await client.response(1));
        }
        expect(answers[0]).toHaveProperty(method === 'tools/fly' ? 'error' : 'result.resultType');
        for (const answer of answers) expect(answer).toEqual(answers[0]);
      }
    }
    expect(ran).toHaveLength(infos.length * TRANSPORTS.length);
  });

  inStateless('META-23', 'counts against the same limit for any client info', async () => {
    for (const transport of TRANSPORTS) {
      for (const principal of [undefined, { subject: 'ada' }]) {
        const keys: string[] = [];
        const interceptors = [rateLimit({ consume: async (key) => void keys.push(key) })];
        const server = serverOf({ providers: [Anyone], interceptors });
        server.addTool({ name: 'who', input: NoInput }, () => '');
        const counted = SERVED.filter(([method]) => /call|get|read|complete/.test(method));
        for (const info of [undefined, { name: 'a', version: '1' }, { name: 'b', version: '2', title: 'B' }]) {
          const client = await RawClient.connect(server, { revision, ...(principal && { principal }) }, transport);
          for (const [method, params] of counted) {
            void client.send(asked(method, method, params, info && { [`${PREFIX}clientInfo`]: info }));
            expect(await client.response(method)).toHaveProperty('result');
          }
        }
        expect([keys.length, new Set(keys).size]).toEqual([3 * 4, 1]);
      }
    }
  });
});

describe('a question', () => {
  inStateless('META-21', 'asks only what its own request declares', async () => {
    const server = serverOf({ providers: [membersOf(async (context) => String((await context.roots()).length))] });
    for (const [method, params] of ASKING) {
      const round = (more: JsonObject, capabilities: JsonObject) =>
        answerTo(server, asked(1, method, { ...params, ...more }, declares(capabilities)));
      for (const capabilities of [{}, { sampling: {} }, { roots: false }]) {
        const [status, { error, result }] = await round({}, capabilities);
        expect([method, status, error?.code, result]).toEqual([method, 400, -32021, undefined]);
        expect(error?.data).toEqual({ requiredCapabilities: { roots: {} } });
      }
      const [, first] = await round({}, { roots: {} });
      expect(first).toMatchObject({ result: { resultType: 'input_required' } });
    }
  });
});

describe('a subscription', () => {
  inStateless(
    ['META-20', 'META-24'],
    'needs no client info, and has its id, of the same type, in each notification',
    async () => {
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
    },
  );
});

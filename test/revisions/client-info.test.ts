// The client info of stateless requests: optional, and of no consequence.
import { describe, expect } from '@jest/globals';
import { Completion, type JsonObject, NoInput, Prompt, rateLimit, Resource } from '@decorum/core';
import { IsString } from 'class-validator';

import { transportsOf } from '../support/http-transports.js';
import { RawClient } from '../support/raw-client.js';
import { inStateless, STATELESS } from '../support/requirements.js';
import { asked, metaOf, PREFIX } from '../support/stateless-post.js';
import { serverOf } from './servers.js';

const RAW_TRANSPORTS = Object.values(transportsOf(STATELESS));

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

describe('a request without a session', () => {
  inStateless('META-20', 'need not have client info', async () => {
    const ran: unknown[] = [];
    for (const transport of RAW_TRANSPORTS) {
      const server = serverOf({ providers: [Anyone] });
      server.addTool({ name: 'who', input: NoInput }, (_input, { client }) => void ran.push(client.info));
      const client = await RawClient.connect(server, { revision: STATELESS }, transport);
      for (const [method, params] of SERVED) {
        const message = asked(method, method, params);
        expect(metaOf(message)).not.toHaveProperty([`${PREFIX}clientInfo`]);
        void client.send(message);
        expect([method, await client.response(method)]).toMatchObject([method, { result: { resultType: 'complete' } }]);
      }
    }
    expect(ran).toEqual([undefined, undefined, undefined]);
  });

  inStateless('META-23', 'is answered the same for any client info', async () => {
    const clients = [
      { name: 'a', version: '1' },
      { name: 'claude-ai', version: '0.1' },
      { name: 7 },
      'nobody',
      undefined,
    ];
    let runs = 0;
    for (const transport of RAW_TRANSPORTS) {
      const server = serverOf({ providers: [Anyone], instructions: 'Ask first.', title: 'Anyone' });
      server.addTool({ name: 'who', input: NoInput }, () => `run ${(runs += 1) && 'by anyone'}`);
      for (const [method, params] of [...SERVED, ['tools/fly', {}] as const]) {
        const answers = [];
        for (const info of clients) {
          const client = await RawClient.connect(server, { revision: STATELESS }, transport);
          void client.send(asked(1, method, params, info === undefined ? {} : { [`${PREFIX}clientInfo`]: info }));
          answers.push(await client.response(1));
        }
        expect(answers[0]).toHaveProperty(method === 'tools/fly' ? 'error' : 'result.resultType');
        for (const answer of answers) expect(answer).toEqual(answers[0]);
      }
    }
    expect(runs).toBe(clients.length * RAW_TRANSPORTS.length);
  });

  inStateless('META-23', 'counts against the same limit for any client info', async () => {
    for (const transport of RAW_TRANSPORTS) {
      for (const principal of [undefined, { subject: 'ada' }]) {
        const keys: string[] = [];
        const interceptors = [rateLimit({ consume: async (key) => void keys.push(key) })];
        const server = serverOf({ providers: [Anyone], interceptors });
        server.addTool({ name: 'who', input: NoInput }, () => '');
        const counted = SERVED.filter(([method]) => /call|get|read|complete/.test(method));
        for (const info of [undefined, { name: 'a', version: '1' }, { name: 'b', version: '2', title: 'B' }]) {
          const client = await RawClient.connect(
            server,
            { revision: STATELESS, ...(principal && { principal }) },
            transport,
          );
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

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { describe, expect } from '@jest/globals';
import { Completion, type Context, type JsonObject, Prompt, Resource, TicketError, Tool } from '@decorum/core';

import { transportsOf } from '../support/http-transports.js';
import { overStdio, RawClient, textOf } from '../support/raw-client.js';
import { eachRevision } from '../support/requirements.js';
import { deferred, Log, serverOf, serverWith } from './servers.js';

class Broken {
  @Tool()
  tool(): string {
    throw new Error('the database at 10.0.0.1 refused the password "hunter2"');
  }

  @Prompt()
  prompt(): string {
    return this.tool();
  }

  @Resource('docs://broken')
  resource(): string {
    return this.tool();
  }
}

describe('a failure', () => {
  eachRevision(
    'SEC-15',
    'is reported to the client without details and to the operator with all of them',
    async (revision) => {
      const log = new Log();
      const client = await RawClient.connect(serverOf({ providers: [Broken], logger: log }), { revision });
      const told = [
        await client.request('tools/call', { name: 'tool' }),
        await client.request('prompts/get', { name: 'prompt' }),
        await client.request('resources/read', { uri: 'docs://broken' }),
      ];
      expect(JSON.stringify(told)).not.toMatch(/10\.0\.0\.1|hunter2|\bat .+:\d+|\.[jt]s\b|node_modules/);
      for (const [index, answer] of told.entries()) {
        const [reference] = /reference (\w+)/.exec(JSON.stringify(answer)) ?? [];
        expect(reference).toBeDefined();
        const { details } = log.entries[index] as { details: { reference: string; err: Error } };
        expect(reference).toContain(details.reference);
        expect(details.err.message).toContain('10.0.0.1');
      }
    },
  );
});

describe('whatever a member throws', () => {
  const SECRET = /hunter2|10\.0\.0\.1|\bat .+:\d+|\.[jt]s\b/;
  const THROWN: readonly (() => unknown)[] = [
    () => new Error('hunter2'),
    () => Object.assign(new TypeError('hunter2'), { code: 'hunter2', status: 500 }),
    () => Object.assign(new Error('', { cause: new Error('hunter2') }), { name: 'hunter2', data: 'hunter2' }),
    () => new AggregateError([new Error('hunter2')], 'at 10.0.0.1'),
    () => 'hunter2',
    () => ({ message: 'hunter2', code: -32602, expose: 'yes' }),
    () => undefined,
  ];

  eachRevision('SEC-15', 'is masked: each kind of member, at once or later', async (revision) => {
    let thrown: unknown;
    let isLate = false;
    const fail = (): string | Promise<string> => {
      const rejected = Promise.reject(thrown);
      if (isLate) return rejected as Promise<string>;
      rejected.catch(() => {});
      throw thrown;
    };
    class Failing {
      @Tool() tool() {
        return fail();
      }
      @Prompt({ input: { type: 'object', properties: { city: { type: 'string' } } } }) prompt() {
        return fail();
      }
      @Resource('docs://one') resource() {
        return fail();
      }
      @Resource('docs://{city}/x', { list: 'cities', input: { type: 'object', properties: { city: {} } } }) template() {
        return fail();
      }
      @Completion({ for: ['prompt', 'template'], argument: 'city' }) complete() {
        return fail() as never;
      }
      cities() {
        return fail() as never;
      }
    }
    const client = await RawClient.connect(serverOf({ providers: [Failing] }), { revision });
    const argument = { name: 'city', value: 'hunter' };
    for (const make of THROWN) {
      for (isLate of [false, true]) {
        thrown = make();
        for (const [method, params] of [
          ['tools/call', { name: 'tool' }],
          ['prompts/get', { name: 'prompt' }],
          ['resources/read', { uri: 'docs://one' }],
          ['resources/read', { uri: 'docs://oslo/x' }],
          ['resources/list', {}],
          ['completion/complete', { ref: { type: 'ref/prompt', name: 'prompt' }, argument }],
        ] as const) {
          const text = JSON.stringify(await client.request(method, params));
          expect([method, text]).toEqual([method, expect.stringContaining('reference')]);
          expect(text).not.toMatch(SECRET);
        }
      }
    }
  });
});

const nested = (depth: number): string => '{"a":'.repeat(depth) + '1' + '}'.repeat(depth);

/** The text of a call. Replaces "@" with JSON that JSON.stringify can't produce. */
const written = (client: RawClient, id: number, { params, json }: { params: JsonObject; json: string }) =>
  JSON.stringify(client.buildMessage(id, 'tools/call', { name: 'take', ...params })).replace('"@"', () => json);

describe('limits', () => {
  eachRevision('SEC-16', 'exist for the depth and size of messages and for subscriptions', async (revision) => {
    const server = serverOf({ providers: [Broken] });
    server.addTool({ name: 'take', input: { type: 'object' } }, () => 'taken');
    for (const [depth, taken] of [
      [20, true],
      [5000, false],
    ] as const) {
      const client = await RawClient.connect(server, { revision });
      await client.send(written(client, 1, { params: { arguments: '@' }, json: nested(depth) }));
      expect('result' in (await client.response(1))).toBe(taken);
    }
    const pipe = await RawClient.connect(server, { revision }, overStdio);
    await pipe.send(`{"jsonrpc":"2.0","method":"${'x'.repeat(5 * 1024 * 1024)}"}`);
    await pipe.find(({ error }) => error?.code === -32600);
    await pipe.settled();
    const client = await RawClient.connect(server, { revision });
    const before = client.received.length;
    await client.send(Array.from({ length: 1000 }, (_item, id) => client.buildMessage(id, 'completion/complete')));
    expect(client.received.at(-1)).toMatchObject({ error: { code: -32600 } });
    expect(client.received.length).toBe(before + 1);
  });
});

describe('the limit of depth', () => {
  eachRevision('SEC-16', 'counts arrays and objects alike, and is exact', async (revision) => {
    const server = serverOf({ limits: { maxDepth: 20 } });
    server.addTool({ name: 'take', input: { type: 'object' } }, () => 'taken');
    const client = await RawClient.connect(server, { revision });
    const wrap = { list: (inner: string) => `[${inner}]`, object: (inner: string) => `{"a":${inner}}` };
    const kinds = [['list'], ['object'], ['list', 'object'], ['object', 'list', 'list']] as const;
    for (const [index, kind] of kinds.entries()) {
      // three levels are those of the message, its params and the arguments
      for (const [levels, taken] of [
        [17, true],
        [18, false],
      ] as const) {
        let json = '1';
        for (let level = 0; level < levels; level += 1) json = wrap[kind[level % kind.length] ?? 'list'](json);
        const id = 100 * index + levels;
        await client.send(written(client, id, { params: { arguments: { deep: '@' } }, json }));
        expect([json, 'result' in (await client.response(id))]).toEqual([json, taken]);
      }
    }
  });
});

describe('a member called __proto__', () => {
  eachRevision('SEC-17', 'has no effect anywhere', async (revision) => {
    const seen: unknown[] = [];
    const server = serverWith({ take: (context, input) => void seen.push(input, context.meta) });
    const client = await RawClient.connect(server, { revision });
    const evil = '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}';
    const meta = client.stateless ? { 'example.com/x': '@' } : '@';
    const lists = [['@'], [{}, '@'], [[1], [{}, ['@']]], [1, { a: [null, { b: '@' }] }]];
    const places = [{ arguments: '@' }, { _meta: meta }, { x: '@' }, ...lists.map((a) => ({ arguments: { a } }))];
    for (const [id, params] of places.entries()) {
      await client.send(written(client, id, { params, json: evil }));
      expect([params, (await client.response(id)).error]).toMatchObject([params, { code: -32600 }]);
    }
    for (const [id, value] of ['{"polluted":true}', 'null', '1', '"x"', '[]'].entries()) {
      await client.send(`{"jsonrpc":"2.0","id":"top${id}","method":"ping","__proto__":${value}}`);
      expect((await client.response(`top${id}`)).error).toMatchObject({ code: -32600 });
      await client.send(
        written(client, 100 + id, { params: { arguments: '@' as never }, json: `{"__proto__":${value}}` }),
      );
      expect((await client.response(100 + id)).error).toMatchObject({ code: -32600 });
    }
    expect(seen).toEqual([]);
    await client.call('take', { constructor: { prototype: { polluted: true } } });
    expect(({} as JsonObject)['polluted']).toBeUndefined();
    for (const value of seen) expect((value as JsonObject | undefined)?.['polluted']).toBeUndefined();
  });
});

describe('a schema that refers to another machine', () => {
  eachRevision('SEC-18', 'is rejected, and nothing is fetched', async (revision) => {
    const fetched: (string | undefined)[] = [];
    const remote = createServer(({ url }, response) => {
      fetched.push(url);
      response.end('{"type":"object"}');
    });
    await new Promise<void>((resolve) => remote.listen(0, '127.0.0.1', resolve));
    const origin = `http://127.0.0.1:${(remote.address() as AddressInfo).port}`;
    const schema = (at: string) => ({ type: 'object', properties: { a: { $ref: `${origin}/${at}` } } });
    expect(() => serverWith({ [revision]: () => '' }, { input: schema('input') })).toThrow('DECORUM_INVALID_SCHEMA');
    expect(() => serverWith({ [revision]: () => '' }, { output: schema('output') })).toThrow('DECORUM_INVALID_SCHEMA');
    // names that look like addresses are only names, and so are the URLs that clients send
    const named = { $id: `${origin}/id`, $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object' };
    const server = serverWith({ take: (_context, input) => JSON.stringify(input) }, { input: named });
    const client = await RawClient.connect(server, { revision });
    const sent = { $ref: `${origin}/sent`, $schema: `${origin}/sent`, url: `${origin}/sent` };
    expect(JSON.parse(textOf(await client.call('take', sent))!)).toEqual(sent);
    // a request that had been made before this one would have arrived before
    await (await fetch(`${origin}/last`, { headers: { connection: 'close' } })).text();
    expect(fetched).toEqual(['/last']);
    await new Promise((resolve) => remote.close(resolve));
  });
});

describe('a reference to another document', () => {
  /** Places of a reference in a schema. */
  const PLACES: readonly ((reference: JsonObject) => JsonObject)[] = [
    (reference) => ({ properties: { a: reference } }),
    (reference) => ({ properties: { a: { type: 'array', items: reference } } }),
    (reference) => ({ allOf: [reference] }),
    (reference) => ({ properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: reference } }),
    (reference) => ({ properties: { a: { type: 'object', additionalProperties: reference } } }),
    (reference) => ({ properties: { a: { anyOf: [{ type: 'string' }, { not: reference }] } } }),
    (reference) => reference,
  ];

  function withPrompt(input: JsonObject) {
    class Prompts {
      @Prompt({ input })
      prompt() {
        return '';
      }
    }
    return Prompts;
  }

  function withTemplate(input: JsonObject) {
    class Templates {
      @Resource('a://{a}', { input })
      template() {
        return '';
      }
    }
    return Templates;
  }

  eachRevision('SEC-18', 'is rejected in every schema of a member, and nothing is fetched', async (revision) => {
    const fetched: (string | undefined)[] = [];
    const remote = createServer(({ url }, response) => {
      fetched.push(url);
      response.end('{"type":"object"}');
    });
    await new Promise<void>((resolve) => remote.listen(0, '127.0.0.1', resolve));
    const origin = `http://127.0.0.1:${(remote.address() as AddressInfo).port}`;
    const at = `${origin}/a`;
    const others = [`//${origin.slice(7)}/a`, 'file:///etc/passwd', 'other.json', '/other.json#/a'];
    const schemas = [
      ...PLACES.map((place) => place({ $ref: at })),
      ...others.map((target) => PLACES[0]!({ $ref: target })),
      PLACES[0]!({ $dynamicRef: at }),
    ];
    for (const keywords of schemas) {
      const schema: JsonObject = { type: 'object', ...keywords };
      const server = serverOf();
      const ways: readonly (() => unknown)[] = [
        () => server.addTool({ name: 'a', input: schema as never }, () => ''),
        () => server.addTool({ name: 'b', input: { type: 'object' }, output: schema as never }, () => ({}) as never),
        () => serverOf({ providers: [withPrompt(schema)] }),
        () => serverOf({ providers: [withTemplate(schema)] }),
      ];
      for (const way of ways) expect(way).toThrow('DECORUM_');
      const client = await RawClient.connect(
        serverWith({ ask: async (context) => (await context.elicit(schema, { message: 'Who?' })).action }),
        { revision, capabilities: { elicitation: {} } },
      );
      expect([schema, await client.call('ask')]).toMatchObject([schema, { isError: true }]);
      expect(client.questions).toEqual([]);
      await client.close();
    }
    await (await fetch(`${origin}/last`, { headers: { connection: 'close' } })).text();
    expect(fetched).toEqual(['/last']);
    await new Promise((resolve) => remote.close(resolve));
  });
});

describe('the caller', () => {
  eachRevision('ELIC-22', 'is determined by the transport, not by the client or the user', async (revision) => {
    const asked = deferred<Context>();
    const server = serverWith({
      async who(context) {
        asked.resolve(context);
        const answer = await context.elicit(
          { type: 'object', properties: { user: { type: 'string' } } },
          { message: 'Who are you?' },
        );
        return `${context.principal?.subject} after ${answer.action}`;
      },
    });
    const client = await RawClient.connect(server, {
      revision,
      principal: { subject: 'ada' },
      capabilities: { elicitation: {} },
      answers: { 'elicitation/create': () => ({ result: { action: 'accept', content: { user: 'eve' } } }) },
    });
    const params = { name: 'who', _meta: { principal: { subject: 'eve' }, 'example.com/user': 'eve' } };
    expect(textOf(await client.result('tools/call', params))).toBe('ada after accept');
    // nor is an anonymous caller anybody
    const nobody = await RawClient.connect(server, {
      revision,
      capabilities: { elicitation: {} },
      answers: { 'elicitation/create': () => ({ result: { action: 'accept', content: { user: 'eve' } } }) },
    });
    const claims = { subject: 'eve', principal: { subject: 'eve' }, user: 'eve', clientId: 'eve' };
    for (const meta of [claims, { authorization: 'Bearer eve' }, { 'io.modelcontextprotocol/principal': claims }]) {
      const said = textOf(await nobody.result('tools/call', { name: 'who', ...claims, _meta: meta }));
      expect(said).toBe('undefined after accept');
    }
  });

  eachRevision('ELIC-22', 'gets tickets only for themselves, whoever the client says that it is', async (revision) => {
    for (const transport of Object.values(transportsOf(revision))) {
      let ticket = '';
      const url = (visit: { readonly ticket: string }) => `https://shop.example/?ticket=${(ticket = visit.ticket)}`;
      const server = serverWith({ pay: (context) => context.elicitUrl({ message: 'Pay', url }) });
      const claims = { subject: 'eve', user: 'eve', clientId: 'eve', principal: { subject: 'eve' } };
      for (const principal of [undefined, { subject: 'ada' }]) {
        const client = await RawClient.connect(
          server,
          {
            revision,
            ...(principal && { principal }),
            capabilities: { elicitation: { url: {} }, experimental: claims },
            answers: { 'elicitation/create': () => ({ result: { action: 'accept' } }) },
          },
          transport,
        );
        for (const meta of [claims, { 'io.modelcontextprotocol/principal': claims, authorization: 'Bearer eve' }]) {
          const result = await client.result('tools/call', { name: 'pay', ...claims, _meta: meta });
          expect(textOf(result)).toBe('{"action":"accept"}');
          expect(() => server.openTicket(ticket, { subject: 'eve' })).toThrow(TicketError);
          expect(server.openTicket(ticket, principal).subject).toBe(principal?.subject);
        }
      }
    }
  });

  eachRevision('ELIC-22', 'is not who a client says that it is, over any transport', async (revision) => {
    for (const transport of Object.values(transportsOf(revision))) {
      const server = serverWith({ who: ({ principal }) => JSON.stringify(principal ?? null) });
      const meta = { subject: 'eve', principal: { subject: 'eve' }, 'io.modelcontextprotocol/principal': 'eve' };
      for (const [principal, said] of [
        [undefined, 'null'],
        [{ subject: 'ada' }, '{"subject":"ada"}'],
      ] as const) {
        const capabilities = { experimental: { principal: { subject: 'eve' } } };
        const client = await RawClient.connect(
          server,
          { revision, capabilities, ...(principal && { principal }) },
          transport,
        );
        const params = { name: 'who', principal: { subject: 'eve' }, subject: 'eve', _meta: meta };
        expect(textOf(await client.result('tools/call', params))).toBe(said);
        await client.close();
      }
    }
  });
});

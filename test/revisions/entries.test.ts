// What the entries of lists and the contents of resources consist of.
import { describe, expect } from '@jest/globals';
import { type JsonObject, NoInput, type Principal, Prompt, Resource, ToolError } from '@decorum/core';
import { IsString } from 'class-validator';

import { RawClient } from '../support/raw-client.js';
import { eachRevision, inStateless, STATELESS } from '../support/requirements.js';
import { pagesOf } from './lists.js';
import { type Handler, serverOf, serverWith } from './servers.js';

class Named {
  @IsString()
  name!: string;
}

describe('the list of tools', () => {
  inStateless('TOOL-05', 'has the same order each time, also where it depends on the caller', async () => {
    const names = ['m', 'z', '10', 'a', '2', 'Z'];
    const server = serverOf({ pageSize: 2 });
    for (const [index, name] of names.entries()) {
      const access = (principal?: Principal) => index % 3 > 0 || principal?.subject === 'ada';
      server.addTool({ name, input: NoInput, access }, () => '');
    }
    for (const [subject, visible] of [
      ['ada', names],
      ['bob', ['z', '10', '2', 'Z']],
    ] as const) {
      const client = await RawClient.connect(server, { revision: STATELESS, principal: { subject } });
      for (let time = 0; time < 20; time += 1) {
        const pages = await pagesOf(client, 'tools/list');
        const listed = pages.flatMap(({ tools }) => (tools as { name: string }[]).map(({ name }) => name));
        expect([subject, listed]).toEqual([subject, visible]);
      }
    }
  });
});

describe('a tool that fails later', () => {
  eachRevision('TOOL-11', 'returns the same error for the model as one that fails at once', async (revision) => {
    const error = new ToolError('No weather today.');
    const fail = (): never => {
      throw error;
    };
    const handlers: Readonly<Record<string, Handler>> = {
      now: fail,
      later: async () => await Promise.resolve().then(fail),
      rejected: () => Promise.reject(error),
      returned: () => error,
      *generator() {
        yield 1;
        fail();
      },
      async *stream() {
        yield 1;
        fail();
      },
    };
    const client = await RawClient.connect(serverWith(handlers), { revision });
    for (const name of Object.keys(handlers)) {
      const { content, isError } = await client.call(name);
      expect([name, content, isError]).toEqual([name, [{ type: 'text', text: 'No weather today.' }], true]);
    }
  });
});

describe('the entry of a resource or a template', () => {
  for (const [id, method, member] of [
    ['RES-02', 'resources/list', 'resources'],
    ['RES-04', 'resources/templates/list', 'resourceTemplates'],
  ] as const) {
    eachRevision(id, 'has the name that the revision shows, and the title where there is one', async (revision) => {
      const details = { description: 'All of it', mimeType: 'text/plain' };
      class Titled {
        @Resource('docs://a', { name: 'a', title: 'The A', ...details })
        a() {
          return '';
        }

        @Resource('docs://{name}', { name: 'a', title: 'The A', ...details })
        template({ name }: Named) {
          return name;
        }

        @Resource('docs://b', details)
        b() {
          return '';
        }

        @Resource('docs://b/{name}', details)
        b2({ name }: Named) {
          return name;
        }
      }
      const client = await RawClient.connect(serverOf({ providers: [Titled] }), { revision });
      const [one, other] = (await client.result(method))[member] as JsonObject[];
      const names = revision < '2025-06-18' ? { name: 'The A' } : { name: 'a', title: 'The A' };
      const isTemplate = id === 'RES-04';
      expect([one, other]).toEqual([
        { ...(isTemplate ? { uriTemplate: 'docs://{name}' } : { uri: 'docs://a' }), ...names, ...details },
        isTemplate
          ? { uriTemplate: 'docs://b/{name}', name: 'b2', ...details }
          : { uri: 'docs://b', name: 'b', ...details },
      ]);
    });
  }
});

describe('the entry of a resource that a template lists', () => {
  eachRevision('RES-24', 'has the fields of its template, and its own', async (revision) => {
    const annotations = { audience: ['user' as const], priority: 0.5 };
    class Listed {
      @Resource('docs://{name}', { mimeType: 'text/plain', annotations, list: 'list' })
      doc({ name }: Named) {
        return name;
      }

      list() {
        const own = { annotations: { priority: 0 }, mimeType: 'text/html', size: 0, description: '' };
        return ['docs://a', { uri: 'docs://b', name: 'B', ...own }, { variables: { name: 'c' }, title: 'C' }];
      }
    }
    const client = await RawClient.connect(serverOf({ providers: [Listed] }), { revision });
    const shared = { mimeType: 'text/plain', annotations };
    const own = { annotations: { priority: 0 }, mimeType: 'text/html', size: 0, description: '' };
    const titled = revision < '2025-06-18' ? { name: 'C' } : { name: 'docs://c', title: 'C' };
    expect((await client.result('resources/list'))['resources']).toEqual([
      { uri: 'docs://a', name: 'docs://a', ...shared },
      { uri: 'docs://b', name: 'B', ...own },
      { uri: 'docs://c', ...titled, ...shared },
    ]);
  });
});

describe('the entry of a prompt', () => {
  eachRevision('PROMPT-02', 'has all that the revision has about it and its arguments', async (revision) => {
    const city = { type: 'string', title: 'City', description: 'Where to' };
    class Described {
      @Prompt({ title: 'Pack a bag', input: { type: 'object', properties: { city, days: {} }, required: ['city'] } })
      pack() {
        return '';
      }

      @Prompt()
      none() {
        return '';
      }
    }
    const client = await RawClient.connect(serverOf({ providers: [Described] }), { revision });
    const hasTitles = revision >= '2025-06-18';
    expect((await client.result('prompts/list'))['prompts']).toEqual([
      {
        name: 'pack',
        ...(hasTitles && { title: 'Pack a bag' }),
        arguments: [
          { name: 'city', ...(hasTitles && { title: 'City' }), description: 'Where to', required: true },
          { name: 'days', required: false },
        ],
      },
      { name: 'none' },
    ]);
  });
});

describe('a resource in a prompt', () => {
  eachRevision('PROMPT-11', 'has a type, even if the handler gives none', async (revision) => {
    const DATA = 'AA==';
    class Untyped {
      @Prompt()
      untyped() {
        const blocks = [{ text: '' }, { blob: DATA }, { text: 'a', mimeType: undefined }];
        return blocks.map((resource) => ({ type: 'resource', resource: { uri: 'docs://a', ...resource } })) as never;
      }
    }
    const client = await RawClient.connect(serverOf({ providers: [Untyped] }), { revision });
    const { messages } = (await client.result('prompts/get', { name: 'untyped' })) as { messages: JsonObject[] };
    expect(messages.map(({ content }) => (content as JsonObject)['resource'])).toEqual([
      { uri: 'docs://a', mimeType: 'text/plain', text: '' },
      { uri: 'docs://a', mimeType: 'application/octet-stream', blob: DATA },
      { uri: 'docs://a', mimeType: 'text/plain', text: 'a' },
    ]);
  });
});

describe('the contents of a resource', () => {
  eachRevision('RES-06', 'may be several of all kinds, in their order', async (revision) => {
    const blob = 'AH//';
    const contents = [
      { uri: 'docs://a', mimeType: 'text/plain', text: 'a' },
      { uri: 'docs://b', mimeType: 'image/png', blob },
      { uri: 'docs://a', text: '' },
      { uri: 'docs://c', mimeType: 'text/html', text: '<p>' },
      { uri: 'docs://b', blob },
    ];
    for (const order of [contents, [...contents].reverse(), contents.slice(1, 2), contents.slice(0, 1)]) {
      class Several {
        @Resource('docs://several')
        several() {
          return order;
        }

        @Resource('docs://{name}')
        async template(_input: Named) {
          return { contents: order.map((each) => (each.blob ? { ...each, blob: Buffer.from(blob, 'base64') } : each)) };
        }
      }
      const client = await RawClient.connect(serverOf({ providers: [Several] }), { revision });
      for (const uri of ['docs://several', 'docs://other']) {
        expect((await client.result('resources/read', { uri }))['contents']).toEqual(order);
      }
    }
  });
});

describe('the content of a resource', () => {
  eachRevision('RES-27', 'is text or bytes as its type says, whatever the handler returns', async (revision) => {
    const bytes = (text: string) => Buffer.from(text);
    const cases: readonly (readonly [mimeType: string | undefined, value: () => unknown, content: JsonObject])[] = [
      ['text/markdown', () => bytes('ü'), { text: 'ü' }],
      ['text/plain;charset=utf-8', () => bytes('ü'), { text: 'ü' }],
      ['application/json', () => bytes('{"a":1}'), { text: '{"a":1}' }],
      ['image/svg+xml', () => '<svg/>', { text: '<svg/>' }],
      ['text/plain', () => Buffer.from([0xff]), { blob: '/w==' }],
      ['image/png', () => bytes('a'), { blob: 'YQ==' }],
      ['application/octet-stream', async () => new Uint8Array([0]), { blob: 'AA==' }],
      ['text/plain', () => '', { text: '' }],
      ['application/vnd.own', () => ({ a: 1 }), { text: '{"a":1}' }],
      [undefined, () => bytes('a'), { mimeType: 'application/octet-stream', blob: 'YQ==' }],
      [undefined, () => bytes('abc').subarray(1, 2), { mimeType: 'application/octet-stream', blob: 'Yg==' }],
      [undefined, () => 'a', { mimeType: 'text/plain', text: 'a' }],
      [undefined, () => [1], { mimeType: 'application/json', text: '[1]' }],
      [undefined, () => new Blob(['a,b'], { type: 'text/csv' }), { mimeType: 'text/csv', text: 'a,b' }],
      [undefined, () => new Blob(['a'], { type: 'image/gif' }), { mimeType: 'image/gif', blob: 'YQ==' }],
    ];
    for (const [mimeType, value, content] of cases) {
      class One {
        @Resource('docs://one', mimeType === undefined ? {} : { mimeType })
        one() {
          return value();
        }

        @Resource('docs://{name}', mimeType === undefined ? {} : { mimeType })
        template(_input: Named) {
          return value();
        }
      }
      const client = await RawClient.connect(serverOf({ providers: [One] }), { revision });
      for (const uri of ['docs://one', 'docs://other']) {
        const { contents } = await client.result('resources/read', { uri });
        expect([String(value), contents]).toEqual([
          String(value),
          [{ uri, ...(mimeType !== undefined && { mimeType }), ...content }],
        ]);
      }
    }
  });
});

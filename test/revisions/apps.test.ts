// Pages for tools (MCP Apps), for clients with and without them.
import { Readable } from 'node:stream';

import { App, APP_MIME_TYPE, type AppOptions, apps } from '@decorum/apps';
import { type JsonObject, type McpServer, type McpServerOptions, NoInput, Tool, toolResult } from '@decorum/core';
import { describe, expect } from '@jest/globals';

import { overHttp } from '../support/http-transports.js';
import { type Message, overStdio, RawClient } from '../support/raw-client.js';
import { eachRevision, inStateless, type Revision, STATELESS } from '../support/requirements.js';
import { serverOf } from './servers.js';

const UI = 'io.modelcontextprotocol/ui';
const HTML = '<!doctype html><title>Weather</title><p>Sunny</p>';
const CARD = 'ui://weather/card';

const page: AppOptions = {
  csp: {
    connectDomains: ['https://api.example.com', 'wss://live.example.com:8443'],
    resourceDomains: ['https://*.example.com'],
    frameDomains: ['https://maps.example.com'],
    baseUriDomains: ['https://cdn.example.com'],
  },
  permissions: ['camera', 'clipboardWrite'],
  domain: 'a9.example-host.com',
  prefersBorder: false,
};
const PAGE_META = { ui: { ...page, permissions: { camera: {}, clipboardWrite: {} } } };

class Weather {
  @Tool({ ui: CARD, _meta: { 'example.com/own': 1 }, input: NoInput })
  forecast() {
    return 'Sunny, 21 °C';
  }

  @Tool({ ui: { resourceUri: CARD, visibility: ['app'] }, input: NoInput })
  refresh() {
    return 'Cloudy';
  }

  @Tool({ ui: { resourceUri: CARD, visibility: ['model'] }, input: NoInput })
  show() {
    return toolResult({ structuredContent: { sky: 'sun' }, content: [] });
  }

  @Tool({ ui: CARD, input: NoInput, output: { type: 'object', properties: { sky: { type: 'string' } } } })
  measure() {
    return { sky: 'sun' };
  }

  @Tool({ ui: CARD, input: NoInput })
  clear() {}

  @Tool({ ui: CARD, input: NoInput })
  blank() {
    return ' \n';
  }

  @Tool({ input: NoInput })
  silent() {}

  @App(CARD, page)
  card(): unknown {
    return HTML;
  }
}

const served = (provider: new () => object = Weather, options: Partial<McpServerOptions> = {}) =>
  serverOf({ providers: [provider], plugins: [apps()], text: false, ...options });

/** A message without what the extension adds to it. */
const withoutExtensions = (message: Message) =>
  JSON.parse(JSON.stringify(message), (key, value: JsonObject) => {
    if (key === '_meta' && 'ui' in value) return undefined;
    if (key !== 'capabilities') return value;
    const { extensions: _extensions, ...others } = value;
    return others;
  }) as Message;

const TRANSPORTS = { stdio: overStdio, HTTP: overHttp };
const DECLARED = { extensions: { [UI]: { mimeTypes: ['text/plain', APP_MIME_TYPE] } } };

interface Clients {
  readonly transport: string;
  /** Declares the extension. */
  readonly declared: RawClient;
  readonly plain: RawClient;
}

/** Runs a test with two clients over each transport. */
async function overEach(
  revision: Revision,
  server: () => McpServer,
  test: (clients: Clients) => Promise<void>,
): Promise<void> {
  for (const [name, transport] of Object.entries(TRANSPORTS)) {
    const own = server();
    const declared = await RawClient.connect(own, { revision, capabilities: DECLARED, withoutExtensions }, transport);
    const plain = await RawClient.connect(own, { revision }, transport);
    await test({ transport: name, declared, plain });
  }
}

const toolsOf = async (client: RawClient) => (await client.result('tools/list'))['tools'] as JsonObject[];
const metaOf = async (client: RawClient) =>
  Object.fromEntries((await toolsOf(client)).map(({ name, _meta: meta }) => [name as string, meta]));
const read = async (client: RawClient, uri = CARD) =>
  (await client.result('resources/read', { uri }))['contents'] as JsonObject[];

/** Whether the schema of the revision has `_meta` on tools and contents. */
const hasMeta = (revision: Revision) => revision >= '2025-06-18';

describe('a page', () => {
  eachRevision(['APPS-01', 'APPS-06'], 'is HTML of an own type, with what it may do beside it', async (revision) => {
    await overEach(revision, served, async ({ declared, plain }) => {
      const contents = { uri: CARD, mimeType: APP_MIME_TYPE, text: HTML };
      expect(await read(declared)).toEqual([{ ...contents, _meta: PAGE_META }]);
      expect(await read(plain)).toEqual([hasMeta(revision) ? { ...contents, _meta: PAGE_META } : contents]);
      const { resources } = await plain.result('resources/list');
      const entry = { uri: CARD, name: 'card', mimeType: APP_MIME_TYPE };
      expect(resources).toEqual([hasMeta(revision) ? { ...entry, _meta: PAGE_META } : entry]);
    });
  });

  eachRevision(['APPS-01', 'APPS-06'], 'may be text, bytes, a stream, or contents with metadata', async (revision) => {
    const own = { csp: { connectDomains: ['https://today.example.com'] } };
    const returned: readonly [card: () => unknown, _meta: JsonObject][] = [
      [async () => await Promise.resolve(HTML), PAGE_META],
      [() => Buffer.from(HTML), PAGE_META],
      [() => Readable.from([Buffer.from(HTML.slice(0, 9)), Buffer.from(HTML.slice(9))]), PAGE_META],
      [() => new Response(HTML, { headers: { 'content-type': 'text/html' } }), PAGE_META],
      [() => ({ contents: [{ uri: CARD, mimeType: 'text/html', text: HTML }] }), PAGE_META],
      [() => ({ uri: CARD, text: HTML, _meta: { ui: own, 'example.com/a': 1 } }), { ui: own, 'example.com/a': 1 }],
    ];
    for (const [card, meta] of returned) {
      // overrides the method, and leaves the decorator to the base class
      class Other extends Weather {
        override card() {
          return card();
        }
      }
      const options = { revision, capabilities: DECLARED, withoutExtensions };
      const client = await RawClient.connect(served(Other), options, overStdio);
      expect(await read(client)).toEqual([{ uri: CARD, mimeType: APP_MIME_TYPE, text: HTML, _meta: meta }]);
    }
  });

  eachRevision('APPS-03', 'can be left out of the list, and is read anyway', async (revision) => {
    class Unlisted extends Weather {
      @App(CARD, { listed: false, prefersBorder: true })
      override card() {
        return HTML;
      }
    }
    await overEach(
      revision,
      () => served(Unlisted),
      async ({ declared }) => {
        expect(await declared.result('resources/list')).toMatchObject({ resources: [] });
        // an option of a subclass takes the place of the same option, and of no other
        expect(await read(declared)).toMatchObject([
          { text: HTML, _meta: { ui: { csp: page.csp, prefersBorder: true } } },
        ]);
      },
    );
  });
});

describe('a tool with a page', () => {
  eachRevision(
    ['APPS-04', 'APPS-06', 'APPS-07', 'APPS-08'],
    'names it to clients that show pages, and to no others',
    async (revision) => {
      await overEach(revision, served, async ({ declared, plain }) => {
        const ui = { resourceUri: CARD };
        const own = hasMeta(revision) ? { 'example.com/own': 1 } : undefined;
        expect(await metaOf(declared)).toEqual({
          forecast: { ...own, ui },
          refresh: { ui: { ...ui, visibility: ['app'] } },
          show: { ui: { ...ui, visibility: ['model'] } },
          measure: { ui },
          clear: { ui },
          blank: { ui },
          silent: undefined,
        });
        const { show, forecast, ...others } = await metaOf(plain);
        expect([show, forecast, Object.keys(others)]).toEqual([
          undefined,
          own,
          ['measure', 'clear', 'blank', 'silent'],
        ]);
      });
      for (const settings of [{}, { mimeTypes: [] }, { mimeTypes: ['text/html'] }, { mimeTypes: APP_MIME_TYPE }, []]) {
        const capabilities = { extensions: { [UI]: settings } };
        const client = await RawClient.connect(served(), { revision, capabilities, withoutExtensions }, overStdio);
        expect(JSON.stringify(await toolsOf(client))).not.toContain(CARD);
      }
    },
  );

  eachRevision('APPS-02', 'names only one that the client can read', async (revision) => {
    await overEach(revision, served, async ({ declared }) => {
      const named = Object.values(await metaOf(declared)).flatMap(
        (meta) => (meta as JsonObject | undefined)?.['ui'] ?? [],
      );
      const uris = new Set((named as JsonObject[]).map(({ resourceUri }) => resourceUri as string));
      expect([...uris]).toEqual([CARD]);
      for (const uri of uris) expect(await read(declared, uri)).toMatchObject([{ mimeType: APP_MIME_TYPE }]);
    });
  });

  eachRevision('APPS-02', 'is served only with it, also when either is added or removed later', async (revision) => {
    const server = serverOf({ plugins: [apps()] });
    class Card {
      @App(CARD)
      card() {
        return HTML;
      }
    }
    const add = () => server.addTool({ name: 'show', ui: CARD }, () => 'Sunny');
    add();
    const missing = server.addProvider(Card);
    const client = await RawClient.connect(server, { revision, capabilities: DECLARED, withoutExtensions }, overStdio);
    expect(await metaOf(client)).toEqual({ show: { ui: { resourceUri: CARD } } });
    missing.remove();
    expect(await metaOf(client)).toEqual({ show: undefined });
    const wrong = { name: 'other', ui: CARD } as const;
    expect(() => server.addTool(wrong, () => 'Sunny')).toThrow('the server has no such resource');
    server.addProvider(Card);
    server.addTool(wrong, () => 'Sunny');
    // the tool may stand above its page
    class Both {
      @Tool({ ui: 'ui://sea/card', input: NoInput })
      tide() {}

      @App('ui://sea/card')
      card() {
        return HTML;
      }
    }
    server.addProvider(Both);
    expect(await metaOf(client)).toHaveProperty('tide.ui.resourceUri', 'ui://sea/card');
    expect(await metaOf(client)).toMatchObject({ other: { ui: { resourceUri: CARD } } });
  });

  eachRevision('APPS-05', 'has text in its result, whether the client shows pages or not', async (revision) => {
    await overEach(revision, served, async ({ declared, plain }) => {
      for (const client of [declared, plain]) {
        const said = async (name: string) => (await client.call(name))['content'];
        const text = (words: string) => [{ type: 'text', text: words }];
        expect(await said('forecast')).toEqual(text('Sunny, 21 °C'));
        expect(await said('show')).toEqual(text('{"sky":"sun"}'));
        // the server sends no text beside structured content of other tools
        expect(await said('measure')).toEqual(text('{"sky":"sun"}'));
        expect(await said('clear')).toEqual(text('Done.'));
        expect(await said('blank')).toEqual(text('Done.'));
        expect(await said('silent')).toEqual([]);
      }
    });
  });

  eachRevision(['APPS-04', 'APPS-06'], 'for pages only is unknown to clients without pages', async (revision) => {
    await overEach(revision, served, async ({ declared, plain }) => {
      expect(await declared.call('refresh')).toMatchObject({ content: [{ text: 'Cloudy' }] });
      for (const args of [{}, 5]) {
        const hidden = await plain.error('tools/call', { name: 'refresh', arguments: args });
        const unknown = await plain.error('tools/call', { name: 'refrain', arguments: args });
        expect(hidden).toEqual({ ...unknown, message: unknown.message.replace('refrain', 'refresh') });
      }
    });
  });

  inStateless('EXT-04', 'makes the list private, because it depends on the client', async () => {
    const cached = () => served(Weather, { cache: { ttlMs: 1000, scope: 'public' } });
    await overEach(STATELESS, cached, async ({ declared, plain }) => {
      for (const client of [declared, plain]) {
        expect(await client.result('tools/list')).toMatchObject({ cacheScope: 'private' });
        expect(await client.result('resources/list')).toMatchObject({ cacheScope: 'public' });
      }
    });
  });

  inStateless(['EXT-01', 'EXT-03'], 'comes from an extension that the server declares', async () => {
    await overEach(STATELESS, served, async ({ plain }) => {
      expect(await plain.result('server/discover')).toMatchObject({ capabilities: { extensions: { [UI]: {} } } });
    });
  });
});

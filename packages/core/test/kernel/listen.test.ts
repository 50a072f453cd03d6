import { describe, expect, it } from '@jest/globals';
import { connectMemory, type Extension, type JsonObject, McpHeader, McpServer, Resource, Tool } from '@decorum/core';
import { connect } from '@decorum/testing';
import { IsInt, IsOptional, IsString } from 'class-validator';

class Shelf {
  @Tool()
  tool() {
    return 'tool';
  }

  @Resource('x://a')
  book() {
    return 'a';
  }
}

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};
const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';
const SILENT = { warn: () => {}, error: () => {} };

interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: JsonObject;
  readonly result?: JsonObject;
  readonly error?: { readonly code: number };
}

/** Opens a raw pipe to a server and collects its output. */
async function pipe(server: McpServer) {
  const messages: Message[] = [];
  let woken = () => {};
  const connection = await connectMemory(server, {
    receive: (message) => {
      messages.push(message as Message);
      woken();
    },
  });
  return {
    messages,
    send: (message: object) => void connection.send({ jsonrpc: '2.0', ...message }),
    listen(id: unknown, notifications?: unknown) {
      this.send({
        id,
        method: 'subscriptions/listen',
        params: { ...(notifications !== undefined && { notifications }), _meta: META },
      });
    },
    async until(count: number) {
      while (messages.length < count) await new Promise<void>((resolve) => (woken = resolve));
      return messages[count - 1] as Message;
    },
  };
}

const serverOf = () => new McpServer({ name: 'test', version: '1', providers: [Shelf], logger: SILENT });

describe('subscriptions/listen', () => {
  it.each([[1], ['1'], [0], ['']])(
    'first acknowledges the supported filters, with the id of the request: %j [SUB-02] [SUB-03] [SUB-04]',
    async (id) => {
      const client = await pipe(serverOf());
      client.listen(id, {
        toolsListChanged: true,
        promptsListChanged: true,
        resourceSubscriptions: ['x://a'],
        more: 1,
      });
      expect(await client.until(1)).toEqual({
        jsonrpc: '2.0',
        method: 'notifications/subscriptions/acknowledged',
        params: {
          notifications: { toolsListChanged: true, resourceSubscriptions: ['x://a'] },
          _meta: { [SUBSCRIPTION]: id },
        },
      });
    },
  );

  it('sends only requested notifications, each subscription with its own id [SUB-01] [SUB-05]', async () => {
    const server = serverOf();
    const client = await pipe(server);
    client.listen(1, { toolsListChanged: true });
    client.listen(2, { resourceSubscriptions: ['x://a'] });
    await client.until(2);
    server.notify.resourceUpdated('x://b');
    server.notify.resourceUpdated('x://a');
    server.notify.resourcesChanged();
    server.notify.toolsChanged();
    await client.until(4);
    expect(client.messages.slice(2).map(({ method, params }) => [method, params])).toEqual([
      ['notifications/resources/updated', { uri: 'x://a', _meta: { [SUBSCRIPTION]: 2 } }],
      ['notifications/tools/list_changed', { _meta: { [SUBSCRIPTION]: 1 } }],
    ]);
  });

  it('ends at once when the client cancels it [SUB-07]', async () => {
    const server = serverOf();
    const client = await pipe(server);
    client.listen(1, { toolsListChanged: true });
    client.listen(2, { toolsListChanged: true });
    await client.until(2);
    client.send({ method: 'notifications/cancelled', params: { requestId: 1, _meta: META } });
    server.notify.toolsChanged();
    await client.until(3);
    expect(client.messages.slice(2).map(({ params }) => params)).toEqual([{ _meta: { [SUBSCRIPTION]: 2 } }]);
  });

  it('ends with a result when the server closes [SUB-06]', async () => {
    const server = serverOf();
    const client = await pipe(server);
    client.listen('a', { toolsListChanged: true });
    await client.until(1);
    await server.close();
    expect(await client.until(2)).toMatchObject({
      id: 'a',
      result: { resultType: 'complete', _meta: { [SUBSCRIPTION]: 'a' } },
    });
  });

  it.each([[undefined], ['all'], [{ resourceSubscriptions: 'x://a' }], [{ resourceSubscriptions: [1] }]])(
    'rejects an invalid filter: %j [SUB-11]',
    async (notifications) => {
      const client = await pipe(serverOf());
      client.listen(1, notifications);
      expect(await client.until(1)).toMatchObject({ id: 1, error: { code: -32602 } });
    },
  );

  it('does not exist in a session', async () => {
    const client = await connect(serverOf());
    await expect(client.request('subscriptions/listen', { notifications: {} })).rejects.toMatchObject({ code: -32601 });
  });
});

describe('an extension', () => {
  const counter: Extension = {
    id: 'com.example/counter',
    settings: { start: 1 },
    methods: { 'counter/next': ({ after }, ctx) => ({ next: Number(after) + 1, revision: ctx.revision }) },
  };
  const server = () => new McpServer({ name: 'test', version: '1', extensions: [counter] });

  it('is declared, and serves clients that declare it [EXT-01]', async () => {
    const capabilities = { extensions: { 'com.example/counter': {} } };
    const client = await connect(server(), { era: 'stateless', capabilities });
    const { capabilities: declared } = await client.request('server/discover');
    expect(declared).toMatchObject({ extensions: { 'com.example/counter': { start: 1 } } });
    expect(await client.request('counter/next', { after: 4 })).toMatchObject({ next: 5, resultType: 'complete' });
  });

  it('rejects other clients [LIFE-27], and does not exist in a session', async () => {
    const client = await connect(server(), { era: 'stateless' });
    await expect(client.request('counter/next', { after: 4 })).rejects.toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { extensions: { 'com.example/counter': {} } } },
    });
    const session = await connect(server());
    await expect(session.request('counter/next')).rejects.toMatchObject({ code: -32601 });
  });

  it.each(['counter', 'com.example', '/x', 'com.example/', 'com.example/a b', '__proto__'])(
    'needs an id with a prefix: %s [LIFE-28]',
    (id) => {
      expect(() => new McpServer({ name: 'test', version: '1', extensions: [{ id }] })).toThrow(
        /DECORUM_INVALID_EXTENSION/,
      );
    },
  );

  const [a, b] = ['com.example/a', 'com.example/b'];
  const answer = () => ({});

  it.each<[string, Extension[], string]>([
    ['two with one id', [{ id: a }, { id: a }], 'listed twice'],
    [
      'two with one method',
      [
        { id: a, methods: { 'x/y': answer } },
        { id: b, methods: { 'x/y': answer } },
      ],
      `the method "x/y", which belongs to "${a}"`,
    ],
    ['a method of the protocol', [{ id: a, methods: { 'tools/call': answer } }], 'which belongs to the protocol'],
    ['a method of an older revision', [{ id: a, methods: { ping: answer } }], 'which belongs to the protocol'],
    ['what is no extension', [null as never], '"null" has an invalid id'],
    ['methods that are no object', [{ id: a, methods: null as never }], 'not an object'],
    ['settings that are no object', [{ id: a, settings: 'on' as never }], 'not an object'],
    ['a method that is no function', [{ id: a, methods: { 'x/y': 'y' as never } }], 'not a function'],
  ])('fails at startup for %s', (_name, extensions, problem) => {
    const start = () => new McpServer({ name: 'test', version: '1', extensions });
    expect(start).toThrow(/DECORUM_INVALID_EXTENSION/);
    expect(start).toThrow(problem);
  });
});

describe('cache hints', () => {
  it('come from the options, and are private by default [CACHE-01]', async () => {
    class Kept {
      @Resource('x://kept', { cache: { ttlMs: 60_000, scope: 'public' } })
      kept() {
        return 'kept';
      }

      @Resource('x://fresh')
      fresh() {
        return 'fresh';
      }
    }
    const options = { name: 'test', version: '1', providers: [Kept] };
    const client = await connect(new McpServer({ ...options, cache: { ttlMs: 5000, scope: 'public' } }), {
      era: 'stateless',
    });
    for (const method of ['server/discover', 'resources/list', 'resources/templates/list']) {
      expect(await client.request(method)).toMatchObject({ ttlMs: 5000, cacheScope: 'public' });
    }
    expect(await client.readResource('x://kept')).toMatchObject({ ttlMs: 60_000, cacheScope: 'public' });
    expect(await client.readResource('x://fresh')).toMatchObject({ ttlMs: 0, cacheScope: 'private' });
    const plain = await connect(new McpServer(options), { era: 'stateless' });
    expect(await plain.request('resources/list')).toMatchObject({ ttlMs: 0, cacheScope: 'private' });
  });
});

describe('@McpHeader', () => {
  class Place {
    @McpHeader('Region')
    @IsString()
    region!: string;

    @McpHeader('Floor')
    @IsOptional()
    @IsInt()
    floor?: number;
  }
  class Router {
    @Tool()
    route({ region }: Place) {
      return region;
    }
  }

  it('is in the schema for stateless clients only [HDR-11]', async () => {
    const server = new McpServer({ name: 'test', version: '1', providers: [Router] });
    const schemaOf = async (era: 'stateful' | 'stateless') =>
      JSON.stringify((await (await connect(server, { era })).listTools())[0]);
    expect(await schemaOf('stateless')).toContain('"region":{"type":"string","x-mcp-header":"Region"}');
    expect(await schemaOf('stateful')).not.toContain('x-mcp-header');
  });

  const property = (keywords: object) => ({ type: 'object', properties: { a: keywords } });

  it.each([
    ['an empty name [HDR-12]', property({ type: 'string', 'x-mcp-header': '' })],
    ['a name that is no token [HDR-13]', property({ type: 'string', 'x-mcp-header': 'a b' })],
    ['a line break [HDR-13]', property({ type: 'string', 'x-mcp-header': 'a\r\nb' })],
    ['a number with a fraction [HDR-15]', property({ type: 'number', 'x-mcp-header': 'A' })],
    ['an object [HDR-15]', property({ type: 'object', 'x-mcp-header': 'A' })],
    ['items of a list [HDR-16]', property({ type: 'array', items: { type: 'string', 'x-mcp-header': 'A' } })],
    ['a branch [HDR-16]', property({ anyOf: [{ type: 'string', 'x-mcp-header': 'A' }] })],
    [
      'the same name twice [HDR-14]',
      {
        type: 'object',
        properties: { a: { type: 'string', 'x-mcp-header': 'A' }, b: { type: 'string', 'x-mcp-header': 'a' } },
      },
    ],
  ])('fails at startup for %s', (_name, input) => {
    const server = new McpServer({ name: 'test', version: '1' });
    expect(() => server.addTool({ name: 'tool', input }, () => '')).toThrow(/DECORUM_INVALID_HEADER/);
  });

  it('is data in values, and a keyword in schemas', async () => {
    const data = { 'x-mcp-header': 'A' };
    const properties = {
      a: { type: 'string', 'x-mcp-header': 'A' },
      b: { type: 'object', default: data, examples: [data] },
      c: { const: data },
      d: { enum: [data] },
      default: { type: 'string', 'x-mcp-header': 'D' },
      'x-mcp-header': { type: 'string' },
    };
    const server = new McpServer({ name: 'test', version: '1' });
    const input = { type: 'object', properties, $defs: { 'x-mcp-header': { type: 'string' } } };
    server.addTool({ name: 'tool', input }, () => '');
    const [[stateless], [session]] = await Promise.all([
      (await connect(server, { era: 'stateless' })).listTools(),
      (await connect(server)).listTools(),
    ]);
    expect(stateless?.inputSchema).toEqual(input);
    const plain = { a: { type: 'string' }, default: { type: 'string' } };
    expect(session?.inputSchema).toEqual({ ...input, properties: { ...properties, ...plain } });
    const hidden = { type: 'object', $defs: { default: { type: 'string', 'x-mcp-header': 'A' } } };
    expect(() => server.addTool({ name: 'other', input: hidden }, () => '')).toThrow(/DECORUM_INVALID_HEADER/);
  });
});

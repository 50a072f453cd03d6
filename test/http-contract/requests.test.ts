// Requests of every method over HTTP: their streams, their clients that disconnect, and the session ids they ignore.
import { EventEmitter, once } from 'node:events';

import { describe, expect } from '@jest/globals';
import {
  Completion,
  type CompletionContext,
  type Context,
  type JsonObject,
  type McpServer,
  NoInput,
  Prompt,
  Resource,
  Tool,
} from '@decorum/core';
import { type ListenOptions, mcp, MemorySessionStore } from '@decorum/http';
import fastify from 'fastify';
import { z } from 'zod';

import { EventReader } from '../../packages/http/test/events.js';
import { afterwards, createServer, Probe, serve } from '../../packages/http/test/fixture.js';
import type { Fields } from '../../packages/http/test/messages.js';
import { transportsOf } from '../support/http-transports.js';
import { type Message, RawClient } from '../support/raw-client.js';
import { eachRevision, eachSessionRevision, inStateless, type Revision, STATELESS } from '../support/requirements.js';
import { carried, HttpClient } from '../support/http-client.js';
import { serverOf } from '../revisions/servers.js';

const LOG = 'notifications/message';
const CHANGED = 'notifications/tools/list_changed';
const INPUT = { type: 'object', properties: { x: { type: 'string' } } };

/** A member of each kind. They report once at the start, and once more when they may go on. */
class Members extends EventEmitter {
  readonly contexts: (Context | CompletionContext)[] = [];

  private async work(context: Context | CompletionContext): Promise<string> {
    this.contexts.push(context);
    context.signal.addEventListener('abort', () => this.emit('aborted'));
    const going = once(this, 'go');
    context.progress(1);
    context.log.error('begins');
    this.emit('began');
    await going;
    context.progress(2);
    context.log.error('ends');
    return 'let go';
  }

  @Tool({ input: INPUT })
  tool(_input: object, context: Context) {
    return this.work(context);
  }

  @Prompt({ input: INPUT })
  prompt(_input: object, context: Context) {
    return this.work(context);
  }

  @Resource('work://fixed')
  fixed(_input: NoInput, context: Context) {
    return this.work(context);
  }

  @Resource('work://{x}', { input: INPUT, list: 'list' })
  template(_input: object, context: Context) {
    return this.work(context);
  }

  async list(context: Context) {
    return [`work://${await this.work(context)}`];
  }

  @Completion({ for: 'template', argument: 'x' })
  async complete(_value: string, context: CompletionContext) {
    return [await this.work(context)];
  }
}

/** A request for each member. */
const REQUESTS: Readonly<Record<string, readonly [method: string, params: JsonObject]>> = {
  tool: ['tools/call', { name: 'tool' }],
  prompt: ['prompts/get', { name: 'prompt' }],
  fixed: ['resources/read', { uri: 'work://fixed' }],
  template: ['resources/read', { uri: 'work://any' }],
  list: ['resources/list', {}],
  complete: [
    'completion/complete',
    { ref: { type: 'ref/resource', uri: 'work://{x}' }, argument: { name: 'x', value: '' } },
  ],
};

/** Connects a client that wants all logs. */
async function connect(revision: Revision, options: ListenOptions = {}) {
  const members = new Members().setMaxListeners(0);
  const { server, errors, url } = await serve(options, { providers: [members] });
  afterwards(() => members.emit('go'));
  const alone = options.sessions === false;
  const client = alone ? HttpClient.alone(url, revision) : await HttpClient.open(url, revision);
  if (!client.stateless && !alone)
    await (await client.post(client.buildMessage('level', 'logging/setLevel', { level: 'debug' }))).text();
  return { members, server, errors, client, url };
}

/** The request for a member, with progress and logs if it has a token. */
function requestFor(client: HttpClient, id: string, token?: string): Message {
  const [method, params] = REQUESTS[id] as (typeof REQUESTS)[string];
  const level = client.stateless && token !== undefined && { 'io.modelcontextprotocol/logLevel': 'debug' };
  const meta = { ...(token !== undefined && { progressToken: token }), ...level };
  return client.buildMessage(id, method, { ...params, _meta: meta });
}

/** Sends the request for a member. Resolves when the member has begun. */
async function begin(
  { client, members }: Pick<Awaited<ReturnType<typeof connect>>, 'client' | 'members'>,
  id: string,
  headers: Fields = {},
) {
  const began = once(members, 'began');
  const controller = new AbortController();
  const response = client.post(requestFor(client, id, id), headers, controller.signal);
  response.catch(() => {});
  await began;
  return { response, leave: () => controller.abort() };
}

/** Serves until the end of the test. Everything that is written to a response, even if nobody reads it, is `written`. */
async function recorded(server: McpServer) {
  // clients keep idle connections open, and Node would wait for them
  const app = fastify({ forceCloseConnections: true });
  const written: string[] = [];
  app.addHook('onRequest', async (_request, { raw }) => {
    for (const name of ['write', 'end'] as const) {
      const original = raw[name].bind(raw) as (...all: unknown[]) => never;
      raw[name] = (...all: unknown[]) => {
        if (typeof all[0] === 'string' || Buffer.isBuffer(all[0])) written.push(String(all[0]));
        return original(...all);
      };
    }
  });
  await app.register(mcp, { server });
  afterwards(async () => {
    await app.close();
    await server.close();
  });
  return { url: `${await app.listen({ port: 0 })}/mcp`, written };
}

/** Opens the stream for what belongs to no request. */
async function follow(client: HttpClient): Promise<EventReader> {
  if (!client.stateless) return await client.listen();
  const wanted = client.buildMessage('sub', 'subscriptions/listen', { notifications: { toolsListChanged: true } });
  const reader = new EventReader(await client.post(wanted));
  expect((await reader.message()).message?.method).toBe('notifications/subscriptions/acknowledged');
  return reader;
}

/** Sends all requests at once, and checks who gets what. */
async function allAtOnce(revision: Revision): Promise<void> {
  const connected = await connect(revision);
  const { client, members, server } = connected;
  const elsewhere = await follow(client);
  const readers: [string, EventReader][] = [];
  for (const id of Object.keys(REQUESTS)) {
    const { response } = await begin(connected, id);
    readers.push([id, new EventReader(await response)]);
  }
  server.notify.toolsChanged();
  expect((await elsewhere.message()).message?.method).toBe(CHANGED);
  members.emit('go');
  for (const [id, reader] of readers) {
    const events = await reader.rest();
    expect([id, carried(events), reader.ended]).toEqual([id, [1, LOG, 2, LOG, id], true]);
    const tokens = events.flatMap(({ message }) => message?.params?.['progressToken'] ?? []);
    expect([id, tokens]).toEqual([id, [id, id]]);
    expect(events.findLast(({ message }) => message)?.message?.result).toEqual(expect.any(Object));
  }
  server.notify.toolsChanged();
  expect((await elsewhere.message()).message?.method).toBe(CHANGED);
  if (client.stateless) return;
  expect(await client.end()).toBe(204);
  expect(carried(await elsewhere.rest())).toEqual([]);
}

describe('the stream of a request of any method', () => {
  eachRevision(
    ['HTTP-14', 'HTTP-15', 'HTTP-16', 'HTTP-17', 'HTTP-18', 'HTTP-19', 'HTTP-20', 'HTTP-30', 'HTTP-31'],
    'has its own messages, then its response, and nothing else has any of them',
    allAtOnce,
  );
});

describe('a client that leaves a request of any method', () => {
  eachSessionRevision(
    'HTTP-21',
    'cancels nothing, of a batch either, nor of a server without sessions',
    async (revision) => {
      for (const sessions of [true, false]) {
        const connected = await connect(revision, { sessions });
        const { client, members } = connected;
        const controller = new AbortController();
        const all = Object.keys(REQUESTS).map((id) => requestFor(client, id));
        const sent = revision === '2025-03-26' ? [all] : all;
        for (const message of sent) client.post(message, {}, controller.signal).catch(() => {});
        while (members.contexts.length < all.length) await once(members, 'began');
        controller.abort();
        for (let n = 0; n < 3; n += 1) expect((await client.post(client.buildMessage(n, 'ping'))).status).toBe(200);
        expect(members.contexts.filter(({ signal }) => signal.aborted)).toEqual([]);
        members.emit('go');
      }
    },
  );

  eachRevision(
    ['HTTP-22', 'HTTP-23', 'HTTP-24'],
    'cancels it, and no other, and gets nothing more for it',
    async () => {
      const members = new Members().setMaxListeners(0);
      const { server, errors } = createServer(new Probe(), { providers: [new Probe(), members] });
      afterwards(() => members.emit('go'));
      const { url, written } = await recorded(server);
      const client = await HttpClient.open(url, STATELESS);
      const staying = await begin({ client, members }, 'tool');
      const headers: Fields[] = [{}, { accept: 'application/json' }, { accept: 'text/event-stream' }];
      for (const name of Object.keys(REQUESTS)) {
        for (const accept of headers) {
          const { response, leave } = await begin({ client, members }, name, accept);
          const context = members.contexts.at(-1);
          if (accept['accept'] !== 'application/json') await new EventReader(await response).message();
          const aborted = once(members, 'aborted');
          leave();
          await aborted;
          const before = written.length;
          context?.progress(2);
          context?.log.error('unheard');
          await (await client.post(client.buildMessage('next', 'tools/list'))).text();
          const told = [context?.signal.aborted, written.length - before, written.at(-1)];
          expect([name, accept, ...told]).toEqual([name, accept, true, 1, expect.stringContaining('"next"')]);
        }
      }
      expect(members.contexts.filter(({ signal }) => !signal.aborted)).toHaveLength(1);
      members.emit('go');
      expect(carried(await new EventReader(await staying.response).rest())).toEqual([1, LOG, 2, LOG, 'tool']);
      expect(errors).toEqual([]);
    },
  );
});

/** Members whose access function, or check of arguments, answers when the test lets it. */
class Guarded extends EventEmitter {
  readonly ran: string[] = [];

  constructor(private readonly decides: 'access' | 'input') {
    super();
  }

  private readonly decide = async (): Promise<boolean> => {
    const going = once(this, 'go');
    this.emit('asked');
    await going;
    return true;
  };

  /** Adds a member of each kind to a server. */
  addTo(server: McpServer): void {
    const { decide, decides, ran } = this;
    const access = decides === 'access' ? decide : () => true;
    const input = decides === 'input' ? z.object({ x: z.string().optional() }).refine(decide) : INPUT;
    class Kinds {
      @Tool({ input, access })
      tool(_input: object) {
        return String(ran.push('tool'));
      }

      @Prompt({ input, access })
      prompt(_input: object) {
        return String(ran.push('prompt'));
      }

      @Resource('work://fixed', { access })
      fixed() {
        return String(ran.push('fixed'));
      }

      @Resource('work://{x}', { input, access })
      template(_input: object) {
        return String(ran.push('template'));
      }

      @Completion({ for: 'template', argument: 'x' })
      complete(_value: string) {
        return [String(ran.push('complete'))];
      }
    }
    server.addProvider(Kinds);
  }
}

/** Cancels requests while somebody decides about them, over every transport. */
async function cancelEarly(revision: Revision, decides: 'access' | 'input'): Promise<void> {
  const kinds = ['tool', 'prompt', 'template', ...(decides === 'access' ? ['fixed', 'complete'] : [])];
  for (const [name, transport] of Object.entries(transportsOf(revision))) {
    const guarded = new Guarded(decides).setMaxListeners(0);
    const server = serverOf();
    guarded.addTo(server);
    const client = await RawClient.connect(server, { revision }, transport);
    for (const kind of kinds) {
      const asked = once(guarded, 'asked');
      const [method, params] = REQUESTS[kind] as (typeof REQUESTS)[string];
      void client.send(client.buildMessage(kind, method, params)).catch(() => {});
      await asked;
      await client.cancel(kind);
      // until the server has noticed it
      for (let turn = 0; turn < 3; turn += 1) await client.settled();
      guarded.emit('go');
      await client.settled();
      expect([name, kind, guarded.ran]).toEqual([name, kind, []]);
      expect([name, kind, client.received.filter(({ id }) => id === kind)]).toEqual([name, kind, []]);
    }
    // and those that are not cancelled run
    const asked = once(guarded, 'asked');
    const result = client.request('tools/call', { name: 'tool' });
    await asked;
    guarded.emit('go');
    expect((await result).result).toMatchObject({ content: [{ text: '1' }] });
    await client.close();
  }
}

describe.each([
  ['its access function runs', 'access'],
  ['its arguments are checked', 'input'],
] as const)('a request that is cancelled while %s', (_when, decides) => {
  eachRevision(['CANC-02', 'HTTP-24'], 'never runs, and gets no response', (revision) =>
    cancelEarly(revision, decides),
  );
});

describe('the id of a session in a stateless request', () => {
  /** A stateless message of each kind, and the status of its answer. */
  const messagesOf = (client: HttpClient): readonly (readonly [Message, number])[] => [
    [client.buildMessage(1, 'server/discover'), 200],
    [client.buildMessage(2, 'tools/list'), 200],
    [client.buildMessage(3, 'tools/call', { name: 'add', arguments: { a: 1, b: 2 } }), 200],
    [client.buildMessage(4, 'tools/call', { name: 'steps', _meta: { progressToken: 4 } }), 200],
    [client.buildMessage(5, 'prompts/get', { name: 'greet' }), 200],
    [client.buildMessage(6, 'resources/read', { uri: 'docs://guide' }), 200],
    [client.buildMessage(7, 'tools/call', { name: 'no-such-tool' }), 200],
    [client.buildMessage(8, 'no/method'), 404],
    [{ ...client.buildMessage(9, 'tools/list'), params: {} }, 400],
    [{ jsonrpc: '2.0', method: 'notifications/whatever', params: {} }, 202],
    [{ jsonrpc: '2.0', id: 10, result: {} }, 400],
  ];

  /** Sends all of them with the id of a session. */
  async function ignores(client: HttpClient, id: string): Promise<void> {
    for (const [message, status] of messagesOf(client)) {
      const response = await client.post(message, { 'mcp-session-id': id, 'last-event-id': 'p00000000-0' });
      const found = [message.method, response.status, response.headers.get('mcp-session-id')];
      expect(found).toEqual([message.method, status, null]);
      await response.text();
    }
  }

  inStateless('HTTP-35', 'changes nothing, whether there is such a session or not, and is not looked up', async () => {
    for (const sessions of [true, false]) {
      const sessionStore = new MemorySessionStore();
      const { client, url } = await connect(STATELESS, { sessions, ...(sessions && { sessionStore }) });
      const ids = ['nonsense', '', '00000000-0000-4000-8000-000000000000'];
      if (sessions) {
        const session = await HttpClient.open(url, '2025-11-25');
        ids.push(session.headers['mcp-session-id'] as string);
        await session.end();
        ids.push((await HttpClient.open(url, '2025-03-26')).headers['mcp-session-id'] as string);
        sessionStore.get = () => {
          throw new Error('out of order');
        };
      }
      for (const id of ids) await ignores(client, id);
    }
  });

  inStateless('HTTP-35', 'takes the place of no other session', async () => {
    const sessionStore = new MemorySessionStore();
    const one = await connect(STATELESS, { sessionStore });
    const other = await connect(STATELESS, { sessionStore, limits: { maxSessions: 1 } });
    const session = await HttpClient.open(one.url, '2025-11-25');
    const busy = await HttpClient.open(other.url, '2025-11-25');
    await busy.listen();
    await ignores(other.client, session.headers['mcp-session-id'] as string);
    expect([await session.status(), await busy.status()]).toEqual([200, 200]);
    // one that may be evicted is evicted in the order in which its clients have used it
    const two = await connect('2025-11-25', { limits: { maxSessions: 2 } });
    const [first, second] = [two.client, await HttpClient.open(two.url, '2025-11-25')];
    await ignores(await HttpClient.open(two.url, STATELESS), first.headers['mcp-session-id'] as string);
    await HttpClient.open(two.url, '2025-11-25');
    expect([await first.status(), await second.status()]).toEqual([404, 200]);
  });
});

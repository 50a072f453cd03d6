// What the server keeps of one session or connection: few open calls, questions and subscriptions, and little text.
import { describe, expect, it } from '@jest/globals';
import { type JsonObject, type McpServerOptions, QuestionError, type ReachedLimit, Resource } from '@decorum/core';

import { transportsOf } from '../support/http-transports.js';
import {
  type Message,
  overMemory,
  RawClient,
  type RawOptions,
  type RawTransport,
  textOf,
} from '../support/raw-client.js';
import { type Revision, REVISIONS, SESSION_REVISIONS, STATELESS } from '../support/requirements.js';
import { listen } from './neutral.js';
import { deferred, serverOf, serverWith } from './servers.js';

const ADA = { subject: 'ada' };

interface Place {
  readonly revision: Revision;
  readonly name: string;
  readonly transport: RawTransport;
}

/** Each transport of one revision with sessions, one of each other revision, and the connections without a session. */
const PLACES: readonly Place[] = REVISIONS.flatMap((revision, index) =>
  Object.entries(transportsOf(revision)).map(([name, transport], at) => ({ revision, name, transport, at, index })),
).filter(({ revision, name, at, index }) =>
  revision === STATELESS ? name === 'memory' || name === 'stdio' : revision === '2025-11-25' || at === index % 3,
);
const DEFAULTS: readonly Place[] = (['2025-11-25', STATELESS] as const).map((revision) => ({
  revision,
  name: 'memory',
  transport: overMemory,
}));
const withSession = ({ revision }: Place) => revision !== STATELESS;

class Pages {
  @Resource('x://{+page}', { input: { type: 'object', properties: { page: { type: 'string' } } } })
  page() {
    return '';
  }
}

/** A server whose handlers wait and ask, and a way to connect to it. */
function open({ revision, transport }: Place, limits: McpServerOptions['limits'] = {}) {
  const hits: ReachedLimit[] = [];
  const begun: (() => void)[] = [];
  const server = serverWith(
    {
      // ends when the test says so, and ignores cancellation
      wait: () => {
        const { promise, resolve } = deferred<string>();
        begun.push(() => resolve('done'));
        return promise;
      },
      now: () => 'now',
      ask: async (ctx) => {
        const said = await ctx.roots().catch((error: unknown) => error);
        return said instanceof QuestionError ? said.message : 'answered';
      },
    },
    { limits, providers: [Pages], onLimit: (hit) => void hits.push(hit) },
  );
  const connect = (more: Partial<RawOptions> = {}) =>
    RawClient.connect(server, { revision, capabilities: { roots: {} }, ...more }, transport);
  return { server, hits, begun, connect };
}

const callWait = (client: RawClient, id: number) => client.request('tools/call', { name: 'wait' }, id);

/** Lets handlers start that the server has received. */
async function until(fits: () => boolean): Promise<void> {
  for (let turn = 0; turn < 10_000 && !fits(); turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(fits()).toBe(true);
}

describe.each(PLACES)('open calls ($revision, $name)', (place) => {
  it('are as many as `maxOpenCalls`, in each session or connection', async () => {
    const { connect, hits, begun } = open(place, { maxOpenCalls: 3 });
    const [client, other] = [await connect(), await connect()];
    const answers = [1, 2, 3].map((id) => callWait(client, id));
    await until(() => begun.length === 3);
    expect(hits).toEqual([]);
    const message = 'At most 3 requests can be in flight at once. Wait for one to end.';
    expect(await callWait(client, 4)).toMatchObject({ id: 4, error: { code: -32603, message } });
    expect(hits).toMatchObject([{ limit: 'maxOpenCalls' }]);
    expect(begun).toHaveLength(3);
    // nothing else is lost
    const fine = callWait(other, 1);
    await until(() => begun.length === 4);
    if (!client.stateless) expect(await client.result('ping')).toEqual({});
    begun[0]?.();
    expect(textOf((await answers[0])?.result ?? {})).toBe('done');
    expect(textOf(await client.call('now'))).toBe('now');
    for (const end of begun) end();
    for (const answer of [...answers, fine]) expect((await answer).result).toBeDefined();
    expect(hits).toHaveLength(1);
  });

  it('count until their handlers end, even if the client has cancelled them', async () => {
    const { connect, hits, begun } = open(place, { maxOpenCalls: 2 });
    const client = await connect();
    for (const id of [1, 2]) void client.send(client.buildMessage(id, 'tools/call', { name: 'wait' }));
    await until(() => begun.length === 2);
    for (const id of [1, 2]) await client.notify('notifications/cancelled', { requestId: id });
    if (!client.stateless) await client.result('ping');
    expect((await callWait(client, 3)).error).toMatchObject({ code: -32603 });
    for (const end of begun) end();
    await new Promise((resolve) => setImmediate(resolve));
    const last = callWait(client, 4);
    await until(() => begun.length === 3);
    begun[2]?.();
    expect((await last).result).toBeDefined();
    expect(hits).toMatchObject([{ limit: 'maxOpenCalls' }]);
  });
});

describe.each(DEFAULTS)('by default ($revision)', (place) => {
  it('100 calls may be open', async () => {
    const { connect, hits, begun } = open(place);
    const client = await connect();
    const answers = Array.from({ length: 100 }, (_, id) => callWait(client, id));
    await until(() => begun.length === 100);
    expect((await callWait(client, 100)).error).toMatchObject({ code: -32603 });
    expect(hits).toHaveLength(1);
    for (const end of begun) end();
    for (const answer of answers) expect((await answer).result).toBeDefined();
  });

  it('1,000 resources may be followed', async () => {
    const { connect, hits } = open(place);
    expect(await follow(await connect(), uris(1000))).toBe(undefined);
    expect(hits).toEqual([]);
    expect(await follow(await connect(), uris(1001))).toMatchObject({ code: -32602 });
    expect(hits).toMatchObject([{ limit: 'maxSubscriptions' }]);
  });
});

describe('questions', () => {
  it('that the client has not answered are 100 by default', async () => {
    // the default of `maxOpenCalls` is the same
    const { connect, hits } = open(DEFAULTS[0] as Place, { maxOpenCalls: 200 });
    const client = await connect();
    for (let id = 1; id <= 100; id += 1) void client.request('tools/call', { name: 'ask' }, id);
    await until(() => client.of('roots/list').length === 100);
    expect(hits).toEqual([]);
    expect(textOf(await client.call('ask'))).toBe('The client has not answered 100 other questions.');
    expect(hits).toMatchObject([{ limit: 'maxQuestions' }]);
  });

  it.each(PLACES.filter(withSession))(
    'that the client has not answered are as many as `maxQuestions` ($revision, $name)',
    async (place) => {
      const { connect, hits } = open(place, { maxQuestions: 3 });
      const client = await connect({ principal: ADA });
      const answers = [1, 2, 3].map((id) => client.request('tools/call', { name: 'ask' }, id));
      const asked = () => client.of('roots/list');
      await until(() => asked().length === 3);
      expect(hits).toEqual([]);
      expect(textOf(await client.call('ask'))).toBe('The client has not answered 3 other questions.');
      expect(hits).toMatchObject([{ limit: 'maxQuestions', ...(place.name !== 'stdio' && { principal: ADA }) }]);
      const reply = ({ id }: Message) => client.send({ jsonrpc: '2.0', id, result: { roots: [] } });
      await reply(asked()[0] as Message);
      await client.find(({ result }) => result?.['content'] !== undefined && textOf(result) === 'answered');
      const fourth = client.request('tools/call', { name: 'ask' }, 4);
      await until(() => asked().length === 4);
      for (const question of asked().slice(1)) await reply(question);
      for (const answer of [...answers, fourth]) expect(textOf((await answer).result ?? {})).toBe('answered');
    },
  );
});

/** Subscribes to resources, one after the other or in one request. */
const follow = async (client: RawClient, uris: readonly string[]) => {
  if (client.stateless) {
    const params = { notifications: { resourceSubscriptions: uris } };
    const asked = client.request('subscriptions/listen', params).then(({ error }) => error);
    const told = client.find(({ method }) => method === 'notifications/subscriptions/acknowledged');
    return await Promise.race([asked, told.then(() => undefined)]);
  }
  for (const uri of uris) {
    const { error } = await client.request('resources/subscribe', { uri });
    if (error !== undefined) return error;
  }
  return undefined;
};

const uris = (count: number) => Array.from({ length: count }, (_, n) => `x://${n}`);

describe.each(PLACES)('followed resources ($revision, $name)', (place) => {
  it('are as many as `maxSubscriptions`, in each session or stream', async () => {
    const { server, connect, hits } = open(place, { maxSubscriptions: 3 });
    for (let each = 0; each < 2; each += 1) expect(await follow(await connect(), uris(3))).toBe(undefined);
    const client = await connect();
    expect(hits).toEqual([]);
    expect(await follow(client, uris(4))).toMatchObject({
      code: -32602,
      message: expect.stringContaining('at most 3 resources'),
    });
    expect(hits).toMatchObject([{ limit: 'maxSubscriptions' }]);
    if (client.stateless) {
      await listen(client, { resourceSubscriptions: uris(3) });
    } else {
      // those that the client had stay, and can be repeated and given back
      expect(await follow(client, uris(3))).toBe(undefined);
      await client.result('resources/unsubscribe', { uri: 'x://0' });
      expect(await follow(client, ['x://new'])).toBe(undefined);
    }
    server.notify.resourceUpdated('x://1');
    await client.find(({ params }) => params?.['uri'] === 'x://1');
  });

  it('have URIs of at most 65,536 characters in all', async () => {
    const { connect, hits } = open(place);
    const long = (length: number, end: string) => `x://${'u'.repeat(length - 4 - end.length)}${end}`;
    const full = Array.from({ length: 16 }, (_, n) => long(4096, String(n)));
    expect(await follow(await connect(), full)).toBe(undefined);
    expect(hits).toEqual([]);
    expect(await follow(await connect(), [...full.slice(1), long(4097, '0')])).toMatchObject({ code: -32602 });
    expect(hits).toMatchObject([{ limit: 'maxSubscriptions' }]);
  });
});

const INFO = { name: 'kept', version: '1' };
const META = 'io.modelcontextprotocol/';

/** What a handler sees of a client that describes itself in this way. */
async function seen(revision: Revision, clientInfo: JsonObject, capabilities: JsonObject): Promise<JsonObject> {
  const server = serverWith({ who: (ctx) => JSON.stringify(ctx.client) });
  const client = await RawClient.connect(server, { revision, begins: false });
  if (!client.stateless) {
    await client.result('initialize', { protocolVersion: revision, clientInfo, capabilities });
    await client.notify('notifications/initialized');
  }
  const envelope = { [`${META}clientInfo`]: clientInfo, [`${META}clientCapabilities`]: capabilities };
  const result = await client.result('tools/call', { name: 'who', ...(client.stateless && { _meta: envelope }) });
  return JSON.parse(textOf(result) ?? '') as JsonObject;
}

/** A text that takes this many characters in JSON. */
const text = (chars: number) => 'x'.repeat(chars - 2);

describe.each(REVISIONS)('A client (%s)', (revision) => {
  it('is known by the fields of the protocol, and no others', async () => {
    const info = { ...INFO, title: 'Kept', description: 'a client', websiteUrl: 'https://example.com', icons: [] };
    const capabilities = { roots: {}, sampling: {}, elicitation: { form: {} }, experimental: { a: { b: 1 } } };
    const more = { constructor: { prototype: 1 }, junk: { junk: [1] }, toString: 'x' };
    const client = await seen(revision, { ...info, ...more }, { ...capabilities, ...more });
    expect(client).toEqual({ info, capabilities });
  });

  it('has fields of 4,096 characters, and those that do not fit are left out', async () => {
    // the name and the version take 9 characters
    const fits = { ...INFO, title: text(4087) };
    const [elicitation, extensions] = [{}, { 'com.example/a': {} }];
    const sizeOf = (value: object) => JSON.stringify(value).length;
    const left = 4096 - sizeOf(elicitation) - sizeOf(extensions) - sizeOf({ a: '' });
    const capabilities = { elicitation, extensions, experimental: { a: 'x'.repeat(left) } };
    expect(await seen(revision, fits, capabilities)).toEqual({ info: fits, capabilities });
    const long = { elicitation, extensions, experimental: { a: 'x'.repeat(left + 1) } };
    // the client is still served
    expect(await seen(revision, { ...INFO, title: text(4088), websiteUrl: 'x' }, long)).toEqual({
      info: { ...INFO, websiteUrl: 'x' },
      capabilities: { elicitation, extensions },
    });
  });
});

/** Each session revision over one transport, and each transport in one revision. */
const SESSIONS = SESSION_REVISIONS.map((revision, index) => {
  const transports = Object.entries(transportsOf(revision));
  const [name, transport] = transports[(index + 3) % transports.length] as (typeof transports)[number];
  return { revision, name, transport };
});

describe.each(SESSIONS)('`initialize` ($revision, $name)', ({ revision, transport }) => {
  const begin = async (chars: number) => {
    const client = await RawClient.connect(serverOf(), { revision, begins: false }, transport as RawTransport);
    const params = { protocolVersion: revision, capabilities: {}, clientInfo: { ...INFO, junk: '' } };
    params.clientInfo.junk = 'x'.repeat(chars - JSON.stringify(params).length);
    return await client.request('initialize', params);
  };

  it('takes 65,536 characters, and no more', async () => {
    expect((await begin(65_536)).result).toMatchObject({ protocolVersion: revision });
    expect((await begin(65_537)).error).toEqual({
      code: -32602,
      message: 'The params have more than 65536 characters.',
    });
  });
});

const WITH_ROOTS: Partial<RawOptions> = {
  capabilities: { roots: {} },
  answers: { 'roots/list': () => ({ result: { roots: [] } }) },
};

describe.each(SESSIONS)('The `_meta` of a request ($revision, $name)', ({ revision, transport }) => {
  it('has at most 8,192 characters if its handler asks the client, and is there afterwards', async () => {
    const server = serverWith({
      ask: async (ctx) => `${(await ctx.roots()).length} ${JSON.stringify(ctx.meta).length}`,
      tell: (ctx) => String(JSON.stringify(ctx.meta).length),
    });
    const client = await RawClient.connect(server, { ...WITH_ROOTS, revision }, transport as RawTransport);
    const call = (name: string, chars: number) =>
      client.request('tools/call', { name, _meta: { note: 'x'.repeat(chars - '{"note":""}'.length) } });
    expect(textOf((await call('ask', 8192)).result as JsonObject)).toBe('0 8192');
    expect((await call('ask', 8193)).error).toMatchObject({
      code: -32602,
      message: 'The "_meta" of a request that asks the client can have at most 8192 characters.',
    });
    expect(textOf((await call('tell', 8193)).result as JsonObject)).toBe('8193');
  });
});

describe.each(SESSION_REVISIONS)('Roots (%s)', (revision) => {
  it('are kept if they have at most 8,192 characters, and are otherwise asked for again', async () => {
    for (const [chars, questions] of [
      [8192, 1],
      [8193, 2],
    ] as const) {
      const result = { roots: [{ uri: 'file:///a', name: '' }] };
      result.roots[0]!.name = 'x'.repeat(chars - JSON.stringify(result).length);
      const client = await RawClient.connect(serverWith({ ask: async (ctx) => String((await ctx.roots()).length) }), {
        revision,
        capabilities: { roots: { listChanged: true } },
        answers: { 'roots/list': () => ({ result }) },
      });
      for (let call = 0; call < 2; call += 1) expect(textOf(await client.call('ask'))).toBe('1');
      expect([chars, client.questions.length]).toEqual([chars, questions]);
    }
  });
});

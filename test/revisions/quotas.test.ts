// What one session or connection may have open: calls, questions and subscriptions.
import { describe, expect, it } from '@jest/globals';
import { QuestionError, type ReachedLimit, type McpServerOptions, Resource } from '@decorum/core';

import { transportsOf } from '../support/http-transports.js';
import {
  type Message,
  overMemory,
  RawClient,
  type RawOptions,
  type RawTransport,
  textOf,
} from '../support/raw-client.js';
import { REVISIONS, type Revision, STATELESS } from '../support/requirements.js';
import { listen } from './neutral.js';
import { deferred, serverWith } from './servers.js';

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

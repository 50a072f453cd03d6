import { afterEach, describe, expect, it } from '@jest/globals';
import type { ClientOptions } from '@decorum/client';
import type { JsonObject } from '@decorum/core';

import { SYSTEM_CLOCK, type UpstreamClock } from '../../src/proxy/upstream/clock.js';
import { checkedHeaders } from '../../src/proxy/upstream/headers.js';
import { closeAll, eventually, Front, jsonOf, Listener, program, STATEFUL, STATELESS, textOf } from './front.js';

afterEach(closeAll);

const accept: ClientOptions['onElicit'] = ({ message }) => ({ action: 'accept', content: { name: message } });
const as = (user: string, more: ClientOptions = {}): ClientOptions => ({ headers: { 'x-user': user }, ...more });

/** What the upstream sees of a call. */
async function seenBy(front: Front, options: ClientOptions) {
  const seen = jsonOf(await (await front.overHttp(options)).callTool('seen'));
  return seen as { session?: string; headers: Record<string, string>; meta: JsonObject; client: JsonObject };
}

describe('sessions upstream', () => {
  const start = async (options = {}) => new Front((await Listener.start()).url, { revision: STATEFUL, ...options });

  it('belong to one principal each', async () => {
    const front = await start();
    const sessions = await Promise.all(
      ['ann', 'ann', 'bob'].map(async (user) => (await seenBy(front, as(user))).session),
    );
    expect(sessions[0]).toBe(sessions[1]);
    expect(sessions[2]).not.toBe(sessions[0]);
  });

  it('belong to one session in front each, for anonymous callers', async () => {
    const front = await start();
    front.isOpen = true;
    const onElicit = accept;
    const sessions = [
      await seenBy(front, { revision: STATEFUL }),
      await seenBy(front, { revision: STATEFUL }),
      // without a session, nothing tells those who can be asked apart
      await seenBy(front, { revision: STATELESS, onElicit }),
      await seenBy(front, { revision: STATELESS, onElicit }),
    ].map(({ session }) => session);
    expect(new Set(sessions).size).toBe(4);
    const silent = [await seenBy(front, { revision: STATELESS }), await seenBy(front, { revision: STATELESS })];
    expect(silent[0]?.session).toBe(silent[1]?.session);
  });

  it('declare what the client in front can be asked', async () => {
    const front = await start();
    expect((await seenBy(front, as('ann'))).client['capabilities']).toEqual({});
    const onElicit = accept;
    expect((await seenBy(front, as('ann', { onElicit }))).client['capabilities']).toEqual({ elicitation: {} });
    const all = {
      onElicit,
      onSample: () => 'x',
      onRoots: () => [],
      capabilities: { elicitation: { form: {}, url: {} } },
    };
    const seen = await seenBy(front, as('ann', all));
    expect(seen.client['capabilities']).toEqual({ elicitation: { form: {}, url: {} } });
    const open = await start({ forward: { sampling: true, roots: true } });
    const { client } = await seenBy(open, as('ann', all));
    expect(client['capabilities']).toEqual({ elicitation: { form: {}, url: {} }, sampling: {}, roots: {} });
  });

  it('are closed when nobody has used them for a while', async () => {
    const idle: (() => void)[] = [];
    const after: UpstreamClock['after'] = (ms, run) => {
      if (ms !== 4321) return SYSTEM_CLOCK.after(ms, run);
      idle.push(run);
      return () => void idle.splice(idle.indexOf(run), 1);
    };
    const front = await start({ idleMs: 4321, clock: { ...SYSTEM_CLOCK, after } });
    const { session } = await seenBy(front, as('ann'));
    expect((await seenBy(front, as('ann'))).session).toBe(session);
    await eventually(async () => expect(idle).toHaveLength(1));
    idle[0]?.();
    expect((await seenBy(front, as('ann'))).session).not.toBe(session);
  });

  it('make room for others when they are idle', async () => {
    const front = await start({ maxSessions: 1 });
    const first = await seenBy(front, as('ann'));
    await seenBy(front, as('bob'));
    expect((await seenBy(front, as('ann'))).session).not.toBe(first.session);
    const ann = await front.overHttp(as('ann'));
    const control = new AbortController();
    const waiting = ann.callTool('wait', { name: 'x' }, { signal: control.signal });
    await eventually(async () => expect(jsonOf(await ann.callTool('state'))['begun']).toEqual(['x']));
    const bob = await (await front.overHttp(as('bob'))).callTool('add', { a: 1, b: 1 });
    expect(textOf(bob)).toBe('The server "geo" has too many calls at a time. Try again later.');
    control.abort();
    await expect(waiting).rejects.toThrow('abort');
  });

  it('take a limited number of calls', async () => {
    const ann = await (await start({ maxCalls: 1 })).overHttp(as('ann'));
    const texts = await Promise.all([1, 2].map(async () => textOf(await ann.callTool('steps', { count: 2, ms: 50 }))));
    expect(texts.toSorted()).toEqual(['The server "geo" has too many calls at a time. Try again later.', 'done']);
  });
});

describe('headers upstream', () => {
  it('are those of the function, and never those of the caller', async () => {
    let turn = 1;
    const headers = () => ({ authorization: `Bearer ${turn}` });
    const front = new Front((await Listener.start()).url, { revision: STATEFUL, headers });
    const more = { headers: { 'x-user': 'ann', authorization: 'Bearer secret', cookie: 'a=b' } };
    const first = await seenBy(front, more);
    expect(JSON.stringify(first)).not.toContain('secret');
    expect(first.headers['x-user']).toBeUndefined();
    expect((await seenBy(front, more)).session).toBe(first.session);
    turn = 2;
    expect((await seenBy(front, more)).session).not.toBe(first.session);
  });

  it.each([
    { 'x-a': 'b\r\nx-c: d' },
    { 'x-a\n': 'b' },
    { host: 'evil.example.com' },
    { 'Mcp-Session-Id': '1' },
    { 'x-a': 1 },
    { 'x-a': '☃' },
  ])('that would change the request are refused: %j', (headers) => {
    expect(() => checkedHeaders('proxy(geo)', headers)).toThrow('proxy(geo): `headers`');
  });
});

it.each([STATELESS, STATEFUL])(
  'sends the trace of a call upstream in %s, and nothing that is reserved',
  async (revision) => {
    const front = new Front((await Listener.start()).url, { revision });
    const client = await front.overHttp(as('ann'));
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const meta = { traceparent, 'com.example/tenant': 'a', 'io.modelcontextprotocol/related-task': { taskId: '1' } };
    const seen = jsonOf(await client.callTool('seen', {}, { meta, onProgress: () => {} }))['meta'] as JsonObject;
    const kept = Object.entries(seen).filter(([key]) => !/protocolVersion|client|logLevel|progressToken/.test(key));
    expect(Object.fromEntries(kept)).toEqual({ traceparent, 'com.example/tenant': 'a' });
  },
);

describe.each([STATELESS, STATEFUL])('questions of an upstream of %s', (revision) => {
  const onSample = () => 'hello';

  it('reach the model only if that is forwarded', async () => {
    const { url } = await Listener.start();
    const closed = await new Front(url, { revision }).overHttp(as('ann', { onSample }));
    expect((await closed.callTool('sample')).isError).toBe(true);
    const open = await new Front(url, { revision, forward: { sampling: true } }).overHttp(as('ann', { onSample }));
    expect(textOf(await open.callTool('sample'))).toBe('hello');
  });

  it('never send a user to what is no web page', async () => {
    const front = new Front((await Listener.start()).url, { revision });
    const seen: unknown[] = [];
    const onElicit: ClientOptions['onElicit'] = (question) => {
      seen.push(question.url);
      return { action: 'accept' };
    };
    const capabilities = { elicitation: { url: {} } };
    const client = await front.overHttp(as('ann', { onElicit, capabilities }));
    expect(textOf(await client.callTool('visit'))).toContain('accept');
    await client.callTool('script').catch(() => {});
    expect(seen).toEqual(['https://pay.example.com/1']);
  });

  it('are refused over a shared process', async () => {
    const front = new Front(program, { revision });
    const client = await front.overHttp(as('ann', { onElicit: accept }));
    const asked = await client.callTool('ask', { who: 'Ann' }).catch((error: Error) => error);
    expect(JSON.stringify(asked)).not.toContain('geo: Name');
    expect(asked instanceof Error || asked.isError).toBe(true);
    const [one, other] = [await client.callTool('state'), await (await front.overHttp(as('bob'))).callTool('state')];
    expect(jsonOf(one)['pid']).toBe(jsonOf(other)['pid']);
  });
});

it('tells that a user has finished at a URL, by the id in the question', async () => {
  const front = new Front((await Listener.start()).url, { revision: STATEFUL });
  const ids: unknown[] = [];
  const onElicit: ClientOptions['onElicit'] = ({ elicitationId }) => {
    ids.push(elicitationId);
    return { action: 'accept' };
  };
  const more = { revision: STATEFUL, onElicit, capabilities: { elicitation: { url: {} } } };
  const client = await front.overHttp(as('ann', more));
  expect(textOf(await client.callTool('paid'))).toBe(ids[0]);
  await eventually(async () => expect(front.events).toEqual([{ kind: 'elicitation-complete', elicitationId: ids[0] }]));
});

it('gives each principal a process of its own if told to', async () => {
  const front = new Front(program, { process: 'session' });
  const pids = await Promise.all(
    ['ann', 'ann', 'bob'].map(async (user) => jsonOf(await (await front.overHttp(as(user))).callTool('state'))['pid']),
  );
  expect(pids[0]).toBe(pids[1]);
  expect(pids[2]).not.toBe(pids[0]);
});

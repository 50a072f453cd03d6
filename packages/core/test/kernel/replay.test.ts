import {
  Completion,
  Context,
  type JsonObject,
  McpServer,
  type McpServerOptions,
  MemorySingleUse,
  needInput,
  NoInput,
  Resource,
} from '@decorum/core';
import type { RequestOutcome } from '@decorum/core/plugin';
import { connect, type Rehearsal, rehearse } from '@decorum/testing';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { IsString } from 'class-validator';

import { reporting, textOf } from './serving.js';

class Name {
  @IsString() name!: string;
}

const log: string[] = [];
const note = (event: string) => log.push(event);

const places = { method: 'roots/list' } as const;

/** Tools that ask, and record their effects. */
const TOOLS: Record<string, (ctx: Context, record: (effect: string) => void) => unknown> = {
  async twice(ctx) {
    const first = await ctx.elicit(Name, { message: 'First?' });
    return JSON.stringify([first, await ctx.elicit(Name, { message: 'Second?' })]);
  },
  async pair(ctx) {
    const [name, answer] = await Promise.all([
      ctx.elicit(Name, { message: 'Name?', key: 'name' }),
      ctx.sample({ messages: 'Hi', maxTokens: 5, key: 'hello' }),
    ]);
    return `${name.action} ${answer.text}`;
  },
  async charge(ctx, record) {
    const id = await ctx.once('charge', () => {
      record('charged');
      return 'c1';
    });
    const sure = await ctx.elicit(Name, { message: 'Who pays?' });
    const [other] = await Promise.all([ctx.elicit(Name, { message: 'Who else?' }), ctx.roots()]);
    record('finished');
    return `${id} ${sure.action} ${other.action}`;
  },
  async stubborn(ctx) {
    try {
      return (await ctx.elicit(Name, { message: 'Name?' })).action;
    } catch {
      return 'swallowed';
    } finally {
      note('finally');
    }
  },
  dangerous: async (ctx) => ((await ctx.confirm('Delete everything?', { key: 'sure' })) ? 'deleted' : 'kept'),
  async forced(ctx) {
    const options = { key: 'sure', acceptUnsolicited: true };
    return (await ctx.confirm('Delete everything?', options)) ? 'deleted' : 'kept';
  },
  async keyed(ctx) {
    const first = await ctx.elicit(Name, { message: 'First?', key: 'first' });
    return `${first.action} ${(await ctx.elicit(Name, { message: 'Second?', key: 'second' })).action}`;
  },
  link: (ctx) => ctx.requireUrl({ message: 'Go', url: 'https://example.com', key: 'name' }),
  where: async (ctx) => String((await ctx.roots({ key: 'places' })).length),
  async trusting(ctx) {
    const acceptUnsolicited = true;
    const [name, answer, roots, page] = await Promise.all([
      ctx.elicit(Name, { message: 'Name?', key: 'name', acceptUnsolicited }),
      ctx.sample({ messages: 'Hi', maxTokens: 5, key: 'hello', acceptUnsolicited }),
      ctx.roots({ key: 'places', acceptUnsolicited }),
      ctx.elicitUrl({ message: 'Go', url: 'https://example.com', key: 'page', acceptUnsolicited }),
    ]);
    return `${name.action} ${answer.text} ${roots.length} ${page.action}`;
  },
  returning(ctx) {
    if (!ctx.answers) return needInput({ places }, 'some state');
    return `${JSON.stringify(ctx.answers)} ${String(ctx.state)}`;
  },
  async stateful(ctx, record) {
    await ctx.once('needInput 1', () => 'a state of its own');
    if (!ctx.answers) return needInput({ places }, { step: 1 });
    if (!('more' in ctx.answers)) {
      record(JSON.stringify(ctx.state));
      return needInput({ more: places }, null);
    }
    if (!('last' in ctx.answers)) {
      record(String(ctx.state));
      return needInput({ last: places });
    }
    return String(ctx.state);
  },
};

const SECRET = 'thirty-two characters are enough';

function serverOf(options: Partial<McpServerOptions> = {}, record: (effect: string) => void = note): McpServer {
  const { server } = reporting({ secret: SECRET, ...options });
  for (const [name, run] of Object.entries(TOOLS)) {
    server.addTool({ name, input: NoInput }, (_input, ctx) => run(ctx, record));
  }
  return server;
}

const answers = {
  onElicit: () => ({ action: 'accept', content: { name: 'Ada' } }) as const,
  onSample: () => 'Hello',
  onRoots: () => [{ uri: 'file:///a' }],
};

type Client = Awaited<ReturnType<typeof connect>>;

const stateless = (server: McpServer, subject = 'ada') =>
  connect(server, { era: 'stateless', principal: { subject }, ...answers });

/** A client that also opens URLs. */
const capable = (server: McpServer) => {
  const capabilities = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
  return connect(server, { era: 'stateless', ...answers, capabilities });
};

const call = (client: Client, name: string, more: JsonObject = {}) => client.request('tools/call', { name, ...more });

const ACCEPTED = { action: 'accept', content: { name: 'Ada' } };

const deskOf = ({ record, secret }: Rehearsal) => serverOf({ secret }, record);

describe('questions of a handler', () => {
  it.each(['twice', 'pair', 'charge', 'returning'])(
    'have the same outcome in a session and by replay: %s',
    async (tool) => {
      const { session, replay } = await rehearse({ server: deskOf, tool, ...answers });
      expect(replay.result.content).toEqual(session.result.content);
      expect(replay.effects).toEqual(session.effects);
      expect(session.result.isError).toBeUndefined();
    },
  );

  it('that are returned keep the state that they were first returned with', async () => {
    const server = serverOf();
    let runs = 0;
    server.addTool({ name: 'counting', input: NoInput }, (_input, { answers: given, state }) => {
      runs += 1;
      return given ? `${String(state)} of ${runs}` : needInput({ places }, runs);
    });
    expect(textOf(await (await stateless(server)).callTool('counting'))).toBe('1 of 3');
  });

  it('that are returned have a state that no effect of the handler can take, and none where they bring none', async () => {
    const { session, replay } = await rehearse({ server: deskOf, tool: 'stateful', ...answers });
    for (const { effects, result } of [session, replay]) {
      // by replay, notifications between questions are sent in each round
      expect([...new Set(effects)]).toEqual(['{"step":1}', 'undefined']);
      expect(textOf(result)).toBe('undefined');
    }
  });
});

describe('an open question', () => {
  it('cannot be swallowed, and lets `finally` run', async () => {
    const client = await stateless(serverOf());
    log.length = 0;
    const open = await call(client, 'stubborn');
    expect(open['resultType']).toBe('input_required');
    const { requestState } = open;
    expect(textOf(await call(client, 'stubborn', { requestState, inputResponses: { '#1': ACCEPTED } }))).toBe('accept');
    expect(log).toEqual(['finally', 'finally']);
  });

  it('that changes after it was answered is asked again, and then takes the new answer', async () => {
    let price = 5;
    const server = serverOf();
    server.addTool({ name: 'pay', input: NoInput }, async (_input, ctx) => {
      try {
        const { action } = await ctx.elicit(Name, { message: `Pay ${price}?` });
        return `${action} ${price}, ${(await ctx.elicit(Name, { message: 'Where to?' })).action}`;
      } finally {
        ctx.progress(price);
      }
    });
    const client = await stateless(server);
    const seen: number[] = [];
    const pay = (more: JsonObject) =>
      client.request('tools/call', { name: 'pay', ...more }, { onProgress: (progress) => seen.push(progress) });
    const first = await pay({});
    const { requestState } = await pay({ requestState: first['requestState'], inputResponses: { '#1': ACCEPTED } });
    price = 5000;
    const changed = await pay({ requestState, inputResponses: { '#2': ACCEPTED } });
    expect(changed['inputRequests']).toMatchObject({ '#1': { params: { message: 'Pay 5000?' } } });
    const declined = { requestState: changed['requestState'], inputResponses: { '#1': { action: 'decline' } } };
    const after = await pay(declined);
    expect(after['inputRequests']).toMatchObject({ '#2': { params: { message: 'Where to?' } } });
    const last = await pay({ requestState: after['requestState'], inputResponses: { '#2': ACCEPTED } });
    expect(textOf(last)).toBe('decline 5000, accept');
    // each round ends with something new
    expect(seen).toEqual([5, 5, 5000, 5000, 5000]);
  });
});

describe('unsolicited answers', () => {
  const said = { role: 'assistant', model: 'm', content: { type: 'text', text: 'Hey' } };
  const placesOf = { places: { roots: [] } };

  it.each(['pair', 'stubborn', 'dangerous', 'returning', 'charge', 'link', 'where'])(
    'make no difference, whatever the question and its key: %s (#22)',
    async (name) => {
      const client = await capable(serverOf());
      const unasked = { '#1': ACCEPTED, name: ACCEPTED, hello: said, sure: { action: 'accept' }, ...placesOf };
      const first = await call(client, name);
      const answered = await call(client, name, { inputResponses: unasked });
      expect(answered['resultType']).toBe('input_required');
      expect(Object.keys(answered['inputRequests'] as object)).toEqual(Object.keys(first['inputRequests'] as object));
    },
  );

  it('do not keep a question from being answered once it was asked (#22)', async () => {
    const client = await stateless(serverOf());
    const inputResponses = { sure: { action: 'accept' } };
    const { requestState } = await call(client, 'dangerous', { inputResponses });
    expect(textOf(await call(client, 'dangerous', { requestState, inputResponses }))).toBe('deleted');
  });

  it('beside those that were asked for do not answer later questions (#22)', async () => {
    const client = await stateless(serverOf());
    const { requestState } = await call(client, 'keyed');
    const early = { first: ACCEPTED, second: ACCEPTED };
    const next = await call(client, 'keyed', { requestState, inputResponses: early });
    expect(Object.keys(next['inputRequests'] as object)).toEqual(['second']);
    const retry = { requestState: next['requestState'], inputResponses: { second: ACCEPTED } };
    expect(textOf(await call(client, 'keyed', retry))).toBe('accept accept');
  });

  it('of another kind than the question under their key do not count (#22)', async () => {
    const client = await stateless(serverOf());
    const { requestState } = await call(client, 'pair');
    for (const inputResponses of [
      { name: said, hello: ACCEPTED },
      { hello: ACCEPTED, '#1': ACCEPTED },
    ]) {
      const again = await call(client, 'pair', { requestState, inputResponses });
      expect(Object.keys(again['inputRequests'] as object)).toEqual(['name', 'hello']);
    }
  });

  it('count for a question with a key that accepts them (#22)', async () => {
    const client = await capable(serverOf());
    const given = { name: ACCEPTED, hello: said, places: { roots: [] }, page: { action: 'accept' }, other: ACCEPTED };
    expect(textOf(await call(client, 'trusting', { inputResponses: given }))).toBe('accept Hey 0 accept');
    // an answer that doesn't fit, or has only a position, is asked for
    for (const [key, answer] of Object.entries({ name: said, hello: ACCEPTED, places: {}, page: { action: 'go' } })) {
      const asked = await call(client, 'trusting', { inputResponses: { ...given, [key]: answer } });
      expect(Object.keys(asked['inputRequests'] as object)).toEqual([key]);
    }
    const position = await call(client, 'stubborn', { inputResponses: { '#1': ACCEPTED } });
    expect(position['resultType']).toBe('input_required');
  });

  it('never count as a confirmation, which cannot accept them (#22)', async () => {
    const errors: unknown[] = [];
    const client = await stateless(serverOf({ onError: (error) => void errors.push(error) }));
    for (const inputResponses of [{}, { sure: { action: 'accept' } }]) {
      expect(textOf(await call(client, 'forced', { inputResponses }))).toMatch('Internal error');
      expect(String(errors.at(-1))).toMatch('`acceptUnsolicited` is not an option.');
    }
  });
});

it('a single-use state is rejected the second time', async () => {
  const client = await stateless(serverOf({ singleUse: new MemorySingleUse() }));
  const { requestState } = await call(client, 'stubborn');
  const retry = () => call(client, 'stubborn', { requestState, inputResponses: { '#1': ACCEPTED } });
  expect(textOf(await retry())).toBe('accept');
  await expect(retry()).rejects.toMatchObject({ code: -32602, message: 'The requestState has been used before.' });
});

describe('used ids', () => {
  const refused = { kind: 'too-many-requests', message: 'Too many questions were answered lately. Try again later.' };
  beforeEach(() => void jest.useFakeTimers({ now: 0 }));
  afterEach(() => void jest.useRealTimers());

  it('are remembered for their lifetime, and then forgotten', () => {
    const used = new MemorySingleUse();
    const claim = (id: string, now: number) => (jest.setSystemTime(now), used.claim(id, 100));
    expect([claim('a', 0), claim('b', 50), claim('a', 99)]).toEqual([true, true, false]);
    expect([claim('a', 100), claim('b', 149), claim('a', 199)]).toEqual([true, false, false]);
  });

  it('are refused beyond `maxIds` until older ids expire', () => {
    const used = new MemorySingleUse({ maxIds: 2 });
    expect(['a', 'b', 'a'].map((id) => used.claim(id, 100))).toEqual([true, true, false]);
    expect(() => used.claim('c', 100)).toThrow(expect.objectContaining(refused));
    jest.setSystemTime(100);
    expect(used.claim('c', 100)).toBe(true);
  });

  it('are 500,000 at most, by default', () => {
    const used = new MemorySingleUse();
    for (let id = 0; id < 500_000; id += 1) used.claim(String(id), 600_000);
    expect(() => used.claim('one more', 600_000)).toThrow(expect.objectContaining(refused));
  });

  it('need a `maxIds` from 1 to 10,000,000', () => {
    for (const maxIds of [1, 10_000_000]) expect(new MemorySingleUse({ maxIds }).claim('a', 100)).toBe(true);
    for (const maxIds of [0, 10_000_001]) {
      const message = `MemorySingleUse: \`maxIds\` is ${maxIds}, but must be a whole number from 1 to 10000000.`;
      expect(() => new MemorySingleUse({ maxIds })).toThrow(message);
    }
  });
});

const TEXT = { type: 'object', properties: { text: { type: 'string' } } } as const;
const EMPTY = { action: 'accept', content: {} };

class Documents {
  @Resource('doc://{id}', { input: { type: 'object', properties: { id: { type: 'string' } } } })
  async document({ id }: { id?: string }, ctx: Context) {
    return (await ctx.confirm('Read it?')) ? `content of ${id}` : 'no';
  }

  @Completion({ for: 'document', argument: 'id' }) ids() {
    return ['a'];
  }
}

/** A server with tools that ask for a text and for a URL visit. */
async function node(options: Partial<McpServerOptions> = {}) {
  const { server, warnings } = reporting({ name: 'shop', secret: SECRET, pageSize: 1, ...options });
  server.addTool({ name: 'tell', input: NoInput }, async (_input, ctx) => {
    await ctx.elicit(TEXT, { message: 'What?' });
    return (await ctx.elicit(TEXT, { message: 'What else?' })).action;
  });
  const tickets: string[] = [];
  server.addTool({ name: 'visit', input: NoInput }, async (_input, ctx) => {
    const url = ({ ticket }: { ticket: string }) => (tickets.push(ticket), 'https://example.com');
    return (await ctx.elicitUrl({ message: 'Go', url })).action;
  });
  const capabilities = { elicitation: { form: {}, url: {} } };
  const client = await connect(server, { era: 'stateless', capabilities, onElicit: () => EMPTY as never });
  return { server, client, call: (name: string, more?: JsonObject) => call(client, name, more), tickets, warnings };
}

const REFUSED = { code: -32602 };
const inputResponses = { '#1': EMPTY };

describe('sealed data', () => {
  it('is rejected by a server with another name, even with the same secret', async () => {
    const [ours, theirs] = [await node({ name: 'staging' }), await node({ name: 'production' })];
    const { requestState } = await ours.call('tell');
    const message = 'The requestState is invalid for this request, or has expired.';
    await expect(theirs.call('tell', { requestState, inputResponses })).rejects.toMatchObject({ ...REFUSED, message });
    const { nextCursor: cursor } = await ours.client.request('tools/list');
    await expect(theirs.client.request('tools/list', { cursor })).rejects.toMatchObject(REFUSED);
    await ours.call('visit');
    const [ticket] = ours.tickets as [string];
    expect(() => theirs.server.openTicket(ticket, undefined)).toThrow('ticket');
    expect(ours.server.openTicket(ticket, undefined)).toMatchObject({ id: expect.any(String) });
  });

  it('is accepted by another version of the server', async () => {
    const name = 'n'.repeat(2000);
    const [old, next] = [await node({ name, version: '1' }), await node({ name, version: '2' })];
    const { requestState } = await old.call('tell');
    expect(await next.call('tell', { requestState, inputResponses })).toMatchObject({ resultType: 'input_required' });
    const { nextCursor: cursor } = await old.client.request('tools/list');
    expect(await next.client.request('tools/list', { cursor })).toMatchObject({ tools: [{ name: 'visit' }] });
  });

  it('is rejected if a bit of it has changed, or text is around it', async () => {
    const { client } = await node();
    const { nextCursor } = await client.request('tools/list');
    const sealed = Buffer.from(nextCursor as string, 'base64url');
    const cursors = Array.from(sealed, (byte, at) => {
      const changed = Buffer.from(sealed);
      changed[at] = byte ^ 1;
      return changed.toString('base64url');
    });
    for (const cursor of [...cursors, `${nextCursor}!!`, ` ${nextCursor}`, `${nextCursor}\n`, `${nextCursor}=`]) {
      await expect(client.request('tools/list', { cursor })).rejects.toMatchObject(REFUSED);
    }
  });

  it('is accepted by other servers with the same secret, even during key rotation', async () => {
    const other = 'y'.repeat(32);
    const [old, both, next] = [await node(), await node({ secret: [other, SECRET] }), await node({ secret: other })];
    const moved = async (from: typeof old, to: typeof old) => {
      const { requestState } = await from.call('tell');
      const { nextCursor: cursor } = await from.client.request('tools/list');
      return await Promise.allSettled([
        to.call('tell', { requestState, inputResponses }),
        to.client.request('tools/list', { cursor }),
      ]);
    };
    const accepted = [{ value: { resultType: 'input_required' } }, { value: { tools: [{ name: 'visit' }] } }];
    for (const to of [await node(), both]) expect(await moved(old, to)).toMatchObject(accepted);
    expect(await moved(both, next)).toMatchObject(accepted);
    const rejected = [{ reason: REFUSED }, { reason: REFUSED }];
    expect(await moved(both, old)).toMatchObject(rejected);
    expect(await moved(old, next)).toMatchObject(rejected);
  });
});

describe('a state', () => {
  it('that is sent with a request without questions is not remembered', async () => {
    const claimed: string[] = [];
    const singleUse = { claim: (id: string) => claimed.push(id) > 0 };
    const { client } = await node({ providers: [Documents], singleUse });
    const ref = { type: 'ref/resource', uri: 'doc://{id}' };
    const params = { ref, argument: { name: 'id', value: '' }, requestState: 'made up' };
    const result = await client.request('completion/complete', params);
    expect(result).toMatchObject({ completion: { values: ['a'] } });
    expect(claimed).toEqual([]);
  });

  it('is rejected for another resource, whatever else the request names', async () => {
    const { client } = await node({ providers: [Documents] });
    const read = (params: JsonObject) => client.request('resources/read', { name: 'any', ...params });
    const { requestState } = await read({ uri: 'doc://public' });
    const retry = { requestState, inputResponses };
    await expect(read({ uri: 'doc://secret', ...retry })).rejects.toMatchObject(REFUSED);
    expect(await read({ uri: 'doc://public', ...retry })).toMatchObject({ contents: [{ text: 'content of public' }] });
  });

  it('that would be too large is an error, to plugins too, and a warning', async () => {
    const seen: unknown[] = [];
    const ended = (_request: unknown, { error }: RequestOutcome) => void seen.push(error);
    const { client, warnings } = await node({ plugins: [{ name: 'seen', ended }] });
    const { requestState } = await call(client, 'tell');
    const textOfLength = (length: number) => ({ '#1': { action: 'accept', content: { text: 'x'.repeat(length) } } });
    const answer = (length: number) => call(client, 'tell', { requestState, inputResponses: textOfLength(length) });
    const message = 'The answers are too large to continue this request.';
    await expect(answer(70_000)).rejects.toMatchObject({ code: -32603, message });
    expect(seen.at(-1)).toMatchObject({ kind: 'internal-error', message });
    const rest = Number(/is (\d+) bytes/.exec(warnings[0] ?? '')?.[1]) - 70_000;
    expect(await answer(65_536 - rest)).toMatchObject({ resultType: 'input_required' });
    await expect(answer(65_537 - rest)).rejects.toMatchObject({ code: -32603, message });
    expect(warnings).toEqual([
      expect.stringMatching(/"tell"/),
      'The state of the handler of "tell" is 65537 bytes, more than 65536. ' +
        'Ask for less at once, and return references from ctx.once instead of data.',
    ]);
  });

  it('does not hide from the client that a method is unknown', async () => {
    const { client } = await node();
    const got = client.request('prompts/get', { name: 'any', requestState: 'no state' });
    await expect(got).rejects.toMatchObject({ code: -32601 });
  });
});

it.each([{ elicitation: null }, { elicitation: true }])(
  'a capability that is not an object is ignored: %j',
  async (capabilities) => {
    const { server } = await node();
    const client = await connect(server, { era: 'stateless', capabilities: capabilities as never });
    await expect(call(client, 'tell')).rejects.toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { elicitation: {} } },
    });
  },
);

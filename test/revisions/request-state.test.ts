// The request state that clients carry between rounds.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { describe, expect, it, jest } from '@jest/globals';
import { type JsonObject, type McpServerOptions, MemorySingleUse } from '@decorum/core';

import { overHttp } from '../support/http-transports.js';
import { overMemory, type RawOptions, textOf } from '../support/raw-client.js';
import { inStateless } from '../support/requirements.js';
import { ADA, again, asked, begin, connect, form, greet, INVALID, SECRET } from './rounds.js';
import { type Handler, serverWith } from './servers.js';

describe('the state', () => {
  const inputResponses = { '#1': ADA };

  /** A call in flight, and the effects of its handler. */
  async function startCall(
    options: Partial<McpServerOptions> = {},
    client?: Partial<RawOptions>,
    transport = overMemory,
  ) {
    const effects: string[] = [];
    const pay: Handler = async (context, { amount = 1 }) => {
      const answer = await form(context);
      if (answer.action === 'accept') effects.push(`${String(amount)} by ${JSON.stringify(answer.content)}`);
      return answer.action;
    };
    const server = serverWith({ pay, greet }, { secret: SECRET, ...options });
    const payer = await connect(server, client, transport);
    const { requestState } = await begin(payer, 'pay', { amount: 7 });
    const retry = (more: JsonObject, by = payer) =>
      again(by, 'pay', { arguments: { amount: 7 }, requestState, inputResponses, ...more });
    return { server, client: payer, effects, requestState, retry };
  }

  inStateless('MRTR-07', 'is rejected if the server has not created it', async () => {
    const { requestState, retry, effects } = await startCall();
    const bytes = Buffer.from(requestState, 'base64url');
    const forged = [
      ...[0, 1, 10, 31, 32, 33, bytes.length - 1].map((length) => bytes.toString('base64url', 0, length)),
      `${requestState}A`,
      `${requestState}${requestState}`,
      ` ${requestState}`,
      `${requestState}=`,
      bytes.toString('base64'),
      bytes.toString('hex'),
      Buffer.alloc(bytes.length, 0).toString('base64url'),
      Buffer.alloc(100_000, 1).toString('base64url'),
      Buffer.from('{"journal":{"answers":[],"effects":[],"asked":[]}}').toString('base64url'),
      '{}',
      '\u0000',
      '',
      7,
      0,
      true,
      false,
      null,
      [requestState],
      { requestState },
    ].filter((state) => state !== requestState);
    for (const state of forged)
      expect([state, await retry({ requestState: state as never })]).toMatchObject([state, INVALID]);
    expect(effects).toEqual([]);
    expect((await retry({})).result).toMatchObject({ content: [{ text: 'accept' }] });
  });

  inStateless('MRTR-08', 'is rejected if one bit has changed', async () => {
    const { requestState, retry, effects } = await startCall();
    const bytes = Buffer.from(requestState, 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3]! ^= 1 << (bit & 7);
      expect(await retry({ requestState: changed.toString('base64url') })).toMatchObject(INVALID);
    }
    // whether the retry has answers or not
    const changed = `${requestState.startsWith('A') ? 'B' : 'A'}${requestState.slice(1)}`;
    for (const given of [undefined, {}, { other: ADA }]) {
      expect(await retry({ requestState: changed, inputResponses: given as never })).toMatchObject(INVALID);
    }
    expect(effects).toEqual([]);
  });

  inStateless('MRTR-09', 'is valid for one user, one request and a limited time', async () => {
    const { server, client, requestState, retry, effects } = await startCall(
      { requestStateTtlMs: 60_000 },
      { principal: { subject: 'ada' } },
      overHttp,
    );
    const bob = await connect(server, { principal: { subject: 'bob' } }, overHttp);
    const nobody = await connect(server, {}, overHttp);
    const refused = [
      await retry({}, bob),
      await retry({}, nobody),
      await retry({ arguments: { amount: 8 } }),
      await retry({ arguments: { amount: 7, more: 1 } }),
      await again(client, 'pay', { requestState, inputResponses }),
      await again(client, 'greet', { arguments: { amount: 7 }, requestState, inputResponses }),
    ];
    const now = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 60_100);
    try {
      refused.push(await retry({}));
    } finally {
      now.mockRestore();
    }
    for (const answer of refused) expect(answer).toMatchObject(INVALID);
    expect(effects).toEqual([]);
    expect((await retry({})).result).toMatchObject({ content: [{ text: 'accept' }] });
  });

  inStateless('MRTR-17', 'is valid for the same arguments, of any order, and not for any others', async () => {
    const weigh: Handler = async (context, { n }) =>
      `${(await form(context)).action} ${Object.is(n, -0) ? '-0' : JSON.stringify(n)}`;
    const client = await connect(serverWith({ weigh }));
    let sent = 0;
    // as text: JSON.stringify writes -0 as 0
    const call = async (args: string, more: JsonObject = {}) => {
      const id = (sent += 1);
      const params = { name: 'weigh', arguments: 'ARGUMENTS', ...more };
      const message = client.buildMessage(id, 'tools/call', params as JsonObject);
      await client.send(JSON.stringify(message).replace('"ARGUMENTS"', args));
      return await client.response(id);
    };
    const values = ['0', '-0', '1', '"0"', '"-0"', 'null', 'false', '[]', '{}', '[0]', '[-0]', '{"n":0}', '{"n":-0}'];
    for (const sealed of values) {
      const { result } = await call(`{"n":${sealed},"m":1}`);
      const retry = { requestState: result?.['requestState'], inputResponses };
      for (const value of values) {
        const answer = await call(`{"m":1,"n":${value}}`, retry);
        if (value === sealed) expect(textOf(answer.result as JsonObject)).toContain('accept');
        else expect([sealed, value, answer]).toMatchObject([sealed, value, INVALID]);
      }
    }
  });

  inStateless('MRTR-10', 'is valid once across all nodes if the server says so', async () => {
    const singleUse = new MemorySingleUse();
    const { client, retry, effects, requestState } = await startCall({ singleUse });
    const other = await startCall({ singleUse });
    const answers = await Promise.all([retry({}), retry({}), retry({}, other.client), retry({})]);
    expect(answers.filter(({ result }) => result !== undefined)).toHaveLength(1);
    for (const { error } of answers.filter(({ result }) => result === undefined)) expect(error?.code).toBe(-32602);
    expect([...effects, ...other.effects]).toEqual(['7 by {"name":"Ada"}']);
    expect(await retry({})).toMatchObject(INVALID);
    // however it is spelt
    const respelt = [`${requestState}=`, `${requestState}\n`, ` ${requestState}`, requestState.replaceAll('', ' ')];
    respelt.push(Buffer.from(requestState, 'base64url').toString('base64'), `${requestState}====`);
    for (const state of respelt) {
      for (const by of [client, other.client]) expect(await retry({ requestState: state }, by)).toMatchObject(INVALID);
    }
    expect(effects.length + other.effects.length).toBe(1);
    // a round that leads to another question uses up the state too
    const second = await begin(client, 'greet');
    asked((await again(client, 'greet', { requestState: second.requestState })).result);
    expect(await again(client, 'greet', { requestState: second.requestState, inputResponses })).toMatchObject(INVALID);
    expect(requestState).not.toBe(second.requestState);
  });

  inStateless('SEC-09', 'is not a credential', async () => {
    const principals: (string | undefined)[] = [];
    const who: Handler = async (context) => {
      principals.push(context.principal?.subject);
      await form(context);
      return `${context.principal?.subject}`;
    };
    const server = serverWith({ who, other: () => '' }, { secret: SECRET, pageSize: 1 });
    const ada = await connect(server, { principal: { subject: 'ada' } }, overHttp);
    const bob = await connect(server, { principal: { subject: 'bob' } }, overHttp);
    const nobody = await connect(server, {}, overHttp);
    const { requestState } = await begin(ada, 'who');
    const { nextCursor: cursor } = await ada.result('tools/list');
    expect(cursor).toEqual(expect.any(String));
    for (const thief of [bob, nobody]) {
      expect(await again(thief, 'who', { requestState, inputResponses })).toMatchObject(INVALID);
      expect(await thief.error('tools/list', { cursor })).toMatchObject({ code: -32602 });
    }
    expect(principals).toEqual(['ada']);
    expect(textOf((await again(ada, 'who', { requestState, inputResponses })).result!)).toBe('ada');
    expect((await ada.result('tools/list', { cursor }))['tools']).toHaveLength(1);
  });

  inStateless('SEC-10', 'is random, expires, and can be opened only for its user', async () => {
    const { client, server, requestState, retry } = await startCall(
      { requestStateTtlMs: 1000 },
      { principal: { subject: 'ada' } },
    );
    const others = await Promise.all(Array.from({ length: 50 }, () => begin(client, 'pay', { amount: 7 })));
    const states = [requestState, ...others.map((other) => other.requestState)];
    expect(new Set(states).size).toBe(51);
    // the contents are encrypted
    for (const state of states) {
      expect(state).toMatch(/^[\w-]{64,}$/);
      expect(Buffer.from(state, 'base64url').toString('latin1')).not.toMatch(/ada|answers|expires/);
    }
    expect(await retry({}, await connect(server, { principal: { subject: 'bob' } }))).toMatchObject(INVALID);
    const now = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 1100);
    try {
      expect(await retry({})).toMatchObject(INVALID);
    } finally {
      now.mockRestore();
    }
  });
});

describe('used ids in memory', () => {
  it('are forgotten when they expire, and kept until then', () => {
    const start = Date.now();
    const now = jest.spyOn(Date, 'now').mockReturnValue(start);
    try {
      const store = new MemorySingleUse();
      expect([store.claim('a', 100), store.claim('a', 100)]).toEqual([true, false]);
      now.mockReturnValue(start + 99);
      expect([store.claim('a', 100), store.claim('b', 100)]).toEqual([false, true]);
      now.mockReturnValue(start + 100);
      expect([store.claim('a', 100), store.claim('b', 100)]).toEqual([true, false]);
    } finally {
      now.mockRestore();
    }
  });

  it('are refused beyond the cap, rather than forgotten too early', async () => {
    const server = serverWith({ greet }, { secret: SECRET, singleUse: new MemorySingleUse({ maxIds: 1 }) });
    const client = await connect(server);
    const [first, second] = [await begin(client, 'greet'), await begin(client, 'greet')];
    const answer = ({ requestState }: { readonly requestState?: unknown }) =>
      again(client, 'greet', { requestState, inputResponses: { '#1': ADA } });
    expect((await answer(first)).error).toBeUndefined();
    expect(await answer(second)).toMatchObject({ error: { code: -32603 } });
    expect(await answer(first)).toMatchObject(INVALID);
    expect(() => new MemorySingleUse({ maxIds: Number.NaN })).toThrow(/MemorySingleUse: `maxIds` is NaN/);
  });

  it('leave no memory behind', () => {
    setFlagsFromString('--expose-gc');
    const gc = runInNewContext('gc') as () => void;
    // not a mock of jest, which remembers every call
    const { now } = Date;
    let time = now();
    Date.now = () => time;
    try {
      const store = new MemorySingleUse();
      gc();
      const before = process.memoryUsage().heapUsed;
      for (let id = 0; id < 100_000; id += 1) {
        time += 1;
        store.claim(`id ${id}`, 100);
      }
      gc();
      // keeping all of them would take ten times as much
      expect(process.memoryUsage().heapUsed - before).toBeLessThan(1_000_000);
      expect(store.claim('id 99999', 100)).toBe(false);
    } finally {
      Date.now = now;
    }
  });
});

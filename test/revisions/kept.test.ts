// What the server keeps of what a client sends is small.
import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '@decorum/core';

import { transportsOf } from '../support/http-transports.js';
import { RawClient, type RawOptions, type RawTransport, textOf } from '../support/raw-client.js';
import { type Revision, REVISIONS, SESSION_REVISIONS } from '../support/requirements.js';
import { serverOf, serverWith } from './servers.js';

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
const PLACES = SESSION_REVISIONS.map((revision, index) => {
  const transports = Object.entries(transportsOf(revision));
  const [name, transport] = transports[(index + 3) % transports.length] as (typeof transports)[number];
  return { revision, name, transport };
});

describe.each(PLACES)('`initialize` ($revision, $name)', ({ revision, transport }) => {
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

const OPTIONS: Partial<RawOptions> = {
  capabilities: { roots: {} },
  answers: { 'roots/list': () => ({ result: { roots: [] } }) },
};

describe.each(PLACES)('The `_meta` of a request ($revision, $name)', ({ revision, transport }) => {
  it('has at most 8,192 characters if its handler asks the client, and is there afterwards', async () => {
    const server = serverWith({
      ask: async (ctx) => `${(await ctx.roots()).length} ${JSON.stringify(ctx.meta).length}`,
      tell: (ctx) => String(JSON.stringify(ctx.meta).length),
    });
    const client = await RawClient.connect(server, { ...OPTIONS, revision }, transport as RawTransport);
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

// Scopes that depend on arguments, and those of batches.
import { describe, expect, it } from '@jest/globals';
import { type Context, Prompt, Resource, Tool } from '@decorum/core';

import { overAuthorized } from '../support/authorized.js';
import { RAW_TRANSPORTS, textOf } from '../support/raw-client.js';
import { eachRevision } from '../support/requirements.js';
import { connect, denied, LACKING, Named, NEW, UNAUTHORIZED } from './denials.js';
import { bare } from './neutral.js';
import { serverOf, serverWith } from './servers.js';

describe('ctx.requireScopes', () => {
  /** A server whose members require a scope for the name they are given. */
  function projects() {
    class Projects {
      readonly ran: string[] = [];

      @Tool({ scopes: ['projects'] })
      remove({ name }: Named, ctx: Context) {
        ctx.requireScopes('remove');
        ctx.requireScopes(`project:${name}`, 'remove');
        this.ran.push(name);
        return name;
      }

      @Prompt({ public: true })
      praise({ name }: Named, ctx: Context) {
        ctx.requireScopes(`project:${name}`);
        return name;
      }

      @Resource('projects://{name}')
      project({ name }: Named, ctx: Context) {
        ctx.requireScopes(`project:${name}`);
        return name;
      }
    }
    const provider = new Projects();
    return { provider, server: serverOf({ providers: [provider] }) };
  }

  eachRevision('SEC-14', 'denies callers like the scopes of a member, which it adds to', async (revision) => {
    const transport = overAuthorized('mcp');
    const { provider, server } = projects();
    const connectWith = async (...scopes: string[]) =>
      await connect(server, revision, { principal: { subject: 'ada', scopes: ['mcp', ...scopes] }, transport });
    const remove = ['tools/call', { name: 'remove', arguments: { name: 'a' } }] as const;
    const few = await connectWith('projects');
    expect(await few.error(...remove)).toEqual(denied(LACKING, ['mcp', 'projects', 'remove']));
    const more = await connectWith('projects', 'remove', 'project:b');
    expect(await more.error(...remove)).toEqual(denied(LACKING, ['mcp', 'projects', 'remove', 'project:a']));
    expect(await more.error('prompts/get', { name: 'praise', arguments: { name: 'a' } })).toEqual(
      denied(LACKING, ['mcp', 'project:a']),
    );
    expect(await more.error('resources/read', { uri: 'projects://a' })).toEqual(denied(LACKING, ['mcp', 'project:a']));
    expect(provider.ran).toEqual([]);
    expect(textOf(await (await connectWith('projects', 'remove', 'project:a')).result(...remove))).toBe('a');
    const anonymous = await connect(server, revision, { transport });
    expect(await anonymous.error('prompts/get', { name: 'praise', arguments: { name: 'a' } })).toEqual(
      denied(UNAUTHORIZED, ['mcp', 'project:a']),
    );
  });

  eachRevision('SEC-14', 'works on servers without scopes of members', async (revision) => {
    const server = serverWith({ pay: (context) => context.requireScopes('pay') });
    expect(await (await connect(server, revision)).error('tools/call', { name: 'pay' })).toEqual(
      denied(UNAUTHORIZED, ['pay']),
    );
    const rich = await connect(server, revision, { principal: { subject: 'ada', scopes: ['pay'] } });
    expect(bare(await rich.call('pay'))).toEqual({ content: [] });
  });

  eachRevision('SEC-14', 'rejects anything but scopes as an error of the handler', async (revision) => {
    for (const wrong of [[], ['a b'], [''], [undefined], [['pay']], ['"']]) {
      const server = serverWith({ pay: (context) => context.requireScopes(...(wrong as unknown as [string])) });
      const client = await connect(server, revision, { principal: { subject: 'ada', scopes: ['pay'] } });
      const result = await client.call('pay');
      expect(result['isError']).toBe(true);
      expect(textOf(result)).toMatch(/^Internal error/);
    }
  });
});

describe('a batch', () => {
  const BATCHES = '2025-03-26';
  const call = (id: number, name: string) => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name, arguments: { name: 'a' } },
  });

  /** Tools with and without scopes. `access` decides over all of them. */
  function shop(access?: () => boolean | Promise<boolean>) {
    const ran: string[] = [];
    const server = serverWith({});
    const add = (name: string, scopes: readonly string[]) =>
      server.addTool({ name, scopes, input: Named, ...(access && { access }) }, () => {
        ran.push(name);
        return name;
      });
    add('look', []);
    add('pay', ['pay', 'shop']);
    add('refund', ['refund', 'shop']);
    return { server, ran };
  }

  const each = [
    ['no access function', undefined],
    ['an access function', () => true],
    ['an asynchronous access function', async () => true],
  ] as const;

  it.each(each)('is denied as a whole before anything of it runs, with %s', async (_name, access) => {
    for (const transport of Object.values(RAW_TRANSPORTS)) {
      const { server, ran } = shop(access);
      const principal = { subject: 'ada', scopes: ['pay'] };
      const client = await connect(server, BATCHES, { principal, transport });
      const level = { jsonrpc: '2.0', method: 'notifications/roots/list_changed' };
      await client.send([call(1, 'look'), call(2, 'pay'), level, call(3, 'refund'), call(4, 'none'), { id: 5 }]);
      const scopes = ['pay', 'shop', 'refund'];
      for (const id of [1, 2, 3, 4]) {
        expect([id, (await client.response(id)).error]).toEqual([id, denied(LACKING, scopes)]);
      }
      expect(client.texts.at(-1)).toMatch(/^\[/);
      expect(ran).toEqual([]);
    }
  });

  it.each(each)('runs if the caller has the scopes of all its messages, with %s', async (_name, access) => {
    let asked = 0;
    const { server, ran } = shop(access && (() => ((asked += 1), access())));
    const client = await connect(server, BATCHES, { principal: { subject: 'ada', scopes: ['pay', 'shop', 'refund'] } });
    await client.send([call(1, 'look'), call(2, 'pay'), call(3, 'refund'), call(4, 'none')]);
    for (const id of [1, 2, 3]) expect((await client.response(id)).result).toMatchObject({ content: [{}] });
    expect((await client.response(4)).error).toMatchObject({ code: -32602 });
    expect(ran).toEqual(['look', 'pay', 'refund']);
    expect(asked).toBe(access === undefined ? 0 : 3);
  });

  it.each(each)(
    'is told for each request only the scopes that this one needs, with %s (#22)',
    async (_name, access) => {
      const server = serverWith({});
      for (const name of ['pay', 'refund']) {
        const options = { name, scopes: [name], input: Named, ...(access && { access }) };
        server.addTool(options, (_input, context) => context.requireScopes(`${name}:7`));
      }
      const client = await connect(server, BATCHES, { principal: { subject: 'ada', scopes: ['pay', 'refund'] } });
      await client.send([call(1, 'pay'), call(2, 'refund')]);
      expect((await client.response(1)).error).toEqual(denied(LACKING, ['pay', 'pay:7']));
      expect((await client.response(2)).error).toEqual(denied(LACKING, ['refund', 'refund:7']));
    },
  );

  it('needs what the transport demands of every request', async () => {
    const server = serverWith({});
    const ran: string[] = [];
    server.addTool({ name: 'look', input: Named }, () => void ran.push('look'));
    server.addTool({ name: 'about', input: Named, public: true }, () => void ran.push('about'));
    const client = await connect(server, BATCHES, { transport: overAuthorized('mcp') });
    await client.send([call(1, 'about'), call(2, 'look')]);
    for (const id of [1, 2]) expect((await client.response(id)).error).toEqual(denied(UNAUTHORIZED, ['mcp']));
    expect(ran).toEqual([]);
    await client.send([call(3, 'about')]);
    expect((await client.response(3)).result).toBeDefined();
  });

  it('answers no response and settles no question if it is denied', async () => {
    const server = serverWith({ ask: async (context) => void (await context.ping({ timeoutMs: 60_000 })) });
    server.addTool({ name: 'pay', scopes: ['pay'] }, () => '');
    const client = await connect(server, BATCHES, { principal: NEW });
    void client.send(client.buildMessage(1, 'tools/call', { name: 'ask' }));
    const { id } = await client.find(({ method }) => method === 'ping');
    const answer = { jsonrpc: '2.0', id, result: {} };
    await client.send([call(2, 'pay'), answer]);
    expect((await client.response(2)).error).toEqual(denied(LACKING, ['pay']));
    await client.settled();
    expect(client.received.filter((message) => message.id === 1)).toEqual([]);
    await client.send(answer);
    expect((await client.response(1)).result).toBeDefined();
  });
});

// Scopes that depend on arguments, and those of batches.
import { describe, expect, it } from '@jest/globals';
import { type Context, Prompt, Resource, Tool } from '@decorum/core';

import { overAuthorized } from '../support/authorized.js';
import { RAW_TRANSPORTS, textOf } from '../support/raw-client.js';
import { STATELESS } from '../support/requirements.js';
import { connect, denied, LACKING, Named, NEW, UNAUTHORIZED } from './denials.js';
import { bare } from './neutral.js';
import { serverOf, serverWith } from './servers.js';

/** Behavior that does not depend on the revision is tested in one of each era. */
const BOTH = ['2025-11-25', STATELESS] as const;

describe('ctx.requireScopes', () => {
  /** Requires a scope for the name that a member is given. */
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

  it.each(BOTH)('denies callers like the scopes of a member, which it adds to (%s)', async (revision) => {
    const transport = overAuthorized('mcp');
    const provider = new Projects();
    const server = serverOf({ providers: [provider] });
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

  it.each(BOTH)('works on servers without scopes, and rejects anything else as an error (%s)', async (revision) => {
    const server = serverWith({ pay: (context) => context.requireScopes('pay') });
    expect(await (await connect(server, revision)).error('tools/call', { name: 'pay' })).toEqual(
      denied(UNAUTHORIZED, ['pay']),
    );
    const principal = { subject: 'ada', scopes: ['pay'] };
    const rich = await connect(server, revision, { principal });
    expect(bare(await rich.call('pay'))).toEqual({ content: [] });
    for (const wrong of [[], ['a b'], [''], [undefined], [['pay']], ['"']]) {
      const odd = serverWith({ pay: (context) => context.requireScopes(...(wrong as unknown as [string])) });
      const result = await (await connect(odd, revision, { principal })).call('pay');
      expect([result['isError'], textOf(result)]).toEqual([true, expect.stringMatching(/^Internal error/)]);
    }
  });
});

describe('the scopes of a batch', () => {
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

  it.each(each)('are needed before anything of it runs, with %s (#22)', async (_name, access) => {
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
    let asked = 0;
    const { server, ran } = shop(access && (() => ((asked += 1), access())));
    for (const name of ['more', 'rest']) {
      const options = { name, scopes: [name], input: Named, ...(access && { access }) };
      server.addTool(options, (_input, context) => context.requireScopes(`${name}:7`));
    }
    const scopes = ['pay', 'shop', 'refund', 'more', 'rest'];
    const client = await connect(server, BATCHES, { principal: { subject: 'ada', scopes } });
    await client.send([call(1, 'look'), call(2, 'pay'), call(3, 'refund'), call(4, 'none')]);
    for (const id of [1, 2, 3]) expect((await client.response(id)).result).toMatchObject({ content: [{}] });
    expect((await client.response(4)).error).toMatchObject({ code: -32602 });
    expect([ran, asked]).toEqual([['look', 'pay', 'refund'], access === undefined ? 0 : 3]);
    // each request is told only the scopes that it needs itself
    await client.send([call(5, 'more'), call(6, 'rest')]);
    expect((await client.response(5)).error).toEqual(denied(LACKING, ['more', 'more:7']));
    expect((await client.response(6)).error).toEqual(denied(LACKING, ['rest', 'rest:7']));
  });

  it('include what the transport demands of every request', async () => {
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

  it('keep a denied batch from answering a question', async () => {
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

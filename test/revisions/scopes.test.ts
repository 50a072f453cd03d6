// Scopes and public members: who may use what, and what they are told.
import { describe, expect, it } from '@jest/globals';
import {
  Completion,
  type Context,
  type JsonObject,
  type McpServer,
  type Principal,
  Prompt,
  Resource,
  Tool,
} from '@decorum/core';
import { IsString } from 'class-validator';

import { overAuthorized } from '../support/authorized.js';
import { overMemory, RAW_TRANSPORTS, RawClient, type RawTransport, textOf } from '../support/raw-client.js';
import { eachRevision, inStateless, type Revision, STATELESS } from '../support/requirements.js';
import { LISTS } from './lists.js';
import { bare, listen } from './neutral.js';
import { deferred, serverOf, serverWith } from './servers.js';

/** Arguments with a name. */
class Named {
  @IsString()
  name!: string;
}

/** A caller without scopes. */
const NEW: Principal = { subject: 'ada' };

/** The message for anonymous callers. */
const UNAUTHORIZED = 'Authorization is required.';
/** The message for callers that lack scopes. */
const LACKING = 'The caller lacks scopes that this request needs.';
/** A denial that lists these scopes. */
const denied = (message: string, scopes: readonly string[]) => ({ code: -32600, message, data: { scopes } });

/** The caller and its transport. */
interface Caller {
  readonly principal?: Principal | undefined;
  readonly transport?: RawTransport;
  readonly begins?: boolean;
}

/** Connects a client. */
const connect = async (server: McpServer, revision: Revision, { principal, transport, ...rest }: Caller = {}) =>
  await RawClient.connect(server, { revision, ...rest, ...(principal && { principal }) }, transport);

/** Behavior that does not depend on the revision is tested in one of each era. */
const BOTH = ['2025-11-25', STATELESS] as const;
const MANY = ['files:write', 'files:all'];

/** For each kind, a member without scopes, one with scopes and a public one. */
class Files {
  readonly ran: string[] = [];

  @Tool()
  list() {
    return this.note('list');
  }

  @Tool({ scopes: MANY })
  write({ name }: Named) {
    return this.note(`write ${name}`);
  }

  @Tool({ public: true })
  about() {
    return this.note('about');
  }

  @Prompt()
  ask() {
    return this.note('ask');
  }

  @Prompt({ scopes: MANY })
  review({ name }: Named) {
    return this.note(`review ${name}`);
  }

  @Prompt({ public: true })
  greet({ name }: Named) {
    return this.note(`greet ${name}`);
  }

  @Resource('docs://plain')
  plain() {
    return this.note('plain');
  }

  @Resource('files://{name}', { scopes: MANY, list: 'all' })
  file({ name }: Named) {
    return this.note(`file ${name}`);
  }

  @Resource('docs://plan', { scopes: MANY })
  plan() {
    return this.note('plan');
  }

  @Resource('docs://readme', { public: true })
  readme() {
    return this.note('readme');
  }

  @Completion({ for: ['review', 'file', 'greet'], argument: 'name' })
  names() {
    this.note('names');
    return ['a'];
  }

  all() {
    this.note('all');
    return [{ variables: { name: 'a' } }];
  }

  private note(what: string): string {
    this.ran.push(what);
    return what;
  }
}

const ADA: Principal = { subject: 'ada', scopes: ['files:all', 'mcp', 'files:write'] };
const SOME: Principal = { subject: 'ada', scopes: ['files:write', 'files', 'files:', 'files:al', 'Files:all', 'mcp'] };

type Request = readonly [method: string, params: JsonObject];

const complete = (ref: JsonObject): Request => ['completion/complete', { ref, argument: { name: 'name', value: '' } }];
const SCOPED: readonly Request[] = [
  ['tools/call', { name: 'write', arguments: { name: 'a' } }],
  ['prompts/get', { name: 'review', arguments: { name: 'a' } }],
  ['resources/read', { uri: 'docs://plan' }],
  ['resources/read', { uri: 'files://a' }],
  complete({ type: 'ref/prompt', name: 'review' }),
  complete({ type: 'ref/resource', uri: 'files://{name}' }),
  complete({ type: 'ref/resource', uri: 'files://a' }),
];
const PLAIN: readonly Request[] = [
  ['tools/call', { name: 'list' }],
  ['prompts/get', { name: 'ask' }],
  ['resources/read', { uri: 'docs://plain' }],
];
const PUBLIC: readonly Request[] = [
  ['tools/call', { name: 'about' }],
  ['prompts/get', { name: 'greet', arguments: { name: 'a' } }],
  ['resources/read', { uri: 'docs://readme' }],
  complete({ type: 'ref/prompt', name: 'greet' }),
];
/** Requests that need a session. */
const KEPT: readonly Request[] = ['docs://plan', 'files://a'].map((uri) => ['resources/subscribe', { uri }] as const);

const scopedIn = (revision: Revision) => (revision === STATELESS ? SCOPED : [...SCOPED, ...KEPT]);

const namesOf = (entries: unknown) => (entries as { name: string }[]).map(({ name }) => name);

const helloOf = (protocolVersion: Revision) => ({
  protocolVersion,
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
});

/** The names in all lists. */
async function listed(client: RawClient): Promise<string[]> {
  const names: string[] = [];
  for (const [method, member] of LISTS) names.push(...namesOf((await client.result(method))[member]));
  return names;
}

describe('a member with scopes', () => {
  eachRevision('SEC-14', 'serves callers with all of its scopes, and denies others all at once', async (revision) => {
    for (const transport of Object.values(RAW_TRANSPORTS)) {
      const files = new Files();
      const server = serverOf({ providers: [files] });
      const ada = await connect(server, revision, { principal: ADA, transport });
      for (const [method, params] of scopedIn(revision)) await ada.result(method, params);
      expect(files.ran.splice(0)).toEqual(['write a', 'review a', 'plan', 'file a', 'names', 'names', 'names']);
      for (const principal of [SOME, NEW, ...(transport === overMemory ? [undefined] : [])]) {
        const client = await connect(server, revision, { principal, transport });
        const denial = denied(principal ? LACKING : UNAUTHORIZED, MANY);
        for (const [method, params] of scopedIn(revision)) {
          expect([params, await client.error(method, params)]).toEqual([params, denial]);
        }
        expect(files.ran).toEqual([]);
        for (const [method, params] of [...PLAIN, ...PUBLIC]) await client.result(method, params);
        files.ran.length = 0;
        // whoever has lost the scopes can still unsubscribe
        const uri = 'docs://plan';
        if (!client.stateless) expect(await client.result('resources/unsubscribe', { uri })).toEqual({});
      }
    }
  });

  it.each(BOTH)('denies before anything else is checked, and fails closed (%s)', async (revision) => {
    const server = serverOf({ providers: [new Files()] });
    server.addTool({ name: 'late', scopes: ['late'], access: async () => true }, () => '');
    const client = await connect(server, revision, { principal: NEW });
    const wrong = [{ arguments: {} }, { arguments: 5 }, { requestState: 'forged' }, { inputResponses: 5 }];
    for (const more of wrong) {
      expect(await client.error('tools/call', { name: 'write', ...more })).toMatchObject({ message: LACKING });
      expect(await client.error('tools/call', { name: 'late', ...more })).toMatchObject({ message: LACKING });
      expect(await client.error('prompts/get', { name: 'review', ...more })).toMatchObject({ message: LACKING });
    }
    // scopes that are not a list are none
    const principal = { subject: 'ada', scopes: MANY.join(' ') as unknown as string[] };
    const odd = await connect(server, revision, { principal, transport: overAuthorized() });
    expect(await odd.error(...(SCOPED[0] as Request))).toEqual(denied(LACKING, MANY));
  });

  it.each(BOTH)('is judged as it is when the request arrives (%s)', async (revision) => {
    for (const [transport, principal] of [
      [overMemory, NEW],
      [RAW_TRANSPORTS.stdio, NEW],
      [RAW_TRANSPORTS.stdio, undefined],
    ] as const) {
      const server = serverWith({});
      const client = await connect(server, revision, { principal, transport });
      const added = server.addTool({ name: 'late', scopes: ['late'] }, () => 'late');
      const denial = denied(principal ? LACKING : UNAUTHORIZED, ['late']);
      expect(await client.error('tools/call', { name: 'late' })).toEqual(denial);
      added.remove();
      expect(await client.error('tools/call', { name: 'late' })).toMatchObject({ code: -32602 });
    }
  });

  it('inherits its scopes, which a subclass can replace, and has those of its provider too', async () => {
    class Same extends Files {
      override write({ name }: Named) {
        return `same ${name}`;
      }

      @Prompt({ description: 'Reviews' })
      override review({ name }: Named) {
        return `same ${name}`;
      }
    }
    class Other extends Files {
      @Tool({ scopes: ['other'] })
      override write({ name }: Named) {
        return `other ${name}`;
      }

      @Prompt({ scopes: [] })
      override review({ name }: Named) {
        return `other ${name}`;
      }

      @Resource('docs://plan', { scopes: [], public: true })
      override plan() {
        return 'other';
      }
    }
    const same = await connect(serverOf({ providers: [Same] }), STATELESS, { principal: SOME });
    for (const request of SCOPED) expect(await same.error(...request)).toEqual(denied(LACKING, MANY));
    const other = await connect(serverOf({ providers: [Other] }), STATELESS, { transport: overAuthorized() });
    const [write, review, plan] = SCOPED as [Request, Request, Request];
    expect(await other.error(...write)).toEqual(denied(UNAUTHORIZED, ['other']));
    expect(await other.error(...review)).toEqual(denied(UNAUTHORIZED, []));
    expect(await other.result(...plan)).toMatchObject({ contents: [{ text: 'other' }] });
    class Shop {
      @Tool()
      look() {
        return '';
      }

      @Tool({ scopes: ['buy', 'shop'] })
      buy() {
        return '';
      }
    }
    const entry = { provider: { provider: Shop, scopes: ['shop'] }, scopes: ['all'] };
    const client = await connect(serverOf({ providers: [entry] }), STATELESS, { principal: NEW });
    expect(await client.error('tools/call', { name: 'look' })).toEqual(denied(LACKING, ['all', 'shop']));
    expect(await client.error('tools/call', { name: 'buy' })).toEqual(denied(LACKING, ['all', 'shop', 'buy']));
  });
});

describe('access', () => {
  /** Tools that need scopes and access. Counts how often access is asked. */
  function guarded(admits: boolean | Promise<boolean>) {
    const asked: unknown[] = [];
    const ran: string[] = [];
    const access = (principal?: Principal) => {
      asked.push(principal?.subject);
      return admits;
    };
    const server = serverWith({});
    const run = (name: string) => () => void ran.push(name);
    server.addTool({ name: 'plain', access }, run('plain'));
    server.addTool({ name: 'scoped', access, scopes: ['pay'] }, run('scoped'));
    server.addTool({ name: 'public', access, public: true }, run('public'));
    return { server, asked, ran };
  }
  it.each(BOTH)('is asked before scopes, and leaves no trace of what it denies (%s)', async (revision) => {
    for (const admits of [false, Promise.resolve(false)]) {
      for (const principal of [undefined, NEW, { subject: 'ada', scopes: ['pay', 'mcp'] }]) {
        for (const transport of [overMemory, overAuthorized('mcp')]) {
          const { server, ran } = guarded(admits);
          const client = await connect(server, revision, { principal, transport });
          expect((await client.result('tools/list'))['tools']).toEqual([]);
          const unknown = await client.error('tools/call', { name: 'unknown' });
          for (const name of ['plain', 'scoped', 'public']) {
            const error = await client.error('tools/call', { name });
            expect(JSON.stringify(error)).toBe(JSON.stringify(unknown).replace('unknown', name));
          }
          expect(ran).toEqual([]);
        }
      }
    }
  });

  it.each(BOTH)('is asked once per request (%s)', async (revision) => {
    for (const admits of [true, Promise.resolve(true)]) {
      const { server, asked, ran } = guarded(admits);
      const client = await connect(server, revision, { principal: { subject: 'ada', scopes: ['pay'] } });
      for (const name of ['plain', 'scoped', 'public']) await client.call(name);
      await client.result('tools/list');
      expect([asked.length, ran]).toEqual([4, ['plain', 'scoped', 'public']]);
      const stranger = await connect(server, revision);
      expect(await stranger.error('tools/call', { name: 'scoped' })).toEqual(denied(UNAUTHORIZED, ['pay']));
      expect(asked.length).toBe(5);
    }
  });

  it.each(BOTH)('that answers late lets the request be cancelled, without running it (%s)', async (revision) => {
    const { promise, resolve } = deferred<boolean>();
    const { server, asked, ran } = guarded(promise);
    const client = await connect(server, revision, { principal: { subject: 'ada', scopes: ['pay'] } });
    void client.send(client.buildMessage('waits', 'tools/call', { name: 'scoped' }));
    expect(asked).toEqual(['ada']);
    await client.notify('notifications/cancelled', { requestId: 'waits' });
    resolve(true);
    await client.settled();
    expect(ran).toEqual([]);
  });
});

describe('a transport that knows its callers', () => {
  const transport = overAuthorized('mcp', 'base');

  eachRevision('AUTHRS-22', 'demands its scopes of every request but public ones', async (revision) => {
    const principal = { subject: 'ada', scopes: ['files:write', 'files:all', 'mcp'] };
    const server = () => serverOf({ providers: [new Files()] });
    const client = await connect(server(), revision, { principal, transport });
    for (const request of scopedIn(revision)) {
      expect(await client.error(...request)).toEqual(denied(LACKING, ['mcp', 'base', 'files:write', 'files:all']));
    }
    for (const request of PLAIN) expect(await client.error(...request)).toEqual(denied(LACKING, ['mcp', 'base']));
    for (const request of PUBLIC) await client.result(...request);
    const anonymous = await connect(server(), revision, { transport });
    for (const request of PLAIN) {
      expect(await anonymous.error(...request)).toEqual(denied(UNAUTHORIZED, ['mcp', 'base']));
    }
    const ada = { subject: 'ada', scopes: [...principal.scopes, 'base'] };
    const known = await connect(server(), revision, { principal: ada, transport });
    for (const request of [...scopedIn(revision), ...PLAIN, ...PUBLIC]) await known.result(...request);
  });

  it.each(BOTH)(
    'demands a caller even if it demands no scopes, and its scopes if nothing is public (%s)',
    async (revision) => {
      const server = serverWith({ plain: () => 'plain' });
      for (const [demanding, principal, denial] of [
        [overAuthorized(), undefined, denied(UNAUTHORIZED, [])],
        [transport, undefined, denied(UNAUTHORIZED, ['mcp', 'base'])],
        [transport, NEW, denied(LACKING, ['mcp', 'base'])],
      ] as const) {
        const client = await connect(server, revision, { principal, transport: demanding, begins: false });
        if (!client.stateless) expect(await client.error('initialize', helloOf(revision))).toEqual(denial);
        else for (const method of ['server/discover', 'tools/list']) expect(await client.error(method)).toEqual(denial);
      }
      const client = await connect(server, revision, { principal: NEW, transport: overAuthorized() });
      expect(textOf(await client.call('plain'))).toBe('plain');
    },
  );

  eachRevision('AUTHRS-22', 'lets anonymous callers connect, list and use what is public', async (revision) => {
    const files = new Files();
    const client = await connect(serverOf({ providers: [files] }), revision, { transport });
    await client.begin().catch(() => {});
    for (const request of PUBLIC) await client.result(...request);
    const names = await listed(client);
    expect(names).toEqual(expect.arrayContaining(['list', 'write', 'about', 'review', 'plan', 'readme', 'file']));
    // what a method lists is only for those who may read it
    expect(names).not.toContain('files://a');
    expect(files.ran).toEqual(['about', 'greet a', 'readme', 'names']);
  });

  it.each(BOTH)('demands its scopes of unknown names too (%s)', async (revision) => {
    const client = await connect(serverOf({ providers: [new Files()] }), revision, { transport });
    const unknown: readonly Request[] = [
      ['tools/call', { name: 'unknown' }],
      ['tools/call', { name: 5 }],
      ['prompts/get', {}],
      ['resources/read', { uri: 'none://' }],
      ['resources/read', { uri: 5 }],
      complete({ type: 'ref/prompt', name: 'unknown' }),
      ['completion/complete', { ref: 5 }],
    ];
    for (const request of unknown) {
      expect(await client.error(...request)).toEqual(denied(UNAUTHORIZED, ['mcp', 'base']));
    }
    expect(await client.error('tools/fly')).toMatchObject({ code: -32601 });
  });
});

describe('lists', () => {
  it.each(BOTH)('contain what needs scopes, but not what only its `list` method knows (%s)', async (revision) => {
    const files = new Files();
    const server = serverOf({ providers: [files] });
    const [some, ada] = [
      await connect(server, revision, { principal: SOME }),
      await connect(server, revision, { principal: ADA }),
    ];
    const names = ['list', 'write', 'about', 'ask', 'review', 'greet', 'plain', 'plan', 'readme', 'file'];
    expect((await listed(some)).sort()).toEqual([...names].sort());
    expect(files.ran).toEqual([]);
    expect((await listed(ada)).sort()).toEqual([...names, 'files://a'].sort());
  });

  it.each(BOTH)('contain only what the caller can use with `listing: usable` (%s)', async (revision) => {
    class Shelf {
      @Resource('shelf://{name}', { list: 'all' })
      book({ name }: Named) {
        return name;
      }

      @Resource('shelf://diary', { name: 'fixed', scopes: ['diary'] })
      diary() {
        return '';
      }

      all() {
        return ['shelf://novel', 'shelf://diary'];
      }
    }
    const server = serverOf({ providers: [new Files(), Shelf], listing: 'usable' });
    const usable = async (principal?: Principal, transport?: RawTransport) => {
      const client = await connect(server, revision, { principal, ...(transport && { transport }) });
      return (await listed(client)).sort();
    };
    // not what another member serves only for scopes
    const plain = ['about', 'ask', 'book', 'greet', 'list', 'plain', 'readme', 'shelf://novel'];
    expect(await usable(SOME)).toEqual(plain);
    expect(await usable()).toEqual(plain);
    expect(await usable(undefined, overAuthorized('mcp'))).toEqual(['about', 'greet', 'readme']);
    expect(await usable({ subject: 'ada' }, overAuthorized('mcp'))).toEqual(['about', 'greet', 'readme']);
    expect(await usable(ADA, overAuthorized('mcp'))).toEqual(
      [...plain, 'file', 'files://a', 'plan', 'review', 'write'].sort(),
    );
    // a caller can still ask for more
    const client = await connect(server, revision, { principal: SOME });
    expect(await client.error(...(SCOPED[0] as Request))).toMatchObject({ message: LACKING });
  });
});

describe('subscriptions/listen', () => {
  inStateless('AUTHRS-12', 'needs the scopes of all its URIs', async () => {
    const files = new Files();
    const server = serverOf({ providers: [files] });
    class Others {
      @Resource('docs://other', { scopes: ['other'] })
      other() {
        return '';
      }

      @Resource('docs://hidden', { scopes: ['hidden'], access: async () => false })
      hidden() {
        return '';
      }
    }
    server.addProvider(Others);
    const asked = { resourceSubscriptions: ['docs://plain', 'docs://plan', 'docs://other', 'docs://hidden', 'no://'] };
    const scopes = ['files:write', 'files:all', 'other'];
    const some = await connect(server, STATELESS, { principal: SOME });
    expect(await some.error('subscriptions/listen', { notifications: asked })).toEqual(denied(LACKING, scopes));
    expect(await listen(some, { resourceSubscriptions: ['docs://plain'], toolsListChanged: true })).toEqual({
      resourceSubscriptions: ['docs://plain'],
      toolsListChanged: true,
    });
    const all = await connect(server, STATELESS, { principal: { subject: 'ada', scopes } });
    expect(await listen(all, asked)).toEqual({
      resourceSubscriptions: ['docs://plain', 'docs://plan', 'docs://other'],
    });
    const transport = overAuthorized('mcp');
    const anonymous = await connect(server, STATELESS, { transport });
    expect(await listen(anonymous, { resourceSubscriptions: ['docs://readme', 'no://'] })).toEqual({
      resourceSubscriptions: ['docs://readme'],
    });
    const notifications = { resourceSubscriptions: ['docs://readme', 'docs://plain'] };
    expect(await anonymous.error('subscriptions/listen', { notifications })).toEqual(denied(UNAUTHORIZED, ['mcp']));
    for (const wrong of [undefined, 5, { resourceSubscriptions: 5 }, { resourceSubscriptions: [5] }]) {
      expect(await some.error('subscriptions/listen', { notifications: wrong })).toMatchObject({ code: -32602 });
    }
    await server.close();
  });
});

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

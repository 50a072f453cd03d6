// `mount`: what a server serves of another one, and what the other one keeps deciding.
import {
  Completion,
  type Context,
  embedded,
  type Interceptor,
  type JsonObject,
  link,
  McpServer,
  mount,
  NoInput,
  type Principal,
  Prompt,
  Resource,
  TicketError,
  Tool,
} from '@decorum/core';
import { definePlugin, type ObservedQuestion, type ObservedRequest, type RequestOutcome } from '@decorum/core/plugin';
import { connect, revisions } from '@decorum/testing';
import { describe, expect, it } from '@jest/globals';
import { IsString } from 'class-validator';

import { ERAS, reporting, SILENT, textOf, turn } from './serving.js';

class Payment {
  @IsString() invoice!: string;
}

class NoteId {
  @IsString() id!: string;
}

class Invoices {
  @Tool({ description: 'Pays an invoice' }) pay({ invoice }: Payment) {
    return `paid ${invoice}`;
  }
  @Tool({ description: 'Links to notes' }) links() {
    return [
      link('notes://7', { name: 'seven' }),
      embedded({ uri: 'notes://7', data: 'text' }),
      link('https://example.com/', { name: 'web' }),
    ];
  }
  @Tool({ description: 'Asks' }) async ask(_input: NoInput, ctx: Context) {
    return (await ctx.confirm('Pay?')) ? 'yes' : 'no';
  }
  @Resource('notes://{id}', { list: 'all' }) note({ id }: NoteId) {
    if (id === 'none') return undefined;
    return `note ${id}`;
  }
  all() {
    return ['notes://7'];
  }
  @Prompt() remind({ id }: NoteId) {
    return [`Pay ${id}`, embedded({ uri: 'notes://7', data: 'text' })];
  }
  @Completion({ for: ['remind', 'note'], argument: 'id' }) ids(typed: string) {
    return ['7', '70', '8'].filter((id) => id.startsWith(typed));
  }
}

const billingOf = (options: object = {}) =>
  new McpServer({ name: 'billing', version: '1', providers: [Invoices], logger: SILENT, ...options });
const shopOf = (...providers: object[]) => new McpServer({ name: 'shop', version: '1', providers, logger: SILENT });

const through: Interceptor = (_call, next) => next();

describe.each(revisions)('A mounted server, in %s,', (revision) => {
  it('is served under a prefix, with its URIs in a segment', async () => {
    const shop = shopOf(mount(billingOf(), { prefix: 'billing' }));
    await using client = await connect(shop, { revision, via: 'http' });
    expect((await client.listTools()).map(({ name }) => name)).toEqual(['billing_pay', 'billing_links', 'billing_ask']);
    expect(textOf(await client.callTool('billing_pay', { invoice: '7' }))).toBe('paid 7');
    const blocks = (await client.callTool('billing_links')).content as readonly {
      uri?: string;
      resource?: { uri: string };
    }[];
    const uris = blocks.map(({ uri, resource }) => uri ?? resource?.uri).filter((uri) => uri !== undefined);
    expect(uris).toEqual(['notes://billing/7', 'notes://billing/7', 'https://example.com/'].slice(0, uris.length));
    expect((await client.listResourceTemplates()).map((each) => each.uriTemplate)).toEqual(['notes://billing/{id}']);
    expect((await client.listResources()).map(({ uri }) => uri)).toEqual(['notes://billing/7']);
    const { contents } = await client.readResource('notes://billing/8');
    expect(contents).toEqual([expect.objectContaining({ uri: 'notes://billing/8', text: 'note 8' })]);
    await expect(client.readResource('notes://billing/none')).rejects.toMatchObject({
      data: { uri: 'notes://billing/none' },
    });
    const { messages } = await client.getPrompt('billing_remind', { id: '7' });
    expect(messages[1]).toMatchObject({ content: { resource: { uri: 'notes://billing/7' } } });
    await shop.close();
  });

  it('asks the client within calls of its members', async () => {
    const shop = shopOf(mount(billingOf({ interceptors: [through] }), { prefix: 'billing' }));
    const asked: unknown[] = [];
    const onElicit = (question: object) => {
      asked.push((question as { message: string }).message);
      return { action: 'accept', content: { confirmed: true } } as const;
    };
    await using client = await connect(shop, { revision, via: 'http', onElicit });
    const hasQuestions = revisions.indexOf(revision) >= revisions.indexOf('2025-06-18');
    const result = client.callTool('billing_ask').then(textOf);
    expect(await result.catch(() => 'refused')).toMatch(hasQuestions ? 'yes' : /^(?!yes)/);
    expect(asked).toEqual(hasQuestions ? ['Pay?'] : []);
    await shop.close();
  });
});

class NotFound extends Error {}

class Failing {
  @Tool({ description: 'Finds nothing' }) find() {
    throw new NotFound('nothing');
  }
  @Tool({ description: 'Breaks' }) crash() {
    throw new Error('secret');
  }
  @Resource('notes://{id}') note({ id }: NoteId) {
    throw new NotFound(id);
  }
}

describe('The server of a mounted member', () => {
  it('intercepts the call after the server that mounts, with its own names', async () => {
    const seen: unknown[] = [];
    const noting =
      (at: string): Interceptor =>
      ({ kind, name, args }, next) => {
        seen.push([at, kind, name, args]);
        return next();
      };
    const inner = billingOf({ interceptors: [noting('inner')] });
    const shop = reporting({
      providers: [mount(inner, { prefix: 'billing' })],
      interceptors: [noting('outer')],
    }).server;
    await using client = await connect(shop);
    await client.callTool('billing_pay', { invoice: '7' });
    await client.readResource('notes://billing/7');
    await client.getPrompt('billing_remind', { id: '7' });
    await client.complete({ prompt: 'billing_remind' }, { name: 'id', value: '7' });
    expect(seen).toEqual([
      ['outer', 'tool', 'billing_pay', { invoice: '7' }],
      ['inner', 'tool', 'pay', { invoice: '7' }],
      ['outer', 'resource', 'notes://billing/7', { id: '7' }],
      ['inner', 'resource', 'notes://7', { id: '7' }],
      ['outer', 'prompt', 'billing_remind', { id: '7' }],
      ['inner', 'prompt', 'remind', { id: '7' }],
      ['outer', 'completion', 'billing_remind', { id: '7' }],
      ['inner', 'completion', 'remind', { id: '7' }],
    ]);
  });

  it('applies its error rules, and leaves other errors to the server that mounts', async () => {
    const inner = new McpServer({
      name: 'inner',
      version: '1',
      providers: [Failing],
      errors: [[NotFound, (error) => `No ${error.message}`]],
    });
    const { server, errors } = reporting({ providers: [mount(inner, { prefix: 'in' })] });
    await using client = await connect(server);
    expect(textOf(await client.callTool('in_find'))).toBe('No nothing');
    await expect(client.readResource('notes://in/7')).rejects.toThrow('No 7');
    expect(errors).toEqual([]);
    expect(textOf(await client.callTool('in_crash'))).toMatch(/^Internal error \(reference \w+\)$/);
    expect(errors).toEqual([new Error('secret')]);
  });

  it('masks and reports an error if it has a logger, under its own names', async () => {
    const origins: object[] = [];
    const inner = reporting({ providers: [Failing], onError: (_error, origin) => void origins.push(origin) }).server;
    const { server, errors } = reporting({ providers: [mount(inner, { prefix: 'in' })] });
    await using client = await connect(server);
    const text = textOf(await client.callTool('in_crash')) as string;
    expect(errors).toEqual([]);
    expect(origins).toEqual([
      expect.objectContaining({ member: 'crash', reference: /reference (\w+)/.exec(text)?.[1], method: 'tools/call' }),
    ]);
  });

  it.each(ERAS)('lets its plugins observe calls and questions under its own names, in %s', async (era) => {
    const seen: unknown[] = [];
    const watch = definePlugin(() => ({
      name: 'watch',
      async observe({ target, method, arguments: args }: ObservedRequest, run: () => Promise<RequestOutcome>) {
        const { status, cause, result } = await run();
        seen.push([method, target, args, status, cause, (result as { content?: unknown } | undefined)?.content]);
      },
      async ask({ method, request }: ObservedQuestion, run: () => Promise<{ readonly status: string }>) {
        const { status } = await run();
        seen.push([method, request.target, status]);
      },
    }));
    const inner = new McpServer({ name: 'inner', version: '1', providers: [Invoices, Failing2], plugins: [watch()] });
    const shop = reporting({ providers: [mount(inner, { prefix: 'in' })] }).server;
    await using client = await connect(shop, {
      era,
      onElicit: () => ({ action: 'accept', content: { confirmed: true } }),
    });
    await client.callTool('in_pay', { invoice: '7' });
    await client.callTool('in_crash');
    expect(seen.splice(0)).toEqual([
      ['tools/call', 'pay', { invoice: '7' }, 'ok', undefined, [{ type: 'text', text: 'paid 7' }]],
      ['tools/call', 'crash', {}, 'tool-error', 'bug', undefined],
    ]);
    await client.callTool('in_ask');
    await turn();
    const asked = ['elicitation/create', 'ask', era === 'stateful' ? 'ok' : 'input-required'];
    expect(seen).toContainEqual(asked);
    expect(seen.at(-1)).toEqual(['tools/call', 'ask', {}, 'ok', undefined, [{ type: 'text', text: 'yes' }]]);
  });
});

class Failing2 {
  @Tool({ description: 'Breaks' }) crash() {
    throw new Error('secret');
  }
}

describe('Access to a mounted member', () => {
  class Guarded {
    @Tool({ description: 'For staff', access: (principal) => principal?.subject === 'ada' }) staff() {
      return 'staff';
    }
    @Tool({ description: 'Needs a scope', scopes: ['pay'] }) scoped() {
      return 'scoped';
    }
    @Tool({ description: 'For all' }) open() {
      return 'open';
    }
  }
  const principal = { subject: 'ada', scopes: ['base'] };
  const namesFor = async (server: McpServer, who: Principal | undefined) => {
    await using client = await connect(server, who && { principal: who });
    return (await client.listTools()).map(({ name }) => name);
  };

  it('needs the access of the mount and its own', async () => {
    const access = (who: Principal | undefined) => who?.scopes?.includes('base') === true;
    const shop = shopOf(mount(new McpServer({ name: 'inner', version: '1', providers: [Guarded] }), { access }));
    expect(await namesFor(shop, principal)).toEqual(['staff', 'scoped', 'open']);
    expect(await namesFor(shop, { subject: 'ada' })).toEqual([]);
    expect(await namesFor(shop, { subject: 'bob', scopes: ['base'] })).toEqual(['scoped', 'open']);
  });

  it('needs the scopes of the mount and its own, and keeps the listing of its own server', async () => {
    const inner = new McpServer({ name: 'inner', version: '1', providers: [Guarded], listing: 'usable' });
    const shop = shopOf(mount(inner, { scopes: ['base'] }));
    expect(await namesFor(shop, principal)).toEqual(['staff', 'open']);
    expect(await namesFor(shop, { subject: 'ada', scopes: ['base', 'pay'] })).toEqual(['staff', 'scoped', 'open']);
    await using client = await connect(shop, { principal: { subject: 'ada', scopes: ['pay'] } });
    await expect(client.callTool('scoped')).rejects.toMatchObject({ data: { scopes: ['base', 'pay'] } });
  });
});

describe('The life of a mounted server', () => {
  const living = () => {
    const log: string[] = [];
    class Alive {
      onStart() {
        log.push('start');
      }
      onClose() {
        log.push('close');
      }
      @Tool({ description: 'Tells that it lives' }) alive() {
        return 'alive';
      }
    }
    return { log, inner: new McpServer({ name: 'inner', version: '1', providers: [Alive], logger: SILENT }) };
  };

  it('begins once, and ends with the last server that mounts it', async () => {
    const { log, inner } = living();
    const [one, two] = [shopOf(mount(inner)), shopOf(mount(inner, { prefix: 'a' }), mount(inner, { prefix: 'b' }))];
    await connect(one);
    await using client = await connect(two);
    await one.close();
    expect(log).toEqual(['start']);
    expect(textOf(await client.callTool('a_alive'))).toBe('alive');
    await two.close();
    expect(log).toEqual(['start', 'close']);
  });

  it('goes on while it has transports of its own', async () => {
    const { log, inner } = living();
    const shop = shopOf(mount(inner));
    await connect(shop);
    await using direct = await connect(inner);
    await shop.close();
    expect(textOf(await direct.callTool('alive'))).toBe('alive');
    await inner.close();
    expect(log).toEqual(['start', 'close']);
  });

  it('ends calls with the closing error if it is closed itself', async () => {
    const { inner } = living();
    const shop = shopOf(mount(inner), Failing2);
    await using client = await connect(shop);
    await inner.close();
    await expect(client.callTool('alive')).rejects.toThrow('The server is closing.');
    expect((await client.listTools()).map(({ name }) => name).sort()).toEqual(['alive', 'crash']);
    await shop.close();
  });

  it('closes after calls of its members on another server have ended', async () => {
    const { log, inner } = living();
    let end = () => {};
    const ended = new Promise<void>((resolve) => (end = resolve));
    const begun = new Promise<void>((begin) => {
      inner.addTool({ name: 'slow' }, async () => {
        begin();
        await ended;
        log.push('ended');
        return 'done';
      });
    });
    const shop = shopOf(mount(inner), Failing2);
    await using client = await connect(shop);
    const called = client.callTool('slow');
    await begun;
    const closed = inner.close();
    for (let count = 0; count < 20; count += 1) await turn();
    expect(log).toEqual(['start']);
    end();
    await closed;
    expect(textOf(await called)).toBe('done');
    expect(log).toEqual(['start', 'ended', 'close']);
    await shop.close();
  });

  it('starts with a running server, and ends when it is removed', async () => {
    const { log, inner } = living();
    const shop = shopOf(Failing2);
    await using client = await connect(shop);
    const { remove } = shop.addProvider(mount(inner));
    await client.nextNotification('notifications/tools/list_changed');
    expect(textOf(await client.callTool('alive'))).toBe('alive');
    remove();
    remove();
    await client.nextNotification('notifications/tools/list_changed');
    await expect(client.callTool('alive')).rejects.toThrow('Unknown tool');
    await turn();
    expect(log).toEqual(['start', 'close']);
  });

  it('fails to start the server that mounts if its own start fails', async () => {
    const inner = new McpServer({
      name: 'inner',
      version: '1',
      plugins: [{ name: 'broken', onStart: () => Promise.reject(new Error('no database')) }],
    });
    await expect(connect(shopOf(mount(inner)))).rejects.toThrow('no database');
  });
});

describe('Changes of a mounted server', () => {
  it('reach the clients of the server that mounts, through servers in between', async () => {
    const inner = billingOf();
    const middle = shopOf(mount(inner, { prefix: 'b' }));
    const shop = shopOf(mount(middle, { prefix: 'a' }));
    await using client = await connect(shop);
    const added = inner.addTool({ name: 'later', input: NoInput }, () => 'later');
    await client.nextNotification('notifications/tools/list_changed');
    expect(textOf(await client.callTool('a_b_later'))).toBe('later');
    added.remove();
    await client.nextNotification('notifications/tools/list_changed');
    expect((await client.listTools()).map(({ name }) => name)).toEqual(['a_b_pay', 'a_b_links', 'a_b_ask']);
    await client.subscribe('notes://a/b/7');
    inner.notify.resourceUpdated('notes://7');
    const { params } = await client.nextNotification('notifications/resources/updated');
    expect(params).toEqual({ uri: 'notes://a/b/7' });
    inner.notify.promptsChanged();
    await client.nextNotification('notifications/prompts/list_changed');
    const { values } = await client.complete({ resource: 'notes://a/b/{id}' }, { name: 'id', value: '7' });
    expect(values).toEqual(['7', '70']);
  });

  it('reject a name that is taken where it is mounted, and name both sources', () => {
    const inner = billingOf();
    const shop = shopOf(Failing2, mount(inner));
    expect(() => inner.addTool({ name: 'crash', input: NoInput }, () => '')).toThrow(
      'Two tools are called "crash": Failing2.crash and addTool.crash in mount(billing)',
    );
    expect(shop.info.name).toBe('shop');
    inner.addTool({ name: 'other', input: NoInput }, () => '').remove();
  });
});

it('opens the tickets of calls of its members', async () => {
  const tickets: string[] = [];
  const inner = billingOf();
  inner.addTool({ name: 'visit', input: NoInput }, async (_input, ctx) => {
    const url = ({ ticket }: { readonly ticket: string }) => (tickets.push(ticket), 'https://example.com');
    return await ctx.elicitUrl({ message: 'Sign in', url });
  });
  const shop = shopOf(mount(inner));
  const capabilities = { elicitation: { form: {}, url: {} } };
  await using client = await connect(shop, { capabilities, onElicit: () => ({ action: 'accept' }) });
  await client.callTool('visit');
  const [ticket = ''] = tickets;
  expect(inner.openTicket(ticket, undefined)).toEqual(shop.openTicket(ticket, undefined));
  expect(() => inner.openTicket('forged', undefined)).toThrow(TicketError);
});

it('gives extensions of the server that mounts the options of mounted tools, with the URIs that clients know', () => {
  const seen: unknown[] = [];
  const card = {
    id: 'com.example/card',
    toolOptions: { card: 'string' },
    moved: (options: JsonObject, move: (uri: string) => string) => ({
      ...options,
      card: move(String(options['card'])),
    }),
    start: (tool: { readonly name: string }, { card: uri }: JsonObject) => void seen.push([tool.name, uri]),
  } as const;
  const inner = new McpServer({ name: 'inner', version: '1', extensions: [card] });
  inner.addTool({ name: 'show', ...({ card: 'ui://card' } as object) }, () => '');
  new McpServer({ name: 'outer', version: '1', extensions: [card], providers: [mount(inner, { prefix: 'in' })] });
  expect(seen).toEqual([
    ['show', 'ui://card'],
    ['in_show', 'ui://in/card'],
  ]);
});

it('warns of extensions that the server that mounts lacks', () => {
  const inner = new McpServer({ name: 'inner', version: '1', extensions: [{ id: 'com.example/more' }] });
  const { warnings } = reporting({ providers: [mount(inner)] });
  expect(warnings).toEqual([
    'the extension "com.example/more" of the mounted server "inner" has no effect on "test". Add it there',
  ]);
});

describe('A server that is not mounted any more, or not at all,', () => {
  it('does not follow a server whose constructor threw, or that has closed', async () => {
    const inner = billingOf();
    expect(() => shopOf(Failing2, mount(inner), { wrong: true })).toThrow('wrong');
    const closed = shopOf(Failing2, mount(inner));
    await using home = await connect(inner);
    await connect(closed);
    await closed.close();
    inner.addTool({ name: 'crash' }, () => 'ours');
    expect(textOf(await home.callTool('crash'))).toBe('ours');
    await inner.close();
  });

  it('takes back what it had before it was mounted', async () => {
    const inner = billingOf();
    const added = inner.addTool({ name: 'early' }, () => 'early');
    const middle = shopOf(mount(inner, { prefix: 'b' }));
    await using client = await connect(shopOf(mount(middle, { prefix: 'a' })));
    expect(textOf(await client.callTool('a_b_early'))).toBe('early');
    added.remove();
    await client.nextNotification('notifications/tools/list_changed');
    await expect(client.callTool('a_b_early')).rejects.toThrow('Unknown tool');
    inner.addTool({ name: 'early' }, () => 'later');
    expect(textOf(await client.callTool('a_b_early'))).toBe('later');
  });
});

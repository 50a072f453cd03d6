// Proxies for several principals in front of one HTTP server.
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Client, type ClientOptions, connectClient, proxy, type ProxyOptions } from '@decorum/client';
import { type Context, McpServer, NoInput, Resource, Tool } from '@decorum/core';
import { listen, type ListenOptions } from '@decorum/http';

import { STATEFUL, STATELESS } from './front.js';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});
const keep = <T extends { close(): unknown }>(each: T): T => {
  open.push(each);
  return each;
};

const only = (subject: string) => ({
  access: (principal: { subject: string } | undefined) => principal?.subject === subject,
});

class Desk {
  @Tool({ description: 'Is for Ada', ...only('ada') })
  hers() {
    return 'hers';
  }

  @Tool({ description: 'Is for Bob', ...only('bob') })
  his() {
    return 'his';
  }

  @Tool({ description: 'Tells who calls' })
  who(_input: NoInput, ctx: Context) {
    return ctx.principal?.subject ?? 'nobody';
  }

  @Resource('desk://hers', { description: 'A letter to Ada', ...only('ada') })
  letter() {
    return 'Dear Ada';
  }
}

/** Trusts whoever says who calls, and lets others in. */
const auth: NonNullable<ListenOptions['auth']> = {
  authenticate: ({ headers }) => ({
    subject: String(headers['x-user']),
    scopes: String(headers['x-scope']).split(' '),
  }),
};

const headers: ProxyOptions['headers'] = (ctx) => ({ 'x-user': ctx?.principal?.subject ?? 'the front' });

interface Fronted {
  readonly upstream: McpServer;
  as(user: string, options?: ClientOptions): Promise<Client>;
}

/** A proxy over HTTP in front of a desk, which learns who calls. */
async function desk(options: ProxyOptions): Promise<Fronted> {
  const upstream = keep(new McpServer({ name: 'desk', version: '1.0.0', providers: [Desk] }));
  const { url } = await listen(upstream, { port: 0, auth });
  const providers = [proxy(url, { headers, ...options })];
  const front = keep(new McpServer({ name: 'front', version: '1.0.0', providers }));
  const { url: at } = await listen(front, { port: 0, auth });
  return {
    upstream,
    as: async (user, more = {}) =>
      keep(await connectClient(at, { ...more, headers: { 'x-user': user, ...more.headers } })),
  };
}

const names = async (client: Client) => (await client.listTools()).map(({ name }) => name);
const textOf = async (client: Client, tool: string) => {
  const [block] = (await client.callTool(tool)).content;
  return (block as { readonly text?: string } | undefined)?.text;
};

describe.each([STATELESS, STATEFUL])("`lists: 'caller'` towards an upstream of %s", (revision) => {
  const start = async () => await desk({ lists: 'caller', revision });

  it('shows each principal what is his own, and lets him call nothing else', async () => {
    const { as } = await start();
    const [ada, bob] = [await as('ada'), await as('bob')];
    expect(await names(ada)).toEqual(['hers', 'who']);
    expect(await names(bob)).toEqual(['his', 'who']);
    expect(await textOf(ada, 'hers')).toBe('hers');
    await expect(bob.callTool('hers')).rejects.toMatchObject({ code: -32602 });
    await expect(ada.callTool('his')).rejects.toMatchObject({ code: -32602 });
    expect([await textOf(ada, 'who'), await textOf(bob, 'who')]).toEqual(['ada', 'bob']);
    expect(await ada.readResource('desk://hers')).toMatchObject({ contents: [{ text: 'Dear Ada' }] });
    await expect(bob.readResource('desk://hers')).rejects.toMatchObject({ message: 'Resource not found' });
  });

  it('shows what the upstream has added since', async () => {
    const { as, upstream } = await start();
    const ada = await as('ada');
    expect(await names(ada)).toEqual(['hers', 'who']);
    const added = upstream.addTool({ name: 'later' }, () => 'late');
    expect(await textOf(ada, 'later')).toBe('late');
    added.remove();
    expect(await names(ada)).toEqual(['hers', 'who']);
  });
});

it('calls of two principals are told apart upstream, and shared lists are those of the server', async () => {
  const { as } = await desk({ revision: STATEFUL });
  const [ada, bob] = [await as('ada'), await as('bob')];
  expect([await names(ada), await names(bob)]).toEqual([['who'], ['who']]);
  const all = await Promise.all([ada, bob, ada, bob].map(async (client) => await textOf(client, 'who')));
  expect(all).toEqual(['ada', 'bob', 'ada', 'bob']);
});

describe('members of a proxy', () => {
  it('are for those whom `access` lets in', async () => {
    const { as } = await desk({ access: (principal) => principal?.subject === 'ada' });
    expect(await names(await as('ada'))).toEqual(['who']);
    const bob = await as('bob');
    expect(await names(bob)).toEqual([]);
    await expect(bob.callTool('who')).rejects.toMatchObject({ code: -32602 });
  });

  it.each(['shared', 'caller'] as const)('need the `scopes` of a proxy with lists of kind %s', async (lists) => {
    const { as } = await desk({ scopes: ['desk'], lists });
    const ada = await as('ada', { headers: { 'x-scope': 'desk' } });
    expect(await textOf(ada, 'who')).toBe('ada');
    const bob = await as('bob');
    await expect(bob.callTool('who')).rejects.toBeInstanceOf(Error);
  });
});

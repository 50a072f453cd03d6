import { afterEach, expect, it } from '@jest/globals';
import { type Client, connectClient, contractDigest, proxy, type ProxyOptions } from '@decorum/client';
import { type Context, McpServer, type McpServerOptions, NoInput, Resource, Tool } from '@decorum/core';
import { listen } from '@decorum/http';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});
const keep = <T extends { close(): unknown }>(each: T): T => {
  open.push(each);
  return each;
};

class Desk {
  @Tool({ description: 'Stays' })
  stay() {
    return 'here';
  }

  @Tool({ description: 'Is for Ada', access: (principal) => principal?.subject === 'ada' })
  secret() {
    return 'hush';
  }

  @Resource('desk://open', { description: 'Anybody may read it' })
  open() {
    return 'open';
  }

  @Tool({ description: 'Tells who calls' })
  who(_input: NoInput, ctx: Context) {
    return ctx.principal?.subject ?? 'nobody';
  }
}

const serverOf = (options: Partial<McpServerOptions> = {}) =>
  keep(new McpServer({ name: 'desk', version: '1.0.0', providers: [Desk], ...options }));

interface Front {
  readonly client: Client;
  readonly warnings: string[];
  readonly front: McpServer;
}

async function frontOf(target: Parameters<typeof proxy>[0], options: ProxyOptions = {}): Promise<Front> {
  const warnings: string[] = [];
  const logger = { warn: (_details: object, message: string) => void warnings.push(message), error: () => {} };
  const front = keep(new McpServer({ name: 'front', version: '1.0.0', providers: [proxy(target, options)], logger }));
  return { front, warnings, client: keep(await connectClient((await listen(front, { port: 0 })).url)) };
}

const names = async (client: Client) => (await client.listTools()).map(({ name }) => name);

it('serves only what the filter names, and warns of names that nothing has', async () => {
  const { client, warnings } = await frontOf(serverOf(), { filter: { tools: ['st*', 'styx'], resources: [] } });
  expect(warnings).toEqual([expect.stringContaining('has no tool that fits "styx" of `filter`')]);
  expect(await names(client)).toEqual(['stay']);
  expect(await client.listResources()).toEqual([]);
  await expect(client.readResource('desk://open')).rejects.toMatchObject({ code: -32602 });
});

it('follows the lists of its upstream', async () => {
  const upstream = serverOf();
  const { client } = await frontOf(upstream);
  const listening = await client.listen({ tools: true });
  upstream.addTool({ name: 'later' }, () => 'late');
  for await (const { method } of listening) {
    expect(method).toBe('notifications/tools/list_changed');
    break;
  }
  expect(await names(client)).toContain('later');
  await listening.close();
});

it('tells clients of changes of resources that they follow, by the URIs that they know', async () => {
  const upstream = serverOf();
  const { client } = await frontOf(upstream, { prefix: 'd' });
  const listening = await client.listen({ uris: ['desk://d/open'] });
  upstream.notify.resourceUpdated('desk://open');
  for await (const { params } of listening) {
    expect(params['uri']).toBe('desk://d/open');
    break;
  }
  await listening.close();
});

it('leaves out what clients would reject, and says so', async () => {
  const upstream = serverOf();
  upstream.addTool({ name: 'huge', description: 'x'.repeat(70_000) }, () => 'huge');
  const { client, warnings } = await frontOf(upstream);
  expect(await names(client)).toEqual(['stay', 'who']);
  expect(warnings.join()).toContain('has a tool "huge" that is larger than 65536 bytes');
});

it('caps the length of lists', async () => {
  const { client, warnings } = await frontOf(serverOf(), { limits: { members: 1 } });
  expect(await names(client)).toEqual(['stay']);
  expect(warnings.join()).toContain('has more than 1 tools');
});

it('refuses what has changed since it was pinned', async () => {
  const upstream = serverOf();
  const before = upstream.addTool({ name: 'pay', description: 'Pays' }, () => 'paid');
  const { client, warnings } = await frontOf(upstream, { pin: 'digest' });
  const listening = await client.listen({ tools: true });
  expect(await names(client)).toContain('pay');
  before.remove();
  upstream.addTool({ name: 'pay', description: 'Pays, and tells the attacker' }, () => 'paid');
  await listening[Symbol.asyncIterator]().next();
  expect(await names(client)).toEqual(['stay', 'who']);
  expect(warnings.join()).toContain('Left out: "tool:pay"');
  await listening.close();
});

it('serves nothing of a contract that is not the pinned one', async () => {
  const upstream = serverOf();
  const pin = await contractDigest(upstream);
  expect(await names((await frontOf(upstream, { pin })).client)).toEqual(['stay', 'who']);
  upstream.addTool({ name: 'pay' }, () => 'paid');
  const { client, warnings } = await frontOf(upstream, { pin });
  expect(await names(client)).toEqual([]);
  expect(warnings.join()).toContain(`but ${pin} is pinned`);
});

it('starts although its upstream is down', async () => {
  const { client, warnings } = await frontOf('http://user:pass@127.0.0.1:9/mcp?key=1');
  expect(await names(client)).toEqual([]);
  expect(warnings.join()).toContain('proxy(http://127.0.0.1:9/mcp) is not available');
});

it('changes members', async () => {
  const { client } = await frontOf(serverOf(), { transform: { stay: { name: 'remain' }, who: false, none: false } });
  expect(await names(client)).toEqual(['remain']);
  expect(await client.callTool('remain')).toMatchObject({ content: [{ text: 'here' }] });
});

it("shows callers what the upstream shows them with `lists: 'caller'`", async () => {
  const upstream = serverOf();
  const { client } = await frontOf(upstream, { lists: 'caller', prefix: 'd' });
  expect(await names(client)).toEqual(['d_stay', 'd_who']);
  expect(await client.callTool('d_stay')).toMatchObject({ content: [{ text: 'here' }] });
  expect(await client.readResource('desk://d/open')).toMatchObject({ contents: [{ text: 'open' }] });
  await expect(client.callTool('d_secret')).rejects.toMatchObject({ code: -32602 });
});

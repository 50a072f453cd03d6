// The program, with the official clients, whose user signs in.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, expect, it } from '@jest/globals';

import { Program } from '../../../test/auth/processes.js';
import { User } from '../../../test/auth/user.js';
import { freePort } from '../../../test/support/dev-project.js';

const PASSWORD = 'correct horse';
const INFO = { name: 'test', version: '1.0.0' };
const UNAUTHORIZED = /unauthorized/i;
const TOOLS = [
  'billing_list',
  'billing_pay',
  'billing_pay_all',
  'geo_locate',
  'stock_items',
  'stock_reserve',
  'support_administer',
];

let gateway: Program;
beforeAll(async () => {
  const env = { PORT: String(await freePort()), GATEWAY_PASSWORD: PASSWORD };
  gateway = await Program.start('../../examples/gateway/dist/main.js', [], env);
});
afterAll(() => gateway.stop());

const userOf = (name: string) => new User('mcp', undefined, { name, password: PASSWORD });

/** Connects as a user, who signs in, and later grants what a tool needs. */
async function connectAs(name: string, mode: 'legacy' | { readonly pin: string } = 'legacy') {
  const user = userOf(name);
  const open = () => new StreamableHTTPClientTransport(new URL(gateway.url), { authProvider: user });
  const client = new Client(INFO, { capabilities: { elicitation: {} }, versionNegotiation: { mode } });
  const first = open();
  await expect(client.connect(first)).rejects.toThrow(UNAUTHORIZED);
  await first.finishAuth(...user.returned);
  const transport = open();
  await client.connect(transport);
  const call = async (tool: string, args: Record<string, unknown> = {}) => {
    const { content } = await client.callTool({ name: tool, arguments: args });
    return (content as { text: string }[])[0]?.text;
  };
  const names = async () => (await client.listTools()).tools.map((tool) => tool.name).toSorted();
  const grant = () => transport.finishAuth(...user.returned);
  return { client, call, names, grant };
}

it('serves the members of all four to a user who has signed in', async () => {
  const user = userOf('bob');
  const open = () => new HttpV1(new URL(gateway.url), { authProvider: user });
  const client = new ClientV1(INFO);
  const first = open();
  await expect(client.connect(first as never)).rejects.toThrow(UNAUTHORIZED);
  await first.finishAuth(user.returned[0]);
  await client.connect(open() as never);
  const call = async (name: string, args: Record<string, unknown> = {}) =>
    ((await client.callTool({ name, arguments: args })).content as { text: string }[])[0]?.text;
  expect((await client.listTools()).tools.map(({ name }) => name).toSorted()).toEqual(TOOLS);
  expect(await call('billing_list')).toBe('R-1: 120 €\nR-2: 80 €');
  const { contents } = await client.readResource({ uri: 'invoices://billing/R-1' });
  expect(contents).toEqual([{ uri: 'invoices://billing/R-1', mimeType: 'text/plain', text: 'R-1 is open: 120 €.' }]);
  expect((await client.getPrompt({ name: 'support_reply' })).messages).toHaveLength(1);
  // the other server learns from the gateway who asks
  expect(await call('geo_locate', { city: 'Oslo' })).toBe('Oslo: 59.9° N, 10.8° E (asked by gateway for bob)');
  expect(await call('stock_reserve', { sku: 'tea', pieces: 2 })).toContain('"count":10');
  expect(await call('stock_reserve', { sku: 'tea', pieces: 200 })).toContain('There are only 10 pieces.');
  await client.close();
});

it('asks before it pays, and only for users who have granted that', async () => {
  const { client, call, grant } = await connectAs('alice');
  const asked: string[] = [];
  client.setRequestHandler('elicitation/create', ({ params }) => {
    asked.push(params.message);
    return { action: 'accept', content: {} };
  });
  await expect(call('billing_pay', { id: 'R-2' })).rejects.toThrow(UNAUTHORIZED);
  expect(asked).toEqual([]);
  await grant();
  expect(await call('billing_pay', { id: 'R-2' })).toBe('alice has paid 80 € for R-2.');
  expect(asked).toEqual(['Pay 80 € for R-2?']);
  await client.close();
});

it('pays what the user has seen, and nothing else', async () => {
  const { client, call, grant } = await connectAs('alice');
  const asked: unknown[] = [];
  client.setRequestHandler('elicitation/create', ({ params }) => {
    asked.push(JSON.parse(params.message));
    return { action: asked.length === 1 ? 'decline' : 'accept', content: {} };
  });
  await expect(call('billing_pay_all', { euros: 200 })).rejects.toThrow(UNAUTHORIZED);
  await grant();
  expect(await call('billing_pay_all', { euros: 200 })).toContain('did not confirm');
  expect(await call('billing_pay_all', { euros: 200 })).toBe('alice has paid 120 € for R-1.');
  expect(asked).toEqual([
    { ids: ['R-1'], total: 120 },
    { ids: ['R-1'], total: 120 },
  ]);
  expect(await call('billing_pay_all', { euros: 200 })).toBe('No invoice is due up to 200 €.');
  await client.close();
});

it('shows the tools for administrators to a session that asks for them', async () => {
  const { client, call, names, grant } = await connectAs('alice');
  const changed = new Promise<void>((resolve) =>
    client.setNotificationHandler('notifications/tools/list_changed', () => resolve()),
  );
  await expect(call('support_close_all')).rejects.toThrow('Unknown tool');
  await call('support_administer');
  await changed;
  expect(await names()).toEqual([...TOOLS, 'support_close_all'].toSorted());
  await expect(call('support_close_all')).rejects.toThrow(UNAUTHORIZED);
  await grant();
  expect(await call('support_close_all')).toBe('All tickets are closed.');
  await client.close();
});

it('serves clients without sessions, too', async () => {
  const { client, call, names } = await connectAs('bob', { pin: '2026-07-28' });
  expect(await names()).toEqual(TOOLS);
  expect(await call('geo_locate', { city: 'Lima' })).toBe('Lima: 12.0° S, 77.0° W (asked by gateway for bob)');
  await client.close();
});

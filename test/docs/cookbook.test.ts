// The servers of the cookbook, in what they are for: data stays consistent, tenants apart, and errors useful.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { McpServer } from '@decorum/core';
import { connect } from '@decorum/testing';
import { afterAll, afterEach, describe, expect, it } from '@jest/globals';

import '@decorum/testing/jest';

import { PagePrograms } from './running.js';

const pages: PagePrograms[] = [];
afterAll(() => pages.forEach((page) => page.remove()));

/** What the block of a recipe exports. */
async function recipe<T>(name: string, fileOrText: string): Promise<T> {
  const page = new PagePrograms(`docs/guides/${name}.md`);
  pages.push(page);
  return (await import(page.programOf(fileOrText))) as T;
}

/** Accounts behind the part of a pool that the recipe uses. A transaction that is not committed changes nothing. */
class FakePool {
  balances = new Map([
    ['ada', 10],
    ['bob', 0],
  ]);
  readonly said: string[] = [];

  async query(sql: string, values: readonly [string, number?] = ['']) {
    return run(this.balances, sql, values);
  }

  async connect() {
    const draft = new Map(this.balances);
    return {
      query: async (sql: string, values: readonly [string, number?] = ['']) => {
        if (sql === 'COMMIT') this.balances = draft;
        return run(draft, sql, values);
      },
      release: (isBroken?: boolean) => this.said.push(isBroken === true ? 'closed' : 'released'),
    };
  }

  async end() {
    this.said.push('ended');
  }
}

function run(balances: Map<string, number>, sql: string, [name, amount = 0]: readonly [string, number?]) {
  const balance = balances.get(name);
  if (sql.startsWith('SELECT balance')) return { rows: balance === undefined ? [] : [{ balance }], rowCount: null };
  const isTaken = sql.includes('balance - $2');
  if (!sql.startsWith('UPDATE') || balance === undefined || (isTaken && balance < amount)) return { rowCount: 0 };
  balances.set(name, isTaken ? balance - amount : balance + amount);
  return { rowCount: 1 };
}

describe('the recipe about databases', () => {
  const open = async () => {
    const pool = new FakePool();
    const { createBank } = await recipe<{ createBank: (pool: FakePool) => McpServer }>('database', 'src/bank.ts');
    const server = createBank(pool);
    return { pool, server, client: await connect(server) };
  };

  it('moves money, and closes its pool with the server', async () => {
    const { pool, server, client } = await open();
    expect(await client.callTool('transfer', { from: 'ada', to: 'bob', amount: 4 })).toReturnText(/^Moved 4/);
    expect(await client.callTool('balance', { name: 'bob' })).toReturnText('4');
    await client.close();
    await server.close();
    expect(pool.said).toEqual(['released', 'ended']);
  });

  it('takes nothing from anybody if nobody gets it, and says why', async () => {
    const { pool, client } = await open();
    const failed = client.callTool('transfer', { from: 'ada', to: 'nobody', amount: 4 });
    expect(await failed).toBeToolError('There is no account "nobody".');
    expect([pool.balances.get('ada'), pool.said]).toEqual([10, ['closed']]);
    await client.close();
  });
});

describe('the recipe about REST APIs', () => {
  const api = createServer((request: IncomingMessage, response: ServerResponse) => {
    if (request.headers.authorization !== 'Bearer secret') return response.writeHead(401).end();
    if (request.url === '/issues/1') {
      return response.end(JSON.stringify({ number: 1, title: 'It is slow', state: 'open', internal: 'x' }));
    }
    return response.writeHead(request.url === '/issues/2' ? 404 : 500).end();
  });
  afterEach(() => void api.close());

  it('reads what it names, tells the model of 404, and masks everything else', async () => {
    await once(api.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
    type Made = { createTracker: (url: string, token: string) => McpServer };
    const { createTracker } = await recipe<Made>('rest-wrapper', 'src/tracker.ts');
    const client = await connect(createTracker(url, 'secret'));
    const read = (number: number) => client.callTool('issue', { number });
    expect((await read(1)).structuredContent).toEqual({ number: 1, title: 'It is slow', state: 'open' });
    expect(await read(2)).toBeToolError('There is no such issue. Search first.');
    expect(await read(3)).toBeToolError(/^Internal error/);
    await client.close();
  });
});

it('the recipe about PATCH keeps what is left out, and clears what is null', async () => {
  const { contacts } = await recipe<{ contacts: McpServer }>('patch', 'class ContactPatch');
  const client = await connect(contacts);
  const change = async (patch: object) => {
    const { content } = await client.callTool('change', { id: '7', ...patch });
    return JSON.parse(content[0]?.type === 'text' ? content[0].text : '') as unknown;
  };
  expect(await change({})).toEqual({ name: 'Ada', phone: '+47 22', age: 36 });
  expect(await change({ phone: null, name: null })).toEqual({ name: 'Ada', phone: null, age: 36 });
  expect(await change({ phone: '+47 23', age: null })).toEqual({ name: 'Ada', phone: '+47 23', age: null });
  await client.close();
});

it('the recipe about long work reports its progress', async () => {
  const { server } = await recipe<{ server: McpServer }>('long-work', 'class Rows');
  const client = await connect(server);
  const seen: (number | undefined)[] = [];
  const onProgress = (progress: number) => void seen.push(progress);
  expect(await client.callTool('load', { rows: 250 }, { onProgress })).toReturnText('Imported 250 rows.');
  expect(seen).toEqual([100, 200]);
  await client.close();
});

it('the recipe about files gives back the bytes that it got', async () => {
  const { server } = await recipe<{ server: McpServer }>('uploads-and-files', 'class Files');
  const client = await connect(server);
  const blob = Buffer.from([0, 1, 254, 255]).toString('base64');
  const { content } = await client.callTool('keep', { content: blob });
  const uri = content.find((block) => block.type === 'resource_link')?.uri ?? '';
  expect((await client.readResource(uri)).contents).toMatchObject([{ blob }]);
  expect((await client.listResources()).map((each) => each.uri)).toEqual([uri]);
  await client.close();
});

it('the recipe about tenants keeps them apart', async () => {
  const { createDocuments } = await recipe<{ createDocuments: () => McpServer }>('multi-tenant', 'src/documents.ts');
  const server = createDocuments();
  const as = (subject: string, claims: Record<string, string>) => connect(server, { principal: { subject, claims } });
  const [ada, bob, eve] = [
    await as('x', { tenant: 'a', plan: 'paid' }),
    await as('x', { tenant: 'b' }),
    await as('y', {}),
  ];
  await ada.callTool('save', { title: 'Plan', text: 'Ours' });
  expect(await ada.callTool('read', { title: 'Plan' })).toReturnText('Ours');
  expect(await bob.callTool('read', { title: 'Plan' })).toReturnText('There is no document "Plan".');
  expect(await eve.callTool('read', { title: 'Plan' })).toBeToolError(/belongs to no customer/);
  // the same user in two tenants
  const other = await as('x', { tenant: 'b', plan: 'paid' });
  expect(await ada.callTool('summary')).toReturnText('1 documents.');
  expect(await other.callTool('summary')).toReturnText('0 documents.');
  await expect(bob).not.toHaveTool('summary');
  for (const each of [ada, bob, eve, other]) await each.close();
});

it('the recipe about large servers lists the parts under their names', async () => {
  const { office } = await recipe<{ office: McpServer }>('large-servers', 'const office');
  const client = await connect(office);
  const names = (await client.listTools()).map(({ name }) => name);
  expect(names.sort()).toEqual(['billing_pay', 'billing_show', 'shipping_track']);
  expect(await client.callTool('search_tools', { query: 'where is my parcel' })).toReturnText(/shipping_track/);
  await client.close();
});

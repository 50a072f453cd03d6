import { describe, expect, it } from '@jest/globals';
import { type Access, type JsonObject, McpServer, Tool, type Principal } from '@decorum/core';
import { type AddedMember, type Handlers, originalUri, placedUri } from '@decorum/core/plugin';
import { connect, revisions } from '@decorum/testing';
import { UriTemplate } from '@decorum/uri-template';
import fc from 'fast-check';

import { said } from '../kernel/serving.js';

const SCHEMA = { type: 'object', properties: { id: { type: 'string' } } };

/** Members of each kind, of this process and of another server. */
const MIXED: readonly AddedMember[] = [
  { kind: 'tool', key: 'pay', options: { input: SCHEMA } },
  { kind: 'tool', key: 'refund', entry: { name: 'refund', inputSchema: SCHEMA } },
  { kind: 'prompt', key: 'remind', entry: { name: 'remind', arguments: [{ name: 'tone' }] } },
  { kind: 'resource', key: 'terms', options: { uri: 'notes://terms' } },
  { kind: 'resource', key: 'note', entry: { uriTemplate: 'notes://{id}/text', name: 'note' } },
  { kind: 'completion', key: 'tones', options: { for: 'remind', argument: 'tone' } },
];

const HANDLERS: Handlers = {
  pay: ({ id }: JsonObject) => `paid ${String(id)}`,
  refund: (args: JsonObject) => ({ content: [{ type: 'text', text: JSON.stringify(args) }], isError: true }),
  remind: ({ tone }: JsonObject) => ({
    messages: [{ role: 'user', content: { type: 'text', text: String(tone) } }],
  }),
  terms: () => 'No returns.',
  note: (uri: string) => ({ contents: [{ uri, text: 'a note' }] }),
  tones: () => ['kind', 'firm'],
};

const server = () => new McpServer({ name: 'shop', version: '1' });

const VIAS = ['memory', 'stdio', 'http'] as const;
const WAYS = revisions.map((revision, index) => ({ revision, via: VIAS[index % 3] ?? 'memory' }));

describe.each(WAYS)('members from outside, in $revision over $via', ({ revision, via }) => {
  it('are listed with the prefix, and used like any others until they are removed', async () => {
    const shop = server();
    shop.addTool({ name: 'other' }, () => 'other');
    const registration = shop.addMembers(MIXED, HANDLERS, { prefix: 'billing' });
    const client = await connect(shop, { revision, via });
    expect((await client.listTools()).map(({ name }) => name)).toEqual(['other', 'billing_refund', 'billing_pay']);
    expect((await client.callTool('billing_pay', { id: 'a' })).content).toEqual(said('paid a'));
    expect(await client.callTool('billing_refund', { any: 1 })).toMatchObject({
      isError: true,
      content: said('{"any":1}'),
    });
    expect((await client.getPrompt('billing_remind', { tone: 'firm' })).messages[0]?.content).toMatchObject({
      text: 'firm',
    });
    expect(await client.readResource('notes://billing/terms')).toMatchObject({ contents: [{ text: 'No returns.' }] });
    expect(await client.listResourceTemplates()).toMatchObject([{ uriTemplate: 'notes://billing/{id}/text' }]);
    expect(await client.readResource('NOTES://BILLING/7/text')).toMatchObject({ contents: [{ text: 'a note' }] });
    const ref = { type: 'ref/prompt', name: 'billing_remind' } as const;
    const completed = await client.request('completion/complete', { ref, argument: { name: 'tone', value: '' } });
    expect(completed).toMatchObject({ completion: { values: ['kind', 'firm'] } });
    registration.remove();
    registration.remove();
    expect((await client.listTools()).map(({ name }) => name)).toEqual(['other']);
    expect([await client.listPrompts(), await client.listResources(), await client.listResourceTemplates()]).toEqual([
      [],
      [],
      [],
    ]);
    await client.close();
  });
});

describe('members from outside', () => {
  it('pass both the access of their source and their own, and need the scopes of both', async () => {
    const shop = server();
    const asked: string[] = [];
    const says =
      (name: string, answer: (caller: Principal | undefined) => unknown): Access =>
      (caller) => {
        asked.push(name);
        return answer(caller) as boolean;
      };
    const access = says('source', (caller) => caller?.subject !== 'bob');
    const own = says('own', (caller) => caller?.scopes?.includes('staff'));
    const options = (name: string) => ({ input: SCHEMA, name, access: own, scopes: ['write'] });
    const records: AddedMember[] = [
      { kind: 'tool', key: 'pay', options: options('a') },
      { kind: 'tool', key: 'pay', options: options('b') },
      { kind: 'tool', key: 'refund', entry: { name: 'c', inputSchema: SCHEMA } },
    ];
    shop.addMembers(records, HANDLERS, { access, scopes: ['read'] });
    const names = async (subject: string, scopes: string[]) => {
      const client = await connect(shop, { principal: { subject, scopes } });
      const found = (await client.listTools()).map(({ name }) => name);
      const tried = await client.callTool('a', { id: '1' }).then(
        ({ content }) => content,
        ({ message }: Error) => message,
      );
      return [found, tried];
    };
    expect(await names('bob', ['staff', 'read', 'write'])).toEqual([[], 'Unknown tool: a']);
    expect(await names('ada', ['read', 'write'])).toEqual([['c'], 'Unknown tool: a']);
    asked.length = 0;
    const [found, lacking] = await names('ada', ['staff', 'read']);
    expect([found, lacking]).toEqual([['c', 'a', 'b'], expect.stringContaining('lacks scopes')]);
    // the list asks once for the two tools that share both functions; the call, once for the scopes and the access
    expect(asked.filter((name) => name === 'own')).toHaveLength(2);
    expect((await names('ada', ['staff', 'read', 'write']))[1]).toEqual(said('paid 1'));
  });

  it('are added all or not at all', async () => {
    const shop = server();
    shop.addTool({ name: 'refund' }, () => 'ours');
    expect(() => shop.addMembers(MIXED, HANDLERS)).toThrow('DECORUM_DUPLICATE_NAME');
    const dangling = { kind: 'completion', key: 'tones', options: { for: 'nothing', argument: 'tone' } } as const;
    expect(() => shop.addMembers([...MIXED, dangling], HANDLERS, { prefix: 'b' })).toThrow(
      'DECORUM_DANGLING_COMPLETION',
    );
    const client = await connect(shop);
    expect((await client.listTools()).map(({ name }) => name)).toEqual(['refund']);
    await expect(client.listPrompts()).rejects.toThrow('Method not found');
    shop.addMembers(MIXED, HANDLERS, { prefix: 'b' });
    expect(await client.listPrompts()).toHaveLength(1);
  });

  it('are left out if they are of another server and invalid, if `onInvalid` is given', async () => {
    const shop = server();
    shop.addTool({ name: 'refund' }, () => 'ours');
    const problems: string[] = [];
    const onInvalid = ({ message }: Error) => void problems.push(message);
    shop.addMembers(MIXED, HANDLERS, { source: 'proxy(https://mcp.example.com)', onInvalid });
    expect(problems).toEqual([
      expect.stringMatching(
        /addTool\.refund and proxy\(https:\/\/mcp\.example\.com\)\.refund\. Give proxy\(.* a `prefix`/,
      ),
    ]);
    const client = await connect(shop);
    expect((await client.listTools()).map(({ name }) => name)).toEqual(['refund', 'pay']);
  });

  it('never run as hooks, whatever somebody else calls them', async () => {
    const shop = server();
    const ran: string[] = [];
    const handlers = { onStart: () => void ran.push('start'), onClose: () => void ran.push('close') };
    const records = Object.keys(handlers).map((name): AddedMember => ({
      kind: 'tool',
      key: name,
      entry: { name, inputSchema: SCHEMA },
    }));
    shop.addMembers(records, handlers as Handlers);
    const client = await connect(shop);
    expect(await client.listTools()).toHaveLength(2);
    await shop.close();
    expect(ran).toEqual([]);
  });

  it('may be none, for sources whose members come later', async () => {
    const shop = server();
    shop.addMembers([], {}, { offers: ['tools', 'completions'] }).remove();
    const client = await connect(shop, { era: 'stateless' });
    const { capabilities } = await client.request('server/discover');
    expect(capabilities).toMatchObject({ tools: { listChanged: true }, completions: {} });
    expect(await client.listTools()).toEqual([]);
  });
});

/** URIs with and without authorities, with empty parts, and with characters that URIs don't allow. */
const uris = fc.oneof(
  fc.webUrl({ withFragments: true, withQueryParameters: true }),
  fc
    .tuple(
      fc.constantFrom('notes', 'file', 'urn', 'a+b-c.d', 'HTTP'),
      fc.constantFrom(':', ':/', '://', ':///'),
      fc.string(),
    )
    .map((parts) => parts.join('')),
);

describe('the segment of a source in URIs', () => {
  it('can be removed again, whatever the URI', () => {
    fc.assert(
      fc.property(
        uris,
        fc.stringMatching(/^[\w.~-]{1,8}$/),
        fc.constantFrom('', 'eu+'),
        (uri, uriSegment, uriPrefix) => {
          const place = { uriPrefix, uriSegment };
          expect(originalUri(placedUri(uri, place), place)).toBe(uri);
        },
      ),
    );
  });

  it('keeps templates matching the URIs that they expand to', () => {
    const templates = [
      'notes://{id}',
      'notes://{id}/{part}{?q}',
      'file:///{+path}',
      'urn:x:{id}',
      'db:/{id}{/rest*}',
      'http://a.b/{id}#{f}',
    ];
    const place = { uriPrefix: '', uriSegment: 'billing' };
    const word = fc.stringMatching(/^[a-z]{1,5}$/);
    fc.assert(
      fc.property(
        fc.constantFrom(...templates),
        fc.record({ id: word, part: word, q: word, path: word, f: word }),
        (text, values) => {
          const uri = new UriTemplate(text).expand({ ...values, rest: ['a'] });
          expect(new UriTemplate(placedUri(text, place)).match(placedUri(uri, place))).toEqual(
            new UriTemplate(text).match(uri),
          );
        },
      ),
    );
  });

  it('is no part of URIs of other sources', () => {
    const place = { uriPrefix: '', uriSegment: 'billing' };
    for (const uri of ['notes://billings/7', 'notes://other/billing/7', 'notes:billing', '', 'billing/7']) {
      expect(originalUri(uri, place)).toBeUndefined();
    }
  });
});

describe('the class beside them', () => {
  it('keeps its own names', async () => {
    class Shop extends McpServer {
      @Tool() pay() {
        return 'ours';
      }
    }
    const shop = new Shop({ name: 'shop', version: '1' });
    shop.addMembers(MIXED, HANDLERS, { prefix: 'billing', separator: '.' });
    const client = await connect(shop);
    expect((await client.listTools()).map(({ name }) => name)).toEqual(['pay', 'billing.refund', 'billing.pay']);
    expect((await client.callTool('pay')).content).toEqual(said('ours'));
  });
});

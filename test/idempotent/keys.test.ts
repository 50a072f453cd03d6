// The keys that clients send: where, in which form, and the worst of them.
import { mount, McpServer } from '@decorum/core';
import { proxy } from '@decorum/client';
import { search } from '@decorum/search';
import { connect } from '@decorum/testing';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { answerTo, asked, urlOf } from '../support/stateless-post.js';
import { KEY, said, till } from './till.js';

const VISIBLE = fc.string({
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
  minLength: 1,
  maxLength: 255,
});

/** Posts a call as the user `ada`. Returns what it says. */
async function posted(made: ReturnType<typeof till>, { meta, header }: { meta?: unknown; header?: string }) {
  const message = asked(1, 'tools/call', { name: 'pay', arguments: {} }, meta === undefined ? {} : { [KEY]: meta });
  const headers = { 'x-user': 'ada', ...(header !== undefined && { 'idempotency-key': header }) };
  const [, { result, error }] = await answerTo(made.server, message, headers);
  const { content } = (result ?? {}) as { content?: { text: string }[] };
  return content?.[0]?.text ?? (error as { message: string }).message;
}

describe('an idempotency key', () => {
  it('is any text of 1 to 255 visible characters, and no two are the same', async () => {
    const { made, customer } = till(({ runs }) => `${runs}`);
    const { call } = await customer();
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(VISIBLE, { minLength: 2, maxLength: 5 }), async (keys) => {
        const first = await Promise.all(keys.map((key) => said(call(key))));
        const second = await Promise.all(keys.map((key) => said(call(key))));
        expect(second).toEqual(first);
        expect(new Set(first).size).toBe(keys.length);
      }),
      { numRuns: 50 },
    );
    expect(made.runs).toBeGreaterThan(50);
  });

  it('is refused in any other form, and the tool does not run', async () => {
    const { made, customer } = till();
    const { call } = await customer();
    const others = [
      '',
      ' ',
      'a b',
      'a\n',
      '\0',
      'ü',
      '\u{1f600}',
      'x'.repeat(256),
      'x'.repeat(100_000),
      7,
      null,
      true,
      [],
      ['a'],
      {},
    ];
    for (const other of others) {
      const text = await said(call(other));
      expect([other, text]).toEqual([
        other,
        expect.stringMatching(/^McpError: The idempotency key in _meta\["dev.decorum/),
      ]);
      expect(text.length).toBeLessThan(300);
    }
    expect(made.runs).toBe(0);
  });

  it('can be a header, in quotes or without', async () => {
    const made = till();
    expect(await posted(made, { header: '"order-7"' })).toBe('paid 1');
    for (const same of [{ header: 'order-7' }, { meta: 'order-7' }, { meta: 'order-7', header: '"order-7"' }])
      expect(await posted(made, same)).toBe('paid 1');
    expect(await posted(made, { header: String.raw`"a\"b\\c"` })).toBe('paid 2');
    expect(await posted(made, { meta: String.raw`a"b\c` })).toBe('paid 2');
    expect(made.made.runs).toBe(2);
  });

  it('is refused as a malformed or repeated header, and if `_meta` has another one', async () => {
    const made = till();
    for (const header of ['', '"', '"a', 'a b', '"a b"', '"a"b"', String.raw`"a\b"`, 'a, b', 'x'.repeat(300), '"ü"'])
      expect([header, await posted(made, { header })]).toEqual([
        header,
        expect.stringContaining('The idempotency key in the Idempotency-Key header'),
      ]);
    expect(await posted(made, { meta: 'a', header: 'b' })).toMatch(/differ: "a" and "b"/);
    expect(made.made.runs).toBe(0);
  });
});

describe('a key for a tool of another server', () => {
  it('reaches it through a mount, a search and a proxy', async () => {
    const { made, server } = till();
    const front = new McpServer({
      name: 'front',
      version: '1',
      providers: [mount(server)],
      plugins: [search({ above: 0 })],
    });
    const client = await connect(front);
    const call = async (name: string, args: object) => await said(client.callTool(name, args, { idempotencyKey: 'a' }));
    expect(await call('pay', {})).toBe('paid 1');
    expect(await call('call_tool', { name: 'pay', arguments: {} })).toBe('paid 1');
    expect(made.runs).toBe(1);
  });

  it('is another one for each caller of a proxy', async () => {
    const upstream = till();
    const front = new McpServer({
      name: 'front',
      version: '1',
      providers: [proxy(await urlOf(upstream.server), { headers: () => ({ 'x-user': 'front' }) })],
    });
    const call = async (subject?: string) => {
      const client = await connect(front, subject === undefined ? {} : { principal: { subject } });
      return await said(client.callTool('pay', {}, { idempotencyKey: 'a' }));
    };
    expect([await call('ada'), await call('bob'), await call('ada'), await call()]).toEqual([
      'paid 1',
      'paid 2',
      'paid 1',
      'paid 3',
    ]);
  });
});

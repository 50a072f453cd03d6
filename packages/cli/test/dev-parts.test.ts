// The parts of `decorum dev` that need no program.
import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';

import { describe, expect, it } from '@jest/globals';

import { isMcpAnswer } from '../src/dev/answers.js';
import { Bodies } from '../src/dev/http/bodies.js';
import { textAt, withText } from '../src/dev/json-text.js';
import { readCatalog } from '../src/dev/lists.js';

const answer = (result: object) => ({ jsonrpc: '2.0', id: 1, result });
const stateless = { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } };

describe('an answer that decorum dev relays', () => {
  it('shows that a path is MCP, whatever its request claims to be (#22)', () => {
    for (const method of ['tools/call', 'tools/list', 'server/discover', 'delete', undefined]) {
      const request = { jsonrpc: '2.0', id: 1, method, params: stateless };
      const results = [
        { resultType: 'complete', tools: [] },
        { resultType: 'input_required' },
        { tools: [] },
        { resultType: 1 },
        { resultType: null },
        {},
      ];
      const taken = results.map((result) => isMcpAnswer(answer(result), request));
      expect([method, taken]).toEqual([method, [true, true, false, false, false, false]]);
    }
  });

  it('shows it by what MCP alone answers, if the request is one of a session (#22)', () => {
    const requests: readonly (readonly [method: string, result: object, isMcp: boolean])[] = [
      ['initialize', { protocolVersion: '2025-11-25' }, true],
      ['initialize', { protocolVersion: 1 }, false],
      ['initialize', {}, false],
      ['tools/list', { tools: [] }, true],
      ['tools/list', { prompts: [] }, false],
      ['tools/list', { tools: {} }, false],
      ['delete', { resultType: 'complete' }, false],
    ];
    for (const [method, result, isMcp] of requests) {
      expect([method, result, isMcpAnswer(answer(result), { jsonrpc: '2.0', id: 1, method })]).toEqual([
        method,
        result,
        isMcp,
      ]);
    }
  });

  it('does not show it if it is an error (#22)', () => {
    const error = { jsonrpc: '2.0', id: 1, error: { code: -32601, message: 'No such method.' } };
    expect(isMcpAnswer(error, { jsonrpc: '2.0', id: 1, method: 'tools/list', params: stateless })).toBe(false);
  });
});

const MIB = 1024 * 1024;

function arriving(headers: Record<string, string> = {}) {
  const stream = new PassThrough({ highWaterMark: 32 * MIB });
  const controller = new AbortController();
  const request = Object.assign(stream, { headers }) as unknown as IncomingMessage;
  return { stream, request, gone: controller.signal, leave: () => controller.abort() };
}

async function rest(stream: PassThrough): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

describe('the bodies that wait in decorum dev', () => {
  it('are capped all together, until their clients leave (#22)', async () => {
    const bodies = new Bodies();
    const waiting = Array.from({ length: 4 }, () => arriving());
    const read = waiting.map(({ request, gone }) => bodies.read(request, gone));
    for (const { stream } of waiting) stream.write(Buffer.alloc(16 * MIB, ' '));
    const more = arriving();
    more.stream.end('{}');
    await expect(bodies.read(more.request, more.gone)).resolves.toBe('busy');
    await expect(rest(more.stream)).resolves.toEqual(Buffer.from('{}'));
    const [first] = waiting;
    first?.stream.end();
    await expect(read[0]).resolves.toMatchObject({ written: undefined });
    first?.leave();
    const next = arriving();
    next.stream.end('{}');
    await expect(bodies.read(next.request, next.gone)).resolves.toMatchObject({ bytes: Buffer.from('{}') });
  });

  it('can be passed on from their first byte if they are too large (#22)', async () => {
    const { stream, request, gone } = arriving();
    const read = new Bodies().read(request, gone);
    stream.write('first');
    stream.end(Buffer.alloc(16 * MIB, 'x'));
    await expect(read).resolves.toBe('too large');
    const all = await rest(stream);
    expect(all.subarray(0, 6).toString()).toBe('firstx');
    expect(all).toHaveLength(16 * MIB + 5);
  });

  it('are not read at all if they announce that they are too large (#22)', async () => {
    const { request, gone } = arriving({ 'content-length': String(16 * MIB + 1) });
    await expect(new Bodies().read(request, gone)).resolves.toBe('too large');
  });

  it('hold no message unless they are UTF-8 (#22)', async () => {
    const { stream, request, gone } = arriving();
    stream.end(Buffer.concat([Buffer.from('{"jsonrpc":"2.0","method":"'), Buffer.from([0xff]), Buffer.from('"}')]));
    await expect(new Bodies().read(request, gone)).resolves.toMatchObject({ written: undefined });
  });
});

const TEXT = String.raw`
{ "a\"}": [1, {"x": "]\\"}], "\u0069d" :  12345678901234567890 ,"n":1e400,
  "params" : {"list":[ {} , [],"," , -0.10 ],"empty":{ },"last":true} }
`;

describe('the text of JSON', () => {
  it.each([
    [['id'], '12345678901234567890'],
    [['n'], '1e400'],
    [['a"}', '1', 'x'], String.raw`"]\\"`],
    [['params', 'list', '2'], '","'],
    [['params', 'list', '3'], '-0.10'],
    [['params', 'empty'], '{ }'],
    [['params', 'last'], 'true'],
    [['params', 'list', '4'], undefined],
    [['params', 'none', 'id'], undefined],
    [['n', 'id'], undefined],
  ])('has the value at %j as it was written', (path, expected) => {
    expect(textAt(TEXT, path)).toBe(expected);
  });

  it('changes nothing but the value', () => {
    expect(withText(TEXT, ['id'], '"dev-1"')).toBe(TEXT.replace('12345678901234567890', '"dev-1"'));
    expect(withText('1', [], '2')).toBe('2');
  });

  it('takes the last of two values with one name, as JSON.parse does', () => {
    const text = '{"id":1,"params":{"n":1},"id":2,"params":{"n":2}}';
    expect(withText(text, ['id'], '3')).toBe('{"id":1,"params":{"n":1},"id":3,"params":{"n":2}}');
    expect(textAt(text, ['params', 'n'])).toBe('2');
  });

  it.each([
    ['{}', '{"a":{"b":true}}'],
    ['{ "n": 1e400 }', '{"a":{"b":true}, "n": 1e400 }'],
    ['{"a":{"c":[]}}', '{"a":{"b":true,"c":[]}}'],
    ['{"a":null,"n":1}', '{"a":{"b":true},"n":1}'],
    ['{"a":[{"b":1}]}', '{"a":{"b":true}}'],
  ])('adds a value to %s, with the objects around it', (text, expected) => {
    expect(withText(text, ['a', 'b'], 'true')).toBe(expected);
  });
});

describe('the catalog of a program', () => {
  it('has all tools, also of a program that lists only some, on each page', async () => {
    const pages: Readonly<Record<string, object>> = {
      first: { tools: [{ name: 'pay' }], nextCursor: 'second' },
      second: { tools: [{ name: 'refund' }] },
    };
    const catalog = await readCatalog(
      async (method, { cursor = 'first', _meta: meta }) => {
        if (method !== 'tools/list') return { result: {} };
        const asksForAll = (meta as Record<string, unknown>)['dev.decorum/tools'] === 'all';
        return { result: asksForAll ? pages[cursor as string] : { tools: [{ name: 'search_tools' }] } };
      },
      async () => undefined,
    );
    expect([...(catalog?.lists['tools/list'].keys() ?? [])]).toEqual(['pay', 'refund']);
  });
});

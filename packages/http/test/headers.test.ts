import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { acceptedBy, decodeHeader } from '../src/endpoint/headers.js';
import { type Fields, json, modernCall, modernHeaders, openSession, call, post, serve } from './fixture.js';

const ADD = { a: 1, b: 2 };
const base64 = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`;

describe('an error about a header', () => {
  it('says which header is wrong, and what it has to match [HDR-07]', async () => {
    const { url } = await serve();
    const message = modernCall('x', 'add', ADD);
    const headers = modernHeaders('tools/call', 'add');
    const { 'mcp-protocol-version': _, ...undeclared } = headers;
    const version = 'v'.repeat(300);
    const messageOf = async (of: Fields) => (await json(await post(url, message, of))).error?.message;
    expect(await messageOf(undeclared)).toBe('The MCP-Protocol-Version header is missing.');
    expect(await messageOf({ ...headers, 'mcp-protocol-version': version })).toMatch(
      /^The MCP-Protocol-Version header is v+…, but the message has 2026-07-28\.$/,
    );
    expect(await messageOf({ ...headers, 'mcp-method': 'x' })).toBe(
      'The Mcp-Method header does not match the message.',
    );
    expect(await messageOf({ ...headers, 'mcp-name': 'x' })).toBe(
      'The Mcp-Name header does not match the "name" of the message.',
    );
    const session = await openSession(url);
    const unknown = { ...session, 'mcp-protocol-version': 'v999.0.0' };
    expect((await json(await post(url, call('x', 'add', ADD), unknown))).error?.message).toBe(
      'The MCP-Protocol-Version is not supported.',
    );
  });
});

describe('Mcp-Param-* headers', () => {
  const city = { type: 'string', 'x-mcp-header': 'City' };
  const input = { type: 'object', properties: { place: { type: 'object', properties: { city } } } };
  const mirror = (place: object) => modernCall('x', 'mirror', { place } as never);

  it('are named in the error, with the path of their argument', async () => {
    const { url, server } = await serve();
    server.addTool({ name: 'mirror', input }, () => 'ok');
    const { error } = await json(await post(url, mirror({ city: 'Oslo' }), modernHeaders('tools/call', 'mirror')));
    expect(error?.message).toBe('The mcp-param-city header does not match the argument "place.city".');
  });

  it('are not compared with what every object inherits', async () => {
    const { url, server } = await serve();
    const properties = { constructor: { type: 'string', 'x-mcp-header': 'Maker' } };
    server.addTool({ name: 'make', input: { type: 'object', properties } }, () => 'made');
    const response = await post(url, modernCall('x', 'make'), modernHeaders('tools/call', 'make'));
    expect(await json(response)).toMatchObject({ result: { content: [{ text: 'made' }] } });
  });

  it('are ignored in sessions, whose revisions do not have them', async () => {
    const { url, server } = await serve();
    server.addTool({ name: 'mirror', input }, () => 'ok');
    const headers = { ...(await openSession(url)), 'mcp-param-city': 'Bergen' };
    const response = await post(url, call(1, 'mirror', { place: { city: 'Oslo' } }), headers);
    expect(await json(response)).toMatchObject({ result: { content: [{ text: 'ok' }] } });
  });
});

describe('decodeHeader', () => {
  it('decodes any text encoded as base64 [HDR-09]', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        (text) => decodeHeader(base64(text)) === Buffer.from(text).toString(),
      ),
    );
  });

  it('returns plain text without surrounding space', () => {
    for (const text of ['add', '=?base64?SGVsbG8=', 'SGVsbG8=', '=?base64?=', '?=', ''])
      expect(decodeHeader(` ${text}\t`)).toBe(text);
    expect(decodeHeader('=?base64??=')).toBe('');
  });

  it('returns undefined for base64 that is not canonical or not UTF-8 [HDR-10]', () => {
    for (const encoded of ['SGVsbG8', 'SGVs!!!bG8=', 'SGVsbG9=', 'SGVsbG8==', 'SGVs bG8=', '_-8=', '/w==', '7aCA']) {
      expect([encoded, decodeHeader(`=?base64?${encoded}?=`)]).toEqual([encoded, undefined]);
    }
    expect(decodeHeader('=?BASE64?SGVsbG8=?=')).toBe('=?BASE64?SGVsbG8=?=');
  });

  it('returns undefined for characters that are invalid in a header [HDR-19]', () => {
    for (const text of ['gr\u00F6\u00DFe', 'a\u0000b', 'a\u007F', '\u00A0']) expect(decodeHeader(text)).toBeUndefined();
  });
});

describe('acceptedBy', () => {
  it('reads media ranges, their wildcards and q=0', () => {
    const cases = [
      [undefined, undefined],
      ['*/*', undefined],
      ['text/event-stream,application/json', undefined],
      ['APPLICATION/JSON;charset=utf-8 , text/*;q=0.5', undefined],
      ['application/json', 'json'],
      ['application/*;q=0.001', 'json'],
      ['text/event-stream', 'stream'],
      ['application/json;q=0, text/event-stream', 'stream'],
      ['application/json; q=0.000', 'neither'],
      ['application/json;q=0.9', 'json'],
      ['application/json;xq=0', 'json'],
      ['text/event-stream;q=0.', 'neither'],
      ['text/html', 'neither'],
      ['', 'neither'],
    ] as const;
    for (const [accept, expected] of cases) expect([accept, acceptedBy(accept)]).toEqual([accept, expected]);
  });
});

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { acceptedBy, decodeHeader } from '../src/endpoint/headers.js';
import {
  type Fields,
  json,
  modern,
  modernCall,
  modernHeaders,
  openSession,
  call,
  post,
  raw,
  serve,
} from './fixture.js';

const ADD = { a: 1, b: 2 };
const base64 = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`;

async function outcome(url: string, message: unknown, headers: Fields) {
  const response = await post(url, message, headers);
  const { id, error } = await json(response);
  return { status: response.status, code: error?.code, id };
}

const MISMATCH = { status: 400, code: -32020, id: 'x' };
const OK = { status: 200, code: undefined, id: 'x' };

describe('MCP-Protocol-Version of the stateless era', () => {
  const headers = modernHeaders('tools/call', 'add');

  it('must be present and match the message [HDR-01]', async () => {
    const { url } = await serve();
    const message = modernCall('x', 'add', ADD);
    const { 'mcp-protocol-version': _, ...without } = headers;
    expect(await outcome(url, message, headers)).toEqual(OK);
    expect(await outcome(url, message, without)).toEqual(MISMATCH);
    expect(await outcome(url, message, { ...headers, 'mcp-protocol-version': '2025-11-25' })).toEqual(MISMATCH);
    expect(await outcome(url, message, { ...headers, 'mcp-protocol-version': '2026-07-28x' })).toEqual(MISMATCH);
  });

  it('may be absent in a session, or name another revision with sessions', async () => {
    const { url } = await serve();
    const { 'mcp-protocol-version': _, ...session } = await openSession(url);
    expect(await outcome(url, call('x', 'add', ADD), session)).toEqual(OK);
    const other = { ...session, 'mcp-protocol-version': '2025-03-26' };
    expect(await outcome(url, call('x', 'add', ADD), other)).toEqual(OK);
  });

  it('of a version that is not supported is answered with 400 and -32022 [HDR-03]', async () => {
    const { url } = await serve();
    const meta = { 'io.modelcontextprotocol/protocolVersion': 'v999.0.0' };
    const response = await post(url, modernCall('x', 'add', ADD, meta), {
      ...headers,
      'mcp-protocol-version': 'v999.0.0',
    });
    expect(response.status).toBe(400);
    expect(await json(response)).toMatchObject({ id: 'x', error: { code: -32022, data: { requested: 'v999.0.0' } } });
  });

  it('is compared after the envelope, and before it is looked up [HDR-01] [HDR-03]', async () => {
    const { url } = await serve();
    const noMeta = { jsonrpc: '2.0', id: 'x', method: 'tools/call', params: { name: 'add', arguments: ADD } };
    expect(await outcome(url, noMeta, headers)).toEqual({ status: 400, code: -32602, id: 'x' });
    expect(await outcome(url, noMeta, { ...headers, ...(await openSession(url)), ...headers })).toMatchObject({
      status: 400,
      code: -32602,
    });
    const meta = { 'io.modelcontextprotocol/protocolVersion': 'v999.0.0' };
    expect(await outcome(url, modernCall('x', 'add', ADD, meta), headers)).toEqual(MISMATCH);
    const initialize = { jsonrpc: '2.0', id: 'x', method: 'initialize', params: {} };
    expect(await outcome(url, initialize, headers)).toEqual({ status: 404, code: -32601, id: 'x' });
  });
});

describe('Mcp-Method and Mcp-Name', () => {
  it('name a method that does not exist: 404 and -32601 [HDR-04]', async () => {
    const { url } = await serve();
    for (const method of ['unknown/method', 'initialize', 'ping', 'logging/setLevel']) {
      expect(await outcome(url, modern('x', method), modernHeaders(method))).toEqual({
        status: 404,
        code: -32601,
        id: 'x',
      });
    }
  });

  it('Mcp-Method must be present and match the method [HDR-05] [HDR-07]', async () => {
    const { url } = await serve();
    const message = modern('x', 'tools/list');
    expect(await outcome(url, message, modernHeaders('tools/list'))).toEqual(OK);
    expect(await outcome(url, message, { 'mcp-protocol-version': '2026-07-28' })).toEqual(MISMATCH);
    expect(await outcome(url, message, modernHeaders('prompts/list'))).toEqual(MISMATCH);
    expect(await outcome(url, message, modernHeaders(''))).toEqual(MISMATCH);
  });

  it('Mcp-Name must be present and match the tool, the prompt or the URI [HDR-06] [HDR-07]', async () => {
    const { url } = await serve();
    const cases = [
      [modernCall('x', 'add', ADD), 'tools/call', 'add'],
      [modern('x', 'prompts/get', { name: 'greet' }), 'prompts/get', 'greet'],
      [modern('x', 'resources/read', { uri: 'docs://guide' }), 'resources/read', 'docs://guide'],
    ] as const;
    for (const [message, method, name] of cases) {
      expect(await outcome(url, message, modernHeaders(method, name))).toEqual(OK);
      expect(await outcome(url, message, modernHeaders(method))).toEqual(MISMATCH);
      expect(await outcome(url, message, modernHeaders(method, `${name}x`))).toEqual(MISMATCH);
      expect(await outcome(url, message, modernHeaders(method, `${name}, ${name}`))).toEqual(MISMATCH);
    }
    const nameless = modern('x', 'tools/call', { arguments: {} });
    expect(await outcome(url, nameless, modernHeaders('tools/call', 'add'))).toEqual(MISMATCH);
  });

  it('have case-insensitive names and case-sensitive values [HDR-08]', async () => {
    const { url } = await serve();
    const version = { 'MCP-PROTOCOL-VERSION': '2026-07-28' };
    const message = modernCall('x', 'add', ADD);
    expect(await outcome(url, message, { ...version, 'MCP-METHOD': 'tools/call', 'mCP-nAME': '  add  ' })).toEqual(OK);
    expect(await outcome(url, message, modernHeaders('TOOLS/CALL', 'add'))).toEqual(MISMATCH);
    expect(await outcome(url, message, modernHeaders('tools/call', 'Add'))).toEqual(MISMATCH);
  });

  it('Mcp-Name may be base64 of any text [HDR-09]', async () => {
    const { url } = await serve();
    expect(await outcome(url, modernCall('x', 'add', ADD), modernHeaders('tools/call', base64('add')))).toEqual(OK);
    const name = 'größe 🌍';
    const found = { status: 200, code: -32602, id: 'x' };
    expect(await outcome(url, modernCall('x', name), modernHeaders('tools/call', base64(name)))).toEqual(found);
  });

  it('Mcp-Name must be encoded if the name looks encoded, or has characters that a header cannot have [HDR-09]', async () => {
    const { url } = await serve();
    const read = async (uri: string, name: string) => {
      const headers = { ...modernHeaders('resources/read', name), 'content-type': 'application/json' };
      const [{ statusCode }, text] = await raw(
        url,
        'POST',
        headers,
        JSON.stringify(modern('x', 'resources/read', { uri })),
      );
      const { error } = JSON.parse(text) as { error?: { code: number } };
      return { status: statusCode, code: error?.code, id: 'x' };
    };
    const NOT_FOUND = { status: 200, code: -32602, id: 'x' };
    for (const uri of [base64('add'), 'docs://größe']) {
      // as Latin-1, and as UTF-8
      for (const name of [uri, Buffer.from(uri).toString('latin1')]) {
        expect([uri, await read(uri, name)]).toEqual([uri, MISMATCH]);
      }
      expect([uri, await read(uri, base64(uri))]).toEqual([uri, NOT_FOUND]);
    }
  });

  it('Mcp-Name is rejected unless its base64 is canonical [HDR-10]', async () => {
    const { url } = await serve();
    for (const name of [
      '=?BASE64?YWRk?=',
      '=?base64?YWRk',
      '=?base64?YWR?=',
      '=?base64?YW!!!Rk?=',
      '=?base64?YWRk=?=',
    ]) {
      expect([name, await outcome(url, modernCall('x', 'add', ADD), modernHeaders('tools/call', name))]).toEqual([
        name,
        MISMATCH,
      ]);
    }
  });
});

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

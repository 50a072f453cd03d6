import { describe, expect, it } from '@jest/globals';

import { type Fields, json, modernCall, modernHeaders, openSession, call, post, raw, serve } from './fixture.js';

const base64 = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`;

const SCHEMA = {
  type: 'object',
  properties: {
    label: { type: 'string', 'x-mcp-header': 'Label' },
    count: { type: 'integer', 'x-mcp-header': 'Count' },
    dry: { type: 'boolean', 'x-mcp-header': 'Dry-Run' },
    place: { type: 'object', properties: { city: { type: 'string', 'x-mcp-header': 'City' } } },
  },
};

/** Serves a tool with mirrored arguments of each type. Returns a function that calls it with arguments and headers. */
async function mirror() {
  const served = await serve();
  served.server.addTool({ name: 'mirror', description: 'Mirrors', input: SCHEMA }, () => 'ok');
  const outcome = async (args: object, headers: Fields) => {
    const message = modernCall('x', 'mirror', args as never);
    const response = await post(served.url, message, { ...modernHeaders('tools/call', 'mirror'), ...headers });
    const { id, error, result } = await json(response);
    return [response.status, id, error?.code ?? result?.content?.[0]?.text];
  };
  return { ...served, outcome };
}

const OK = [200, 'x', 'ok'];
const MISMATCH = [400, 'x', -32020];

describe('Mcp-Param-* headers', () => {
  it('must be present for each mirrored argument and match it exactly [HDR-17]', async () => {
    const { outcome } = await mirror();
    const args = { label: 'eu-1', count: 3, dry: false, place: { city: 'Oslo' } };
    const headers = { 'Mcp-Param-Label': 'eu-1', 'mcp-param-count': '3', 'MCP-PARAM-DRY-RUN': 'false' };
    const all: Fields = { ...headers, 'mcp-param-city': 'Oslo' };
    expect(await outcome(args, all)).toEqual(OK);
    for (const name of Object.keys(all)) {
      const { [name]: value = '', ...others } = all;
      expect([name, await outcome(args, others)]).toEqual([name, MISMATCH]);
      expect([name, await outcome(args, { ...others, [name]: `${value}0` })]).toEqual([name, MISMATCH]);
    }
    expect(await outcome({ label: 'eu-1' }, { 'mcp-param-label': 'EU-1' })).toEqual(MISMATCH);
    expect(await outcome({ label: 'eu-1' }, { 'mcp-param-label': 'eu-1, eu-1' })).toEqual(MISMATCH);
  });

  it('are not expected if the argument is null or absent [HDR-18]', async () => {
    const { outcome } = await mirror();
    expect(await outcome({}, {})).toEqual(OK);
    expect(await outcome({ place: {} }, {})).toEqual(OK);
    // null is not a string, but that is for the schema of the tool to reject, not for the header check
    expect((await outcome({ label: null }, {}))[2]).not.toBe(-32020);
    expect(await outcome({}, { 'mcp-param-label': 'eu-1' })).toEqual(MISMATCH);
  });

  it('are rejected if the argument is absent, null, or not of the type in its schema [HDR-17]', async () => {
    const { outcome } = await mirror();
    expect(await outcome({}, { 'mcp-param-label': 'undefined' })).toEqual(MISMATCH);
    expect(await outcome({ place: {} }, { 'mcp-param-city': 'undefined' })).toEqual(MISMATCH);
    expect(await outcome({ label: null }, { 'mcp-param-label': 'null' })).toEqual(MISMATCH);
    expect(await outcome({ label: ['eu'] }, { 'mcp-param-label': 'eu' })).toEqual(MISMATCH);
    expect(await outcome({ label: 7 }, { 'mcp-param-label': '7' })).toEqual(MISMATCH);
    expect(await outcome({ dry: 'true' }, { 'mcp-param-dry-run': 'true' })).toEqual(MISMATCH);
    expect(await outcome({ count: '42' }, { 'mcp-param-count': '42' })).toEqual(MISMATCH);
  });

  it('may be canonical base64 of any text [HDR-09] [HDR-10]', async () => {
    const { outcome } = await mirror();
    const label = ' größe 🌍\n';
    expect(await outcome({ label }, { 'mcp-param-label': base64(label) })).toEqual(OK);
    expect(await outcome({ label: '' }, { 'mcp-param-label': base64('') })).toEqual(OK);
    // text that looks encoded must be encoded
    expect(await outcome({ label: base64('a') }, { 'mcp-param-label': base64(base64('a')) })).toEqual(OK);
    expect(await outcome({ label: base64('a') }, { 'mcp-param-label': base64('a') })).toEqual(MISMATCH);
    expect(await outcome({ label: 'Hello' }, { 'mcp-param-label': base64('Hello') })).toEqual(OK);
    for (const encoded of ['SGVsbG8', 'SGVsbG8==', 'SGVs!!!bG8=', 'SGVsbG9=', 'SGVs bG8=']) {
      const header = `=?base64?${encoded}?=`;
      expect([encoded, await outcome({ label: 'Hello' }, { 'mcp-param-label': header })]).toEqual([encoded, MISMATCH]);
    }
    expect(await outcome({ label: 'Hello' }, { 'mcp-param-label': '=?BASE64?SGVsbG8=?=' })).toEqual(MISMATCH);
  });

  it('are rejected with characters that are invalid in a header [HDR-19]', async () => {
    const { outcome, url } = await mirror();
    expect(await outcome({ label: 'größe' }, { 'mcp-param-label': 'größe' })).toEqual(MISMATCH);
    const headers = {
      ...modernHeaders('tools/call', 'mirror'),
      'mcp-param-label': Buffer.from('größe').toString('latin1'),
    };
    const body = JSON.stringify(modernCall('x', 'mirror', { label: 'größe' }));
    const [{ statusCode }, text] = await raw(url, 'POST', { 'content-type': 'application/json', ...headers }, body);
    expect([statusCode, JSON.parse(text)]).toMatchObject([400, { id: 'x', error: { code: -32020 } }]);
  });

  it('are named in the error, with the path of their argument', async () => {
    const { url } = await mirror();
    const message = modernCall('x', 'mirror', { place: { city: 'Oslo' } });
    const { error } = await json(await post(url, message, modernHeaders('tools/call', 'mirror')));
    expect(error?.message).toBe('The mcp-param-city header does not match the argument "place.city".');
  });

  it('are not compared with what every object inherits', async () => {
    const { url, server } = await mirror();
    const properties = { constructor: { type: 'string', 'x-mcp-header': 'Maker' } };
    server.addTool({ name: 'make', description: 'Makes', input: { type: 'object', properties } }, () => 'made');
    const response = await post(url, modernCall('x', 'make'), modernHeaders('tools/call', 'make'));
    expect(await json(response)).toMatchObject({ result: { content: [{ text: 'made' }] } });
  });

  it('are ignored if they mirror no argument [HDR-20]', async () => {
    const { outcome, url } = await mirror();
    expect(await outcome({ label: 'a' }, { 'mcp-param-label': 'a', 'mcp-param-other': '=?base64?!?=' })).toEqual(OK);
    const add = { ...modernHeaders('tools/call', 'add'), 'mcp-param-label': 'a' };
    expect((await post(url, modernCall(1, 'add', { a: 1, b: 2 }), add)).status).toBe(200);
  });

  it('are compared as numbers if the argument is an integer [HDR-21]', async () => {
    const { outcome } = await mirror();
    for (const text of ['42', '42.0', '42.000', '042', base64('42')]) {
      expect([text, await outcome({ count: 42 }, { 'mcp-param-count': text })]).toEqual([text, OK]);
    }
    expect(await outcome({ count: -0 }, { 'mcp-param-count': '0' })).toEqual(OK);
    expect(await outcome({ count: -42 }, { 'mcp-param-count': '-42' })).toEqual(OK);
    for (const text of ['43', '42.5', '4.2e1', '0x2a', '+42', '42,0', 'forty-two', '']) {
      expect([text, await outcome({ count: 42 }, { 'mcp-param-count': text })]).toEqual([text, MISMATCH]);
    }
    // beyond the safe integers, different numbers compare as equal
    expect(await outcome({ count: 2 ** 53 }, { 'mcp-param-count': '9007199254740993' })).toEqual(MISMATCH);
  });

  it('are literally true or false if the argument is a boolean [HDR-17]', async () => {
    const { outcome } = await mirror();
    expect(await outcome({ dry: true }, { 'mcp-param-dry-run': 'true' })).toEqual(OK);
    for (const text of ['True', '1', 'yes', 'false', '']) {
      expect([text, await outcome({ dry: true }, { 'mcp-param-dry-run': text })]).toEqual([text, MISMATCH]);
    }
  });

  it('are ignored in sessions, whose revisions do not have them', async () => {
    const { url } = await mirror();
    const session = await openSession(url);
    const response = await post(url, call(1, 'mirror', { label: 'a' }), { ...session, 'mcp-param-label': 'b' });
    expect(await json(response)).toMatchObject({ result: { content: [{ text: 'ok' }] } });
  });
});

import { afterAll, describe, expect } from '@jest/globals';
import { Completion, type JsonObject, McpServer, Prompt, Tool } from '@decorum/core';
import { listen } from '@decorum/http';

import { afterwards, json, raw, serve } from '../../packages/http/test/fixture.js';
import type { Message } from '../support/raw-client.js';
import { inStateless, STATELESS } from '../support/requirements.js';
import { ADD, HttpClient } from '../support/http-client.js';

type Changes = Record<string, string | undefined>;

const VERSION = 'mcp-protocol-version';
const META_VERSION = 'io.modelcontextprotocol/protocolVersion';

const base64 = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`;

/** The response if a header is missing or differs from the message. */
const MISMATCH = { status: 400, code: -32020, id: 'x' };
const OK = { status: 200, code: undefined, id: 'x' };

const MIRRORED = {
  type: 'object',
  properties: {
    label: { type: 'string', 'x-mcp-header': 'Label' },
    count: { type: 'integer', 'x-mcp-header': 'Count' },
    dry: { type: 'boolean', 'x-mcp-header': 'Dry-Run' },
    place: { type: 'object', properties: { city: { type: 'string', 'x-mcp-header': 'City' } } },
    plain: { type: 'string' },
  },
};

/** Serves tools with unusual names and one with mirrored arguments. Returns a function that sends a request. */
async function connect() {
  const { url, server } = await serve();
  server.addTool({ name: 'mirror', input: MIRRORED }, () => 'ok');
  const client = await HttpClient.open(url, STATELESS);
  /** Sends a request with the usual headers and some changes. */
  const outcome = async (message: Message, changes: Changes = {}) => {
    const answer = async (accept: Changes) => {
      const response = await client.post(message, { ...accept, ...changes });
      const { id, error } = await json(response);
      return { status: response.status, code: error?.code, id };
    };
    const found = await answer({});
    // an error has the same status for a client that accepts nothing but streams
    if (found.status >= 400) expect(await answer({ accept: 'text/event-stream' })).toEqual(found);
    return found;
  };
  const request = (method: string, params?: JsonObject) => client.buildMessage('x', method, params);
  const add = request('tools/call', { name: 'add', arguments: ADD });
  const mirror = async (args: JsonObject, headers: Changes = {}) =>
    await outcome(request('tools/call', { name: 'mirror', arguments: args }), headers);
  return { url, server, client, outcome, request, add, mirror };
}

/** The requests with `Mcp-Name`. */
const NAMED = [
  ['tools/call', { name: 'add', arguments: ADD }, 'add'],
  ['prompts/get', { name: 'greet' }, 'greet'],
  ['resources/read', { uri: 'docs://guide' }, 'docs://guide'],
] as const;

describe('MCP-Protocol-Version', () => {
  inStateless('HDR-01', 'must be sent with every request and match the message', async () => {
    const { outcome, request } = await connect();
    const lists = ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list', 'server/discover'];
    const valid = [...NAMED, ...lists.map((method) => [method] as const)].map(([method, params]) =>
      request(method, params),
    );
    for (const message of valid) expect(await outcome(message)).toEqual(OK);
    for (const message of [...valid, request('subscriptions/listen', { notifications: {} }), request('no/such')]) {
      for (const version of [undefined, '', '2025-11-25', '2026-07-28x', '2026-07-28, 2026-07-28', '1.0']) {
        expect([version, await outcome(message, { [VERSION]: version })]).toEqual([version, MISMATCH]);
      }
    }
    const older = request('tools/list', { _meta: { [META_VERSION]: '2025-11-25' } });
    expect(await outcome(older)).toEqual(MISMATCH);
  });

  inStateless('HDR-02', 'may be absent in sessions, which are older than the header', async () => {
    const { url } = await connect();
    for (const revision of ['2024-11-05', '2025-03-26'] as const) {
      const client = await HttpClient.open(url, revision);
      expect(client.headers).not.toHaveProperty(VERSION);
      expect((await json(await client.call('x', 'add', { args: ADD }))).result?.content?.[0]?.text).toBe('3');
    }
  });

  inStateless('HDR-03', 'that is not supported is answered with 400 and the supported ones', async () => {
    const { client, outcome, request } = await connect();
    for (const version of ['v999.0.0', '2099-01-01']) {
      const message = request('tools/call', { name: 'add', arguments: ADD, _meta: { [META_VERSION]: version } });
      expect(await outcome(message, { [VERSION]: version })).toEqual({ status: 400, code: -32022, id: 'x' });
      const { error } = await json(await client.post(message, { [VERSION]: version }));
      expect(error?.data).toMatchObject({ requested: version, supported: expect.arrayContaining([STATELESS]) });
    }
  });
});

describe('Mcp-Method', () => {
  inStateless('HDR-04', 'of a method that does not exist is answered with 404', async () => {
    const { outcome, request } = await connect();
    const methods = ['unknown/method', 'initialize', 'ping', 'logging/setLevel', 'toString', 'notifications/cancelled'];
    // the last one is a method that the server has nothing for
    for (const method of [...methods, 'resources/unsubscribe', 'tasks/list', 'Tools/list', 'completion/complete']) {
      expect([method, await outcome(request(method))]).toEqual([method, { status: 404, code: -32601, id: 'x' }]);
    }
  });

  inStateless('HDR-05', 'must be sent with every request and match the method', async () => {
    const { client, server, outcome, request } = await connect();
    const argument = { name: 'city', value: '' };
    class Cities {
      @Completion({ for: 'town', argument: 'city' })
      cities() {
        return [];
      }

      @Prompt({ name: 'town', input: { type: 'object', properties: { city: { type: 'string' } } } })
      town() {
        return 'Hello';
      }
    }
    server.addProvider(Cities);
    const methods: readonly (readonly [string, JsonObject?])[] = [
      ...NAMED.map(([method, params]) => [method, params] as const),
      ['tools/list'],
      ['prompts/list'],
      ['resources/list'],
      ['resources/templates/list'],
      ['completion/complete', { ref: { type: 'ref/prompt', name: 'town' }, argument }],
      ['server/discover'],
    ];
    const wrong = (method: string) => [
      undefined,
      '',
      method === 'prompts/list' ? 'tools/list' : 'prompts/list',
      `${method}x`,
      method.slice(0, -1),
      method.toUpperCase(),
      `${method}, ${method}`,
    ];
    for (const [name, params] of methods) {
      const message = request(name, params);
      expect([name, await outcome(message)]).toEqual([name, OK]);
      for (const method of wrong(name)) {
        expect([name, method, await outcome(message, { 'mcp-method': method })]).toEqual([name, method, MISMATCH]);
      }
    }
    // a subscription's response is a stream, and an unknown method has another error
    const subscription = request('subscriptions/listen', { notifications: {} });
    for (const message of [subscription, request('tools/fly')]) {
      for (const method of wrong(message.method as string)) {
        expect([method, await outcome(message, { 'mcp-method': method })]).toEqual([method, MISMATCH]);
      }
    }
    const stream = await client.post(subscription);
    expect([stream.status, stream.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    await stream.body?.cancel();
  });
});

describe('Mcp-Method of an extension', () => {
  inStateless('HDR-05', 'must match too, whether the client declares the extension or not', async () => {
    const id = 'com.example/counter';
    const methods = { 'counter/next': () => ({ count: 1 }) };
    const server = new McpServer({ name: 'extended', version: '1', extensions: [{ id, methods }] });
    const listening = await listen(server, { port: 0 });
    afterwards(() => server.close());
    const client = await HttpClient.open(listening.url, STATELESS);
    const declared = { 'io.modelcontextprotocol/clientCapabilities': { extensions: { [id]: {} } } };
    for (const [meta, status] of [
      [declared, 200],
      [{}, 400],
    ] as const) {
      const message = client.buildMessage('x', 'counter/next', { _meta: meta });
      expect((await client.post(message)).status).toBe(status);
      for (const wrong of [undefined, '', 'counter/NEXT', 'counter/next2', base64('counter/next'), 'tools/list']) {
        const response = await client.post(message, { 'mcp-method': wrong });
        const { id: answered, error } = await json(response);
        expect([wrong, { status: response.status, code: error?.code, id: answered }]).toEqual([wrong, MISMATCH]);
      }
    }
  });
});

describe('Mcp-Name', () => {
  inStateless('HDR-06', 'must be sent with the name of a tool, prompt or resource, and match it', async () => {
    const { outcome, request } = await connect();
    for (const [method, params, name] of NAMED) {
      expect(await outcome(request(method, params))).toEqual(OK);
      for (const wrong of [undefined, '', `${name}x`, `${name}, ${name}`, name.slice(1)]) {
        const got = await outcome(request(method, params), { 'mcp-name': wrong });
        expect([method, wrong, got]).toEqual([method, wrong, MISMATCH]);
      }
    }
    // text that is equal only once it is converted, or no text at all
    for (const name of [7, null, true, undefined, ['add'], '']) {
      const params = { name, arguments: ADD };
      for (const sent of name === '' ? [undefined, 'add'] : [String(name), 'add', undefined]) {
        const got = await outcome(request('tools/call', params), { 'mcp-name': sent });
        expect([name, sent, got]).toEqual([name, sent, MISMATCH]);
      }
    }
    // other requests don't need the header
    expect(await outcome(request('tools/list'))).toEqual(OK);
  });
});

describe('headers', () => {
  inStateless(
    'HDR-07',
    'that are missing, malformed or mismatched are rejected with the id of the message',
    async () => {
      const { client, outcome, request, mirror } = await connect();
      // names of methods and members are case-sensitive
      for (const [method, params, name] of NAMED) {
        for (const wrong of [{ 'mcp-method': method.toUpperCase() }, { 'mcp-name': name.toUpperCase() }]) {
          expect([wrong, await outcome(request(method, params), wrong)]).toEqual([wrong, MISMATCH]);
        }
      }
      expect(await mirror({ label: 'a' }, { 'mcp-param-label': 'b' })).toEqual(MISMATCH);
      for (const id of [7, 0, '', '0']) {
        for (const header of ['MCP-Protocol-Version', 'Mcp-Method', 'Mcp-Name']) {
          const message = { ...request('tools/call', { name: 'add', arguments: ADD }), id };
          const response = await client.post(message, { [header.toLowerCase()]: undefined });
          expect([response.status, response.headers.get('content-type')]).toEqual([
            400,
            expect.stringMatching(/^application\/json/),
          ]);
          expect(await response.json()).toEqual({
            jsonrpc: '2.0',
            id,
            error: { code: -32020, message: expect.stringContaining(header) },
          });
        }
      }
    },
  );

  inStateless('HDR-08', 'have case-insensitive names and case-sensitive values', async () => {
    const { url, add, outcome, mirror } = await connect();
    const usual = { 'content-type': 'application/json', 'mcp-PARAM-x': 'any' };
    const odd = { 'MCP-PROTOCOL-VERSION': STATELESS, 'mCP-mETHOD': 'tools/call', 'MCP-NAME': '  add  ' };
    const [answer, text] = await raw(url, 'POST', { ...usual, ...odd }, JSON.stringify(add));
    expect([answer.statusCode, JSON.parse(text)]).toMatchObject([200, { id: 'x', result: {} }]);
    expect(await outcome(add, { 'mcp-method': 'TOOLS/CALL' })).toEqual(MISMATCH);
    expect(await outcome(add, { 'mcp-method': 'Tools/call' })).toEqual(MISMATCH);
    expect(await outcome(add, { 'mcp-name': 'Add' })).toEqual(MISMATCH);
    expect(await mirror({ label: 'eu' }, { 'MCP-Param-LABEL': 'eu' })).toEqual(OK);
    expect(await mirror({ label: 'eu' }, { 'mcp-param-label': 'EU' })).toEqual(MISMATCH);
    expect(await mirror({ label: ['eu'] }, { 'mcp-param-label': 'eu' })).toEqual(MISMATCH);
  });

  inStateless('HDR-09', 'in base64 are decoded before they are compared', async () => {
    const { outcome, request, mirror, add } = await connect();
    expect(await outcome(add, { 'mcp-name': base64('add') })).toEqual(OK);
    expect(await outcome(add, { 'mcp-name': base64('other') })).toEqual(MISMATCH);
    // the header is accepted, but no tool has this name
    for (const name of ['größe 🌍', ' spaced ', '=?base64?YWRk?=', '東京']) {
      const message = request('tools/call', { name, arguments: {} });
      const unknown = { status: 200, code: -32602, id: 'x' };
      expect([name, await outcome(message, { 'mcp-name': base64(name) })]).toEqual([name, unknown]);
      expect(await outcome(message, { 'mcp-name': base64(`${name}x`) })).toEqual(MISMATCH);
      expect(await mirror({ label: name }, { 'mcp-param-label': base64(name) })).toEqual(OK);
      expect(await mirror({ label: name }, { 'mcp-param-label': base64(`${name}x`) })).toEqual(MISMATCH);
    }
    const uri = 'docs://größe';
    const read = await outcome(request('resources/read', { uri }), { 'mcp-name': base64(uri) });
    expect(read.code).not.toBe(-32020);
    expect(await mirror({ label: '' }, { 'mcp-param-label': base64('') })).toEqual(OK);
    // text that looks encoded is decoded, even if the argument itself looks encoded
    expect(await mirror({ label: base64('a') }, { 'mcp-param-label': base64('a') })).toEqual(MISMATCH);
  });

  inStateless('HDR-10', 'in non-canonical base64 are rejected', async () => {
    const { outcome, mirror, add } = await connect();
    const encodings = ['=?BASE64?YWRk?=', '=?Base64?YWRk?=', '=?base64?YWRk', '=?base64?YWRk?', 'base64?YWRk?='];
    encodings.push('=?base64?YWR?=', '=?base64?YWRk=?=', '=?base64?YWRk==?=', '=?base64?YW!Rk?=', '=?base64?YW Rk?=');
    for (const encoded of encodings) {
      expect([encoded, await outcome(add, { 'mcp-name': encoded })]).toEqual([encoded, MISMATCH]);
      expect([encoded, await mirror({ label: 'add' }, { 'mcp-param-label': encoded })]).toEqual([encoded, MISMATCH]);
    }
    // in other types and places too
    for (const [args, header, text] of [
      [{ count: 42 }, 'mcp-param-count', '42'],
      [{ dry: true }, 'mcp-param-dry-run', 'true'],
      [{ place: { city: 'Oslo' } }, 'mcp-param-city', 'Oslo'],
    ] as const) {
      const right = base64(text);
      expect([text, await mirror(args, { [header]: right })]).toEqual([text, OK]);
      for (const wrong of [right.replace('base64', 'BASE64'), right.replace('?=', '=?='), right.replace('?=', '!?=')]) {
        expect([wrong, await mirror(args, { [header]: wrong })]).toEqual([wrong, MISMATCH]);
      }
    }
    // non-canonical trailing bits, the URL-safe alphabet, and invalid UTF-8
    for (const [text, encoded] of [
      ['Hello', 'SGVsbG9='],
      ['??>', 'Pz8-'],
      ['\uFFFD', '/w=='],
    ] as const) {
      const header = `=?base64?${encoded}?=`;
      expect([text, await mirror({ label: text }, { 'mcp-param-label': header })]).toEqual([text, MISMATCH]);
    }
  });

  inStateless('HDR-23', 'are not required for notifications', async () => {
    const { client } = await connect();
    const { params } = client.buildMessage(1, 'x');
    const message = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { ...params, requestId: 1 } };
    for (const version of [STATELESS, undefined]) {
      const response = await client.post(message, { [VERSION]: version });
      expect([response.status, await response.text()]).toEqual([202, '']);
    }
  });

  inStateless('HDR-24', 'are checked in order: envelope, version, routing, method, arguments', async () => {
    const { outcome, request, mirror } = await connect();
    const bare = { jsonrpc: '2.0', id: 'x', method: 'tools/list' } as Message;
    expect(await outcome(bare, { 'mcp-method': 'other' })).toEqual({ status: 400, code: -32602, id: 'x' });
    const unsupported = request('no/such', { _meta: { [META_VERSION]: 'v999' } });
    expect(await outcome(unsupported)).toEqual(MISMATCH);
    expect(await outcome(unsupported, { [VERSION]: 'v999', 'mcp-method': 'x' })).toMatchObject({ code: -32022 });
    expect(await outcome(request('no/such'), { 'mcp-method': 'other' })).toEqual(MISMATCH);
    expect(await outcome(request('tools/call', { name: 'no-such' }), { 'mcp-param-label': 'x' })).toMatchObject({
      code: -32602,
    });
    expect(await mirror({ label: 1 }, { 'mcp-param-label': '2' })).toEqual(MISMATCH);
  });
});

const registering = new McpServer({ name: 'headers', version: '1' });
afterAll(() => registering.close());
let registered = 0;

/** Adds a tool with this schema. */
const register = (schema: object) =>
  registering.addTool({ name: `tool-${(registered += 1)}`, input: { type: 'object', ...schema } }, () => '');

const property = (keywords: object) => ({ properties: { a: keywords } });
const named = (name: unknown, type = 'string') => property({ type, 'x-mcp-header': name });
const refusedTool = (schema: object) => expect(() => register(schema)).toThrow('DECORUM_INVALID_HEADER');

/** Expects that neither a function nor a method can be a tool with this schema. */
const refused = (schema: object) => {
  class Decorated {
    @Tool({ input: { type: 'object', ...schema } })
    tool(_input: object) {
      return '';
    }
  }
  refusedTool(schema);
  const options = { name: 'headers', version: '1', providers: [Decorated] };
  expect(() => new McpServer(options)).toThrow('DECORUM_INVALID_HEADER');
};

class Router {
  @Tool({ input: { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } } })
  route({ region }: { region?: string }) {
    return region ?? 'nowhere';
  }
}

describe('x-mcp-header', () => {
  inStateless('HDR-11', 'is declared in the schema of a property, and its header is checked', async () => {
    const server = new McpServer({ name: 'router', version: '1', providers: [Router] });
    const listening = await listen(server, { port: 0 });
    afterwards(() => server.close());
    const client = await HttpClient.open(listening.url, STATELESS);
    const { result } = await json(await client.post(client.buildMessage(1, 'tools/list')));
    const tools = result?.['tools'] as { name: string; inputSchema: { properties?: object } }[];
    const route = tools.find(({ name }) => name === 'route');
    expect(route?.inputSchema.properties).toEqual({ region: { type: 'string', 'x-mcp-header': 'Region' } });
    const headers = { 'mcp-param-region': 'eu' };
    expect((await client.call(2, 'route', { args: { region: 'eu' }, headers })).status).toBe(200);
    expect((await client.call(3, 'route', { args: { region: 'us' }, headers })).status).toBe(400);
  });

  inStateless('HDR-12', 'must not be empty', () => {
    refused(named(''));
    expect(() => register(named('A'))).not.toThrow();
  });

  inStateless('HDR-13', 'must be a token', () => {
    // the characters of a token (RFC 9110, section 5.6.2), besides letters and digits
    const marks = "!#$%&'*+-.^_`|~";
    for (let code = 0; code < 256; code += 1) {
      const char = String.fromCharCode(code);
      for (const name of [char, `${char}a`, `a${char}`]) {
        if (marks.includes(char) || /[0-9A-Za-z]/.test(char)) expect(() => register(named(name))).not.toThrow();
        else refusedTool(named(name));
      }
    }
    for (const name of ['a\r\nb', 'größe', 'a\u2028', 'a\u{1F600}']) refused(named(name));
    for (const name of [1, null, true, ['A']]) refused(named(name));
  });

  inStateless('HDR-14', 'must not name the same header twice, ignoring case', () => {
    const header = (name: string) => ({ type: 'string', 'x-mcp-header': name });
    refused({ properties: { a: header('Region'), b: header('Region') } });
    refused({ properties: { a: header('Region'), b: header('rEGION') } });
    refused({ properties: { a: header('Region'), b: { type: 'object', properties: { c: header('REGION') } } } });
    expect(() => register({ properties: { a: header('Region'), b: header('Regions') } })).not.toThrow();
  });

  inStateless('HDR-15', 'is allowed on strings, booleans and safe integers', async () => {
    for (const type of ['number', 'object', 'array', 'null']) refused(named('A', type));
    refused(property({ 'x-mcp-header': 'A' }));
    refused(property({ type: ['string', 'null'], 'x-mcp-header': 'A' }));
    for (const type of ['string', 'boolean', 'integer']) expect(() => register(named('A', type))).not.toThrow();
    const { mirror } = await connect();
    for (const count of [2 ** 53 - 1, -(2 ** 53 - 1), 0]) {
      expect(await mirror({ count }, { 'mcp-param-count': String(count) })).toEqual(OK);
    }
    // beyond these, different numbers compare as equal
    expect(await mirror({ count: 2 ** 53 }, { 'mcp-param-count': '9007199254740993' })).toEqual(MISMATCH);
    for (const count of [2 ** 53, -(2 ** 53), 2 ** 60]) {
      expect(await mirror({ count }, { 'mcp-param-count': String(count) })).toEqual(MISMATCH);
    }
  });

  inStateless('HDR-16', 'is allowed only on plain nested properties', () => {
    const header = { type: 'string', 'x-mcp-header': 'A' };
    const inside = { properties: { b: header } };
    for (const keyword of ['anyOf', 'oneOf', 'allOf']) {
      refused(property({ [keyword]: [header] }));
      refused({ [keyword]: [inside] });
    }
    for (const keyword of ['if', 'then', 'else', 'not']) {
      refused({ [keyword]: inside });
      refused(property({ [keyword]: inside }));
      refused(property({ type: 'object', properties: { c: { [keyword]: inside } } }));
    }
    for (const keyword of ['contains', 'propertyNames', 'unevaluatedItems', 'unevaluatedProperties', 'contentSchema']) {
      refused(property({ [keyword]: header }));
    }
    for (const keyword of ['$defs', 'definitions', 'dependentSchemas']) refused({ [keyword]: { b: header } });
    refused({ ...header, type: 'object' });
    refused(property({ type: 'array', items: header }));
    refused(property({ type: 'array', items: { type: 'object', ...inside } }));
    refused(property({ type: 'array', prefixItems: [header] }));
    refused(property({ type: 'object', additionalProperties: header }));
    refused(property({ type: 'object', patternProperties: { b: header } }));
    refused({ properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: header } });
    expect(() => register(property({ type: 'object', ...inside }))).not.toThrow();
    // data that looks like a property
    for (const keyword of ['default', 'const']) expect(() => register(property({ [keyword]: header }))).not.toThrow();
    for (const keyword of ['enum', 'examples']) {
      expect(() => register(property({ [keyword]: [header] }))).not.toThrow();
    }
  });
});

describe('Mcp-Param-*', () => {
  inStateless('HDR-17', 'must match each mirrored argument', async () => {
    const { mirror } = await connect();
    const args = { label: 'eu-1', count: 3, dry: false, place: { city: 'Oslo' } };
    const all: Changes = {
      'mcp-param-label': 'eu-1',
      'mcp-param-count': '3',
      'mcp-param-dry-run': 'false',
      'mcp-param-city': 'Oslo',
    };
    expect(await mirror(args, all)).toEqual(OK);
    for (const [name, value] of Object.entries(all)) {
      for (const wrong of [undefined, '', `${value}0`, `${value}, ${value}`]) {
        expect([name, wrong, await mirror(args, { ...all, [name]: wrong })]).toEqual([name, wrong, MISMATCH]);
      }
    }
    for (const [name, value, text] of [
      ['label', 1, '1'],
      ['label', true, 'true'],
      ['dry', true, 'TRUE'],
      ['dry', true, '1'],
      ['dry', false, ''],
      ['dry', 'true', 'true'],
      ['count', '3', '3'],
      ['count', 3.5, '3.5'],
    ] as const) {
      const header = name === 'dry' ? 'mcp-param-dry-run' : `mcp-param-${name}`;
      expect([value, text, await mirror({ [name]: value }, { [header]: text })]).toEqual([value, text, MISMATCH]);
    }
    expect(await mirror({ dry: true }, { 'mcp-param-dry-run': 'true' })).toEqual(OK);
    expect(await mirror({ label: '' })).toEqual(MISMATCH);
    expect(await mirror({ dry: false })).toEqual(MISMATCH);
    expect(await mirror({ count: 0 })).toEqual(MISMATCH);
  });

  inStateless('HDR-18', 'are not required if the argument is absent or null', async () => {
    const { mirror } = await connect();
    for (const args of [{}, { place: {} }, { plain: 'unmirrored' }]) expect(await mirror(args)).toEqual(OK);
    // but a header without an argument doesn't match it
    for (const args of [{}, { label: null }]) {
      expect(await mirror(args, { 'mcp-param-label': 'null' })).toEqual(MISMATCH);
    }
    // whether null is valid is up to the schema of the tool
    for (const args of [{ label: null }, { place: null }, { place: { city: null } }]) {
      expect((await mirror(args)).code).not.toBe(-32020);
    }
  });

  inStateless('HDR-19', 'are rejected with characters that are invalid in a header', async () => {
    const { url, client, mirror } = await connect();
    const message = client.buildMessage('x', 'tools/call', { name: 'mirror', arguments: { label: 'größe' } });
    const usual = { 'content-type': 'application/json', ...client.headersOf(message) };
    for (const value of ['größe', Buffer.from('größe').toString('latin1'), 'a\u0080b']) {
      const [answer, text] = await raw(url, 'POST', { ...usual, 'mcp-param-label': value }, JSON.stringify(message));
      expect([answer.statusCode, JSON.parse(text)]).toMatchObject([400, { id: 'x', error: { code: -32020 } }]);
    }
    // whether there is such an argument or not, and whatever its type is
    for (const [args, header, text] of [
      [{}, 'mcp-param-label', 'a\u0080b'],
      [{ count: 42 }, 'mcp-param-count', '42\u00a0'],
      [{ dry: true }, 'mcp-param-dry-run', 'true\u0085'],
      [{ place: { city: 'Å' } }, 'mcp-param-city', 'Å'],
    ] as const) {
      expect([header, await mirror(args, { [header]: text })]).toEqual([header, MISMATCH]);
    }
    // `fetch` sends Latin-1, so the header has exactly the text of the argument
    expect(await mirror({ label: 'größe' }, { 'mcp-param-label': 'größe' })).toEqual(MISMATCH);
    expect(await mirror({ label: 'größe' }, { 'mcp-param-label': base64('größe') })).toEqual(OK);
  });

  inStateless('HDR-20', 'are ignored if they mirror no argument', async () => {
    const { mirror, outcome, request, add } = await connect();
    const others = {
      'mcp-param-latin': 'größe',
      'mcp-param-other': '=?base64?!?=',
      'mcp-param-plain': 'x',
      'mcp-param-': 'x',
    };
    expect(await mirror({ label: 'a', plain: 'y' }, { 'mcp-param-label': 'a', ...others })).toEqual(OK);
    expect(await outcome(add, { ...others, 'mcp-param-label': 'a' })).toEqual(OK);
    const lists = ['tools/list', 'server/discover'].map((method) => request(method));
    for (const message of [...NAMED.map(([method, params]) => request(method, params)), ...lists]) {
      const headers = { ...others, 'mcp-param-label': 'größe', 'mcp-param-name': 'x', 'mcp-param-uri': 'x' };
      expect([message.method, await outcome(message, headers)]).toEqual([message.method, OK]);
    }
  });

  inStateless('HDR-21', 'are compared as numbers if the argument is an integer', async () => {
    const { mirror } = await connect();
    for (const text of ['42', '42.0', '42.00', '042', base64('42')]) {
      expect([text, await mirror({ count: 42 }, { 'mcp-param-count': text })]).toEqual([text, OK]);
    }
    for (const count of [-42, 0, -1]) {
      for (const text of [`${count}`, `${count}.0`, `${count}.000`]) {
        expect([text, await mirror({ count }, { 'mcp-param-count': text })]).toEqual([text, OK]);
      }
    }
    for (const text of ['43', '42.5', '42,0', '0x2a', 'forty-two', '-42', '42.', '.42', '4.2e1', '4 2', '+42']) {
      expect([text, await mirror({ count: 42 }, { 'mcp-param-count': text })]).toEqual([text, MISMATCH]);
    }
  });
});

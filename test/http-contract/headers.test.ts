// Headers of stateless requests: what they mirror, how they are encoded, and that they are checked in every round.
import { afterAll, describe, expect } from '@jest/globals';
import {
  Completion,
  type Context,
  type JsonObject,
  McpServer,
  type McpServerOptions,
  NoInput,
  Prompt,
  Resource,
  Tool,
} from '@decorum/core';
import type { ListenOptions } from '@decorum/http';

import { serve } from '../../packages/http/test/fixture.js';
import { json } from '../../packages/http/test/messages.js';
import { raw } from '../../packages/http/test/sending.js';
import { ADD, HttpClient } from '../support/http-client.js';
import type { Message } from '../support/raw-client.js';
import { eachRevision, inStateless, STATELESS } from '../support/requirements.js';

type Changes = Record<string, string | undefined>;
type Values = readonly (string | undefined)[];

const VERSION = 'mcp-protocol-version';
const META_VERSION = 'io.modelcontextprotocol/protocolVersion';
const JSON_TYPE = { 'content-type': 'application/json' };

const base64 = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`;

/** The response if a header is missing or differs from the message. */
const MISMATCH = { status: 400, code: -32020, id: 'x' };
const OK = { status: 200, code: undefined, id: 'x' };
type Outcome = { readonly status: number; readonly code: number | undefined; readonly id: unknown };

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

/** Serves tools with unusual names and one with mirrored arguments. Returns functions that send requests. */
async function connect(more: Partial<McpServerOptions> = {}) {
  const { url, server, errors } = await serve({}, more);
  server.addTool({ name: 'mirror', input: MIRRORED }, () => 'ok');
  const client = await HttpClient.open(url, STATELESS);
  /** Sends a request with the usual headers and some changes. */
  const outcome = async (message: Message, changes: Changes = {}): Promise<Outcome> => {
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
  const mirrorOf = (args: JsonObject) => request('tools/call', { name: 'mirror', arguments: args });
  /** Expects this outcome of a request with each of these values of a header. */
  const yields = async (expected: Outcome, message: Message, header: string, values: Values) => {
    const found = await Promise.all(values.map((value) => outcome(message, { [header]: value })));
    expect([message, header, values, found]).toEqual([message, header, values, values.map(() => expected)]);
  };
  /** Expects this outcome of a call with each of these values of one mirrored argument. */
  const mirrored = async (expected: Outcome, args: JsonObject, param: string, values: Values) =>
    await yields(expected, mirrorOf(args), `mcp-param-${param}`, values);
  const add = request('tools/call', { name: 'add', arguments: ADD });
  const mirror = async (args: JsonObject, headers: Changes = {}) => await outcome(mirrorOf(args), headers);
  return { url, client, errors, outcome, request, add, mirror, yields, mirrored };
}

/** The requests with `Mcp-Name`. */
const NAMED = [
  ['tools/call', { name: 'add', arguments: ADD }, 'add'],
  ['prompts/get', { name: 'greet' }, 'greet'],
  ['resources/read', { uri: 'docs://guide' }, 'docs://guide'],
] as const;
const LISTS = ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list', 'server/discover'];

describe('MCP-Protocol-Version', () => {
  inStateless('HDR-01', 'must be sent with every request and match the message', async () => {
    const { outcome, request, yields } = await connect();
    const valid = [...NAMED, ...LISTS.map((method) => [method] as const)].map(([method, params]) =>
      request(method, params),
    );
    for (const message of valid) expect(await outcome(message)).toEqual(OK);
    for (const message of [...valid, request('subscriptions/listen', { notifications: {} }), request('no/such')]) {
      const wrong = [undefined, '', '2025-11-25', '2026-07-28x', '2026-07-28, 2026-07-28', '1.0'];
      await yields(MISMATCH, message, VERSION, wrong);
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
    const { client, outcome, request, yields } = await connect({ providers: [new Cities()] });
    const wrong = (method: string) => [
      undefined,
      '',
      method === 'prompts/list' ? 'tools/list' : 'prompts/list',
      `${method}x`,
      method.slice(0, -1),
      method.toUpperCase(),
      `${method}, ${method}`,
    ];
    const completion = { ref: { type: 'ref/prompt', name: 'town' }, argument: { name: 'city', value: '' } };
    const messages = [
      ...NAMED.map(([method, params]) => request(method, params)),
      ...LISTS.map((method) => request(method)),
      request('completion/complete', completion),
    ];
    for (const message of messages) expect(await outcome(message)).toEqual(OK);
    // a subscription's response is a stream, and an unknown method has another error
    const subscription = request('subscriptions/listen', { notifications: {} });
    for (const message of [...messages, subscription, request('tools/fly')])
      await yields(MISMATCH, message, 'mcp-method', wrong(message.method as string));
    const stream = await client.post(subscription);
    expect([stream.status, stream.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    await stream.body?.cancel();
  });

  inStateless('HDR-05', 'of an extension must match too, whether the client declares it or not', async () => {
    const id = 'com.example/counter';
    const methods = { 'counter/next': () => ({ count: 1 }) };
    const { client, request, yields } = await connect({ extensions: [{ id, methods }] });
    const declared = { 'io.modelcontextprotocol/clientCapabilities': { extensions: { [id]: {} } } };
    for (const [meta, status] of [
      [declared, 200],
      [{}, 400],
    ] as const) {
      const message = request('counter/next', { _meta: meta });
      expect((await client.post(message)).status).toBe(status);
      const wrong = [undefined, '', 'counter/NEXT', 'counter/next2', base64('counter/next'), 'tools/list'];
      await yields(MISMATCH, message, 'mcp-method', wrong);
    }
  });
});

describe('Mcp-Name', () => {
  inStateless('HDR-06', 'must be sent with the name of a tool, prompt or resource, and match it', async () => {
    const { outcome, request, yields } = await connect();
    for (const [method, params, name] of NAMED) {
      expect(await outcome(request(method, params))).toEqual(OK);
      const wrong = [undefined, '', `${name}x`, `${name}, ${name}`, name.slice(1)];
      await yields(MISMATCH, request(method, params), 'mcp-name', wrong);
    }
    // text that is equal only once it is converted, or no text at all
    for (const name of [7, null, true, undefined, ['add'], '']) {
      const sent = name === '' ? [undefined, 'add'] : [String(name), 'add', undefined];
      await yields(MISMATCH, request('tools/call', { name, arguments: ADD }), 'mcp-name', sent);
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
      const { client, request, yields, mirrored } = await connect();
      // names of methods and members are case-sensitive
      for (const [method, params, name] of NAMED) {
        await yields(MISMATCH, request(method, params), 'mcp-method', [method.toUpperCase()]);
        await yields(MISMATCH, request(method, params), 'mcp-name', [name.toUpperCase()]);
      }
      await mirrored(MISMATCH, { label: 'a' }, 'label', ['b']);
      for (const id of [7, 0, '', '0']) {
        for (const header of ['MCP-Protocol-Version', 'Mcp-Method', 'Mcp-Name']) {
          const message = { ...request('tools/call', { name: 'add', arguments: ADD }), id };
          const response = await client.post(message, { [header.toLowerCase()]: undefined });
          expect(response.status).toBe(400);
          expect(response.headers.get('content-type')).toMatch(/^application\/json/);
          const error = { code: -32020, message: expect.stringContaining(header) };
          expect(await response.json()).toEqual({ jsonrpc: '2.0', id, error });
        }
      }
    },
  );

  inStateless('HDR-08', 'have case-insensitive names and case-sensitive values', async () => {
    const { url, add, yields, mirror, mirrored } = await connect();
    const odd = { 'MCP-PROTOCOL-VERSION': STATELESS, 'mCP-mETHOD': 'tools/call', 'MCP-NAME': '  add  ' };
    const [answer, text] = await raw(url, 'POST', { ...JSON_TYPE, 'mcp-PARAM-x': 'any', ...odd }, JSON.stringify(add));
    expect([answer.statusCode, JSON.parse(text)]).toMatchObject([200, { id: 'x', result: {} }]);
    await yields(MISMATCH, add, 'mcp-method', ['TOOLS/CALL', 'Tools/call']);
    await yields(MISMATCH, add, 'mcp-name', ['Add']);
    expect(await mirror({ label: 'eu' }, { 'MCP-Param-LABEL': 'eu' })).toEqual(OK);
    await mirrored(MISMATCH, { label: 'eu' }, 'label', ['EU']);
    await mirrored(MISMATCH, { label: ['eu'] }, 'label', ['eu']);
  });

  inStateless('HDR-09', 'in base64 are decoded before they are compared', async () => {
    const { outcome, request, mirrored, yields, add } = await connect();
    await yields(OK, add, 'mcp-name', [base64('add')]);
    await yields(MISMATCH, add, 'mcp-name', [base64('other')]);
    for (const name of ['größe 🌍', ' spaced ', '=?base64?YWRk?=', '東京']) {
      const message = request('tools/call', { name, arguments: {} });
      // the header is accepted, but no tool has this name
      await yields({ status: 200, code: -32602, id: 'x' }, message, 'mcp-name', [base64(name)]);
      await yields(MISMATCH, message, 'mcp-name', [base64(`${name}x`)]);
      await mirrored(OK, { label: name }, 'label', [base64(name)]);
      await mirrored(MISMATCH, { label: name }, 'label', [base64(`${name}x`)]);
    }
    const uri = 'docs://größe';
    const read = await outcome(request('resources/read', { uri }), { 'mcp-name': base64(uri) });
    expect(read.code).not.toBe(-32020);
    await mirrored(OK, { label: '' }, 'label', [base64('')]);
    // text that looks encoded is decoded, even if the argument or the name itself looks encoded
    await mirrored(MISMATCH, { label: base64('a') }, 'label', [base64('a')]);
    await yields(MISMATCH, request('tools/call', { name: base64('add') }), 'mcp-name', [base64('add')]);
    // and a part of the form is plain text
    for (const label of ['=?base64?', '=?base64?=', '=?base64?YWRk', '=?base64?YWRk?', 'YWRk?=']) {
      await mirrored(OK, { label }, 'label', [label]);
    }
    await mirrored(MISMATCH, { label: '' }, 'label', ['=?base64?=']);
  });

  inStateless('HDR-10', 'in non-canonical base64 are rejected', async () => {
    const { mirrored, yields, add } = await connect();
    const encodings = ['=?BASE64?YWRk?=', '=?Base64?YWRk?=', '=?base64?YWRk', '=?base64?YWRk?', 'base64?YWRk?='];
    encodings.push('=?base64?YWR?=', '=?base64?YWRk=?=', '=?base64?YWRk==?=', '=?base64?YW!Rk?=', '=?base64?YW Rk?=');
    await yields(MISMATCH, add, 'mcp-name', encodings);
    await mirrored(MISMATCH, { label: 'add' }, 'label', encodings);
    // in other types and places too
    for (const [args, param, text] of [
      [{ count: 42 }, 'count', '42'],
      [{ dry: true }, 'dry-run', 'true'],
      [{ place: { city: 'Oslo' } }, 'city', 'Oslo'],
    ] as const) {
      const right = base64(text);
      await mirrored(OK, args, param, [right]);
      const wrong = [right.replace('base64', 'BASE64'), right.replace('?=', '=?='), right.replace('?=', '!?=')];
      await mirrored(MISMATCH, args, param, wrong);
    }
    // non-canonical trailing bits, the URL-safe alphabet, and invalid UTF-8
    await mirrored(MISMATCH, { label: 'Hello' }, 'label', ['=?base64?SGVsbG9=?=']);
    await mirrored(MISMATCH, { label: '??>' }, 'label', ['=?base64?Pz8-?=']);
    await mirrored(MISMATCH, { label: '\uFFFD' }, 'label', ['=?base64?/w==?=']);
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
    const { outcome, request, mirrored } = await connect();
    const bare = { jsonrpc: '2.0', id: 'x', method: 'tools/list' } as Message;
    expect(await outcome(bare, { 'mcp-method': 'other' })).toEqual({ status: 400, code: -32602, id: 'x' });
    const unsupported = request('no/such', { _meta: { [META_VERSION]: 'v999' } });
    expect(await outcome(unsupported)).toEqual(MISMATCH);
    expect(await outcome(unsupported, { [VERSION]: 'v999', 'mcp-method': 'x' })).toMatchObject({ code: -32022 });
    expect(await outcome(request('no/such'), { 'mcp-method': 'other' })).toEqual(MISMATCH);
    const unknown = await outcome(request('tools/call', { name: 'no-such' }), { 'mcp-param-label': 'x' });
    expect(unknown).toMatchObject({ code: -32602 });
    await mirrored(MISMATCH, { label: 1 }, 'label', ['2']);
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

describe('x-mcp-header', () => {
  inStateless('HDR-11', 'is declared in the schema of a property, and its header is checked', async () => {
    class Router {
      @Tool({ input: { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } } })
      route({ region }: { region?: string }) {
        return region ?? 'nowhere';
      }
    }
    const { url } = await serve({}, { providers: [new Router()] });
    const client = await HttpClient.open(url, STATELESS);
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
    const { mirrored } = await connect();
    for (const count of [2 ** 53 - 1, -(2 ** 53 - 1), 0]) await mirrored(OK, { count }, 'count', [String(count)]);
    // beyond these, different numbers compare as equal
    await mirrored(MISMATCH, { count: 2 ** 53 }, 'count', ['9007199254740993']);
    for (const count of [2 ** 53, -(2 ** 53), 2 ** 60]) await mirrored(MISMATCH, { count }, 'count', [String(count)]);
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
    for (const keyword of ['default', 'const', 'enum', 'examples']) {
      const data = keyword === 'enum' || keyword === 'examples' ? [header] : header;
      expect(() => register(property({ [keyword]: data }))).not.toThrow();
    }
  });
});

describe('Mcp-Param-*', () => {
  inStateless('HDR-17', 'must match each mirrored argument', async () => {
    const { mirror, mirrored } = await connect();
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
    for (const [wrong, param, text] of [
      [{ label: 1 }, 'label', '1'],
      [{ label: true }, 'label', 'true'],
      [{ dry: true }, 'dry-run', 'TRUE'],
      [{ dry: true }, 'dry-run', '1'],
      [{ dry: false }, 'dry-run', ''],
      [{ dry: 'true' }, 'dry-run', 'true'],
      [{ count: '3' }, 'count', '3'],
      [{ count: 3.5 }, 'count', '3.5'],
      [{ label: '' }, 'label', undefined],
      [{ dry: false }, 'dry-run', undefined],
      [{ count: 0 }, 'count', undefined],
    ] as const) {
      await mirrored(MISMATCH, wrong, param, [text]);
    }
    await mirrored(OK, { dry: true }, 'dry-run', ['true']);
  });

  inStateless('HDR-18', 'are not required if the argument is absent or null', async () => {
    const { mirror, mirrored, errors } = await connect();
    for (const args of [{}, { place: {} }, { plain: 'unmirrored' }]) expect(await mirror(args)).toEqual(OK);
    // but a header without an argument doesn't match it
    for (const args of [{}, { label: null }]) await mirrored(MISMATCH, args, 'label', ['null']);
    // whether null is valid is up to the schema of the tool
    for (const args of [{ label: null }, { place: null }, { place: { city: null } }]) {
      expect([args, await mirror(args)]).toEqual([args, OK]);
    }
    expect(errors).toEqual([]);
  });

  inStateless('HDR-19', 'are rejected with characters that are invalid in a header', async () => {
    const { url, client, mirrored } = await connect();
    const message = client.buildMessage('x', 'tools/call', { name: 'mirror', arguments: { label: 'größe' } });
    const usual = { ...JSON_TYPE, ...client.headersOf(message) };
    for (const value of ['größe', Buffer.from('größe').toString('latin1'), 'a\u0080b']) {
      const [answer, text] = await raw(url, 'POST', { ...usual, 'mcp-param-label': value }, JSON.stringify(message));
      expect([answer.statusCode, JSON.parse(text)]).toMatchObject([400, { id: 'x', error: { code: -32020 } }]);
    }
    // whether there is such an argument or not, and whatever its type is; `fetch` sends Latin-1
    await mirrored(MISMATCH, {}, 'label', ['a\u0080b']);
    await mirrored(MISMATCH, { count: 42 }, 'count', ['42\u00a0']);
    await mirrored(MISMATCH, { dry: true }, 'dry-run', ['true\u0085']);
    await mirrored(MISMATCH, { place: { city: 'Å' } }, 'city', ['Å']);
    await mirrored(MISMATCH, { label: 'größe' }, 'label', ['größe']);
    await mirrored(OK, { label: 'größe' }, 'label', [base64('größe')]);
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
    const headers = { ...others, 'mcp-param-label': 'größe', 'mcp-param-name': 'x', 'mcp-param-uri': 'x' };
    for (const [method, params] of [...NAMED, ['tools/list'], ['server/discover']] as const) {
      expect([method, await outcome(request(method, params), headers)]).toEqual([method, OK]);
    }
  });

  inStateless('HDR-21', 'are compared as numbers if the argument is an integer', async () => {
    const { mirrored } = await connect();
    await mirrored(OK, { count: 42 }, 'count', ['42', '42.0', '42.00', '042', base64('42')]);
    for (const count of [-42, 0, -1])
      await mirrored(OK, { count }, 'count', [`${count}`, `${count}.0`, `${count}.000`]);
    const others = ['43', '42.5', '42,0', '0x2a', 'forty-two', '-42', '42.', '.42', '4.2e1', '4 2', '+42'];
    await mirrored(MISMATCH, { count: 42 }, 'count', others);
  });
});

const INPUT = { type: 'object', properties: { x: { type: 'string' } } };
const REGION = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } };

const ask = async (context: Context) => ((await context.confirm('Sure?')) ? 'done' : 'left');
const access = async () => await Promise.resolve(true);

/** Members whose handlers ask the client. */
class Asking {
  @Tool({ input: REGION })
  tool(_input: object, context: Context) {
    return ask(context);
  }

  @Tool({ input: REGION, access })
  guarded(_input: object, context: Context) {
    return ask(context);
  }

  @Prompt({ input: INPUT, access })
  prompt(_input: object, context: Context) {
    return ask(context);
  }

  @Resource('ask://fixed')
  fixed(_input: NoInput, context: Context) {
    return ask(context);
  }

  @Resource('ask://in/{x}', { input: INPUT, access })
  template(_input: object, context: Context) {
    return ask(context);
  }
}

/** The requests, with the headers that they need besides those of every request. */
const REQUESTS: readonly (readonly [method: string, params: JsonObject, headers: Changes])[] = [
  ['tools/call', { name: 'tool', arguments: { region: 'eu' } }, { 'mcp-name': 'tool', 'mcp-param-region': 'eu' }],
  [
    'tools/call',
    { name: 'guarded', arguments: { region: 'ö' } },
    { 'mcp-name': 'guarded', 'mcp-param-region': base64('ö') },
  ],
  ['prompts/get', { name: 'prompt', arguments: { x: 'ö' } }, { 'mcp-name': base64('prompt') }],
  ['resources/read', { uri: 'ask://fixed' }, { 'mcp-name': 'ask://fixed' }],
  ['resources/read', { uri: 'ask://in/any' }, { 'mcp-name': base64('ask://in/any') }],
];

/** The ways to serve them. */
const WAYS: readonly ListenOptions[] = [
  { legacySse: true },
  { sessions: false, auth: { authenticate: async () => await Promise.resolve({ subject: 'ann' }) } },
];

const META = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} }, progressToken: 0 };

/** The text of a header, decoded. */
const plain = (text: string) =>
  text.startsWith('=?') ? Buffer.from(text.slice('=?base64?'.length, -2), 'base64').toString() : text;

/** Wrong values of each header, by its right value. */
const WRONG: Readonly<Record<string, (right: string, method: string) => Values>> = {
  [VERSION]: (right) => [undefined, `${right}x`, '2025-11-25', base64(right)],
  'mcp-method': (right, method) => [
    undefined,
    right.toUpperCase(),
    base64(right),
    method === 'tools/call' ? 'prompts/get' : 'tools/call',
  ],
  'mcp-name': (right) => [
    undefined,
    `${plain(right)}x`,
    base64(`${plain(right)}x`),
    base64(plain(right).toUpperCase()),
    plain(right) === 'tool' ? 'guarded' : 'tool',
  ],
  'mcp-param-region': (right) => [
    undefined,
    `${right}, ${right}`,
    base64(`${plain(right)}x`),
    base64(plain(right).toUpperCase()),
  ],
};

describe('a request that asks', () => {
  /** Sends a request, and then what it asks for: first with wrong headers, which don't use up the right ones. */
  async function inEachRound(url: string, [method, params, needed]: (typeof REQUESTS)[number]): Promise<void> {
    const client = HttpClient.alone(url, STATELESS);
    const send = async (message: Message, headers: Changes) => {
      const response = await client.post(message, headers);
      const { id, result, error } = await json(response);
      return { status: response.status, id, code: error?.code, result };
    };
    let more: JsonObject = {};
    for (const round of [1, 2]) {
      const message = { ...client.buildMessage('x', method, { ...params, ...more, _meta: META }), id: round };
      const headers: Changes = { ...client.headersOf(message), ...needed };
      for (const [header, wrongOf] of Object.entries(WRONG)) {
        const right = headers[header];
        if (right === undefined) continue;
        const values = wrongOf(right, method);
        const found = await Promise.all(values.map((value) => send(message, { ...needed, [header]: value })));
        const told = [method, params, round, header, values];
        const rejected = { status: 400, id: round, code: -32020, result: undefined };
        expect([...told, found]).toEqual([...told, values.map(() => rejected)]);
      }
      const { status, result = {} } = await send(message, needed);
      expect([status, result['resultType']]).toEqual([200, round === 1 ? 'input_required' : 'complete']);
      const asked = Object.keys(result['inputRequests'] ?? {});
      const inputResponses = Object.fromEntries(asked.map((key) => [key, { action: 'accept', content: {} }]));
      more = { requestState: result['requestState'], inputResponses };
    }
  }

  eachRevision(
    ['HDR-01', 'HDR-05', 'HDR-06', 'HDR-07', 'HDR-09', 'HDR-17'],
    'must mirror the version, the method, the name and the arguments in each round',
    async () => {
      for (const way of WAYS) {
        const { url } = await serve(way, { providers: [new Asking()], secret: 'x'.repeat(32) });
        for (const each of REQUESTS) await inEachRound(url, each);
      }
    },
  );
});

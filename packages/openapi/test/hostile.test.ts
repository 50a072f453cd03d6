// A document and an API whose authors want to reach what the server's owner did not give them.
import { afterEach, describe, expect, it } from '@jest/globals';

import { closeAll, documentOf, operationOf, requestFor, serve, startApi, textOf } from './api.js';

afterEach(closeAll);

const parameter = (name: string, place: string, more: object = {}) => ({ name, in: place, schema: {}, ...more });
const answering = (schema: object) => ({
  responses: { 200: { description: 'OK', content: { 'application/json': { schema } } } },
});

describe('a hostile document', () => {
  it('sends no members that every object has', async () => {
    const parameters = [
      parameter('constructor', 'query'),
      parameter('toString', 'header'),
      parameter('valueOf', 'cookie'),
    ];
    const { request } = await requestFor(operationOf({ parameters }));
    expect(request?.url).toBe('/things');
    expect(JSON.stringify(request?.headers)).not.toContain('native code');
  });

  it('adds no cookie by a reserved character', async () => {
    const parameters = [parameter('a', 'cookie', { allowReserved: true })];
    const headers = { cookie: 'session=mine' };
    const { request } = await requestFor(operationOf({ parameters }), { a: 'x;session=other' }, { headers });
    expect(request?.headers.cookie).toBe('session=mine; a=x%3Bsession%3Dother');
  });

  it('does not replace the query of the base URL', async () => {
    const api = await startApi();
    const parameters = [parameter('key', 'query'), parameter('more', 'query', { schema: { type: 'object' } })];
    const document = operationOf({ parameters }, '/things?key=1&page=2');
    const client = await serve(document, { baseUrl: `${api.url}/v1?key=mine`, validate: false });
    await client.callTool('op', { key: '3', more: { key: '4', kind: 'a' } });
    expect(api.received[0]?.url).toBe('/v1/things?key=mine&page=2&kind=a');
  });

  it('does not replace the content type of the options', async () => {
    const document = operationOf(
      { requestBody: { content: { 'application/json': { schema: {} } } } },
      '/things',
      'post',
    );
    const headers = { 'content-type': 'application/vnd.shop+json' };
    const { request } = await requestFor(document, { body: {} }, { headers });
    expect(request?.headers['content-type']).toBe('application/vnd.shop+json');
  });

  it('sends no header that servers take for one of the options', async () => {
    const parameters = [parameter('X_Api_Key', 'header')];
    const headers = { 'x-api-key': 'mine' };
    const { request } = await requestFor(operationOf({ parameters }), { X_Api_Key: 'other' }, { headers });
    expect(request?.headers).toMatchObject({ 'x-api-key': 'mine' });
    expect(request?.headers['x_api_key']).toBeUndefined();
  });

  it('makes variables of their own of names that templates don’t allow', async () => {
    const parameters = [parameter('a b', 'query'), parameter('a-b', 'query')];
    const api = await startApi();
    const client = await serve(operationOf({ parameters }), { baseUrl: api.url, resource: true });
    const [{ uriTemplate = '' } = {}] = await client.listResourceTemplates();
    await client.readResource(uriTemplate.replace(/\{\?(\w+),(\w+)\}/, '?$1=1&$2=2'));
    expect(api.received[0]?.url).toBe('/things?a%20b=1&a-b=2');
  });

  it('has no headers and media types that no request can have, and paths that can be encoded', async () => {
    const document = operationOf(
      {
        parameters: [parameter('X Bad', 'header')],
        requestBody: { content: { 'text/plain\r\nx-bad: 1': { schema: {} }, 'text/plain': { schema: {} } } },
      },
      '/a\uD800',
      'post',
    );
    const { request } = await requestFor(document, { body: 'text' });
    expect(request?.url).toBe('/a%EF%BF%BD');
    expect(request?.headers['content-type']).toBe('text/plain');
  });

  it('starts with schemas in circles, and serves the other operations', async () => {
    const at = (name: string) => ({ $ref: `#/components/schemas/${name}` });
    const schemas = { Same: at('Same'), All: { allOf: [at('All')] }, Twin: { allOf: [at('Twin'), at('Twin')] } };
    const paths = Object.fromEntries(
      Object.keys(schemas).map((name) => [`/${name}`, { get: { operationId: name, ...answering(at(name)) } }]),
    );
    const api = await startApi(() => ({ body: {} }));
    const client = await serve(documentOf(paths, { components: { schemas } }), { baseUrl: api.url, validate: false });
    for (const name of ['All', 'Twin']) {
      expect(textOf(await client.callTool(name))).toContain('The request succeeded (200 OK)');
    }
    expect((await client.callTool('Same')).structuredContent).toEqual({ result: {} });
  });

  it('makes no list that is thousands of times as long as itself', async () => {
    const text = 'x'.repeat(100_000);
    const fields = Object.fromEntries(Array.from({ length: 3000 }, (_, at) => [`field${at}`, {}]));
    const required = Object.keys(fields);
    const schemas = { Long: { description: text, enum: [text], properties: fields, required } };
    const long = { $ref: '#/components/schemas/Long' };
    const shared = {
      description: text,
      parameters: [parameter('a', 'query', { description: text, schema: { items: { ...long, description: text } } })],
      requestBody: { content: { 'application/json': { schema: { properties: fields, required } } } },
      ...answering(long),
    };
    const document = documentOf({ '/things': { post: { operationId: 'op', ...shared } } }, { components: { schemas } });
    const client = await serve(document, { baseUrl: 'http://127.0.0.1:1', validate: false });
    expect(JSON.stringify(await client.listTools()).length).toBeLessThan(80_000);
  });

  it('counts equal names once', async () => {
    const paths = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, at) => [`/${at}`, { get: { operationId: 'same', responses: {} } }]),
    );
    const client = await serve(documentOf(paths), {
      baseUrl: 'http://127.0.0.1:1',
      validate: false,
      include: ({ path }) => path === '/7' || path.length === 6,
    });
    const names = (await client.listTools()).map(({ name }) => name);
    expect(new Set(names).size).toBe(10_001);
  });

  it('starts with patterns that take long to judge', async () => {
    const patterns = Array.from({ length: 500 }, (_, at) => [
      `p${at}`,
      { type: 'string', pattern: `${'(a|b?){1,30}'.repeat(60)}${at}` },
    ]);
    const schema = { type: 'object', properties: Object.fromEntries(patterns) as object };
    const client = await serve(operationOf({ parameters: [parameter('a', 'query', { schema })] }), {
      baseUrl: 'http://127.0.0.1:1',
      validate: false,
    });
    expect(await client.listTools()).toHaveLength(1);
  });
});

describe('a hostile list', () => {
  it('is one that the official client reads', async () => {
    const schemas = {
      Loose: { type: 'object', patternProperties: { '[\\w-a]': {}, '^b$': {} } },
      Inherited: { type: 'object', properties: { constructor: { type: 'string' } }, required: ['toString'] },
    };
    const paths = Object.fromEntries(
      Object.entries(schemas).map(([name, schema]) => [
        `/${name}`,
        { get: { operationId: name, ...answering(schema) } },
      ]),
    );
    const client = await serve(documentOf(paths), { baseUrl: 'http://127.0.0.1:1', validate: false });
    const [loose, inherited] = (await client.listTools()).map(({ outputSchema }) => outputSchema);
    expect(loose?.['patternProperties']).toEqual({ '^b$': {} });
    expect(inherited).toEqual({ type: 'object' });
  });

  it('has no annotation of another type', async () => {
    const document = operationOf({ 'x-mcp': { annotations: { readOnlyHint: 'yes' } } });
    await expect(serve(document, { baseUrl: 'http://127.0.0.1:1', validate: false })).rejects.toThrow(
      /GET \/things \(x-mcp\.annotations\): `readOnlyHint`/,
    );
  });
});

describe('a hostile argument', () => {
  it('leads nowhere else by escapes that only some servers decode', async () => {
    const document = operationOf({ parameters: [parameter('id', 'path')] }, '/things/{id}');
    const { result, request } = await requestFor(document, { id: '%2e%2e/%ff' });
    expect(textOf(result)).toBe('id: must not contain the path segments "." and ".."');
    expect(request).toBeUndefined();
  });
});

describe('a hostile answer', () => {
  it('that has a number without a value is an error that says so', async () => {
    const api = await startApi(() => ({ headers: { 'content-type': 'application/json' }, body: '{"a":1e999}' }));
    const client = await serve(operationOf(answering({ type: 'object' })), { baseUrl: api.url, validate: false });
    expect(textOf(await client.callTool('op'))).toContain('But the answer has a number that is too large');
  });

  it('that is nested too deep is an error that says so', async () => {
    const api = await startApi(() => ({
      headers: { 'content-type': 'application/json' },
      body: `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`,
    }));
    const client = await serve(operationOf(answering({ type: 'object' })), { baseUrl: api.url, validate: false });
    const result = await client.callTool('op');
    expect(result.isError).toBe(true);
    expect(textOf(result)).toContain("so don't repeat it. But the answer is nested deeper than 56 levels");
  });
});

it('The URL of a document shows no password in an error', async () => {
  const options = { baseUrl: 'http://127.0.0.1:1' };
  const error = await serve('http://me:secret@127.0.0.1:1/api.yaml?key=secret', options).catch(String);
  expect(error).toContain('openapi(http://127.0.0.1:1/api.yaml): `document` has a user and password in its URL');
  expect(error).not.toContain('secret');
});

import { afterEach, describe, expect, it } from '@jest/globals';

import { McpServer } from '@decorum/core';
import { openapi } from '@decorum/openapi';
import { connect } from '@decorum/testing';

import { closeAll, documentOf, operationOf, requestFor, serve, startApi } from './api.js';

afterEach(closeAll);

const LIST = ['blue', 'black'];
const OBJECT = { R: 100, G: 200 };

/** An operation with one parameter, called `color`. */
const withParameter = (place: string, more: object) => {
  const parameter = { name: 'color', in: place, required: place === 'path', schema: {}, ...more };
  return operationOf({ parameters: [parameter] }, place === 'path' ? '/things/{color}' : '/things');
};

describe('A parameter is written as OpenAPI says', () => {
  it.each<[style: string, explode: boolean, value: unknown, written: string]>([
    ['simple', false, 'blue', 'blue'],
    ['simple', false, LIST, 'blue,black'],
    ['simple', true, LIST, 'blue,black'],
    ['simple', false, OBJECT, 'R,100,G,200'],
    ['simple', true, OBJECT, 'R=100,G=200'],
    ['label', false, 'blue', '.blue'],
    ['label', false, LIST, '.blue,black'],
    ['label', true, LIST, '.blue.black'],
    ['label', false, OBJECT, '.R,100,G,200'],
    ['label', true, OBJECT, '.R=100.G=200'],
    ['matrix', false, 'blue', ';color=blue'],
    ['matrix', false, LIST, ';color=blue,black'],
    ['matrix', true, LIST, ';color=blue;color=black'],
    ['matrix', false, OBJECT, ';color=R,100,G,200'],
    ['matrix', true, OBJECT, ';R=100;G=200'],
    ['simple', false, 'a b/ü?#&', 'a%20b%2F%C3%BC%3F%23%26'],
  ])('in a path: %s, explode %s, %j', async (style, explode, color, written) => {
    const { request } = await requestFor(withParameter('path', { style, explode }), { color });
    expect(request?.url).toBe(`/things/${written}`);
  });

  it.each<[style: string, explode: boolean, value: unknown, written: string]>([
    ['form', true, 'blue', 'color=blue'],
    ['form', true, '', 'color='],
    ['form', true, LIST, 'color=blue&color=black'],
    ['form', false, LIST, 'color=blue,black'],
    ['form', true, OBJECT, 'R=100&G=200'],
    ['form', false, OBJECT, 'color=R,100,G,200'],
    ['spaceDelimited', false, LIST, 'color=blue%20black'],
    ['spaceDelimited', false, OBJECT, 'color=R%20100%20G%20200'],
    ['pipeDelimited', false, LIST, 'color=blue%7Cblack'],
    ['pipeDelimited', false, OBJECT, 'color=R%7C100%7CG%7C200'],
    ['deepObject', true, OBJECT, 'color%5BR%5D=100&color%5BG%5D=200'],
    ['deepObject', true, { a: { b: [1, 2] } }, 'color%5Ba%5D%5Bb%5D%5B0%5D=1&color%5Ba%5D%5Bb%5D%5B1%5D=2'],
    ['form', true, 'a&b=c d', 'color=a%26b%3Dc%20d'],
  ])('in a query: %s, explode %s, %j', async (style, explode, color, written) => {
    const { request } = await requestFor(withParameter('query', { style, explode }), { color });
    expect(request?.url).toBe(`/things?${written}`);
  });

  it('in a query, with its reserved characters if they are allowed', async () => {
    const document = withParameter('query', { allowReserved: true });
    const { request } = await requestFor(document, { color: "a/b?c:d@e!f$g'h(i)j*k+l,m;n=o#p&q" });
    expect(request?.url).toBe('/things?color=a/b?c:d@e!f$g%27h(i)j*k+l,m;n=o%23p%26q');
  });

  it('in a header and a cookie, and as JSON if it has a content', async () => {
    const parameters = [
      { name: 'X-Color', in: 'header', schema: { type: 'array', items: { type: 'string' } } },
      { name: 'theme', in: 'cookie', schema: { type: 'string' } },
      { name: 'filter', in: 'query', content: { 'application/json': { schema: { type: 'object' } } } },
    ];
    const args = { 'X-Color': LIST, theme: 'a;b=c', filter: { a: 1 } };
    const { request } = await requestFor(operationOf({ parameters }), args);
    expect(request?.headers).toMatchObject({ 'x-color': 'blue,black', cookie: 'theme=a%3Bb%3Dc' });
    expect(request?.url).toBe('/things?filter=%7B%22a%22%3A1%7D');
  });
});

const bodyOf = (mediaType: string, schema: unknown, more: object = {}) =>
  operationOf({ requestBody: { required: true, content: { [mediaType]: { schema, ...more } } } }, '/things', 'post');

describe('A body is written as its media type says', () => {
  it('as a form, by its encoding', async () => {
    const properties = { name: {}, tags: {}, place: {}, deep: {} };
    const document = bodyOf(
      'application/x-www-form-urlencoded',
      { type: 'object', properties },
      { encoding: { deep: { style: 'deepObject', explode: true }, tags: { style: 'form', explode: false } } },
    );
    const args = { name: 'a b&c', tags: ['x', 'y'], place: { city: 'Oslo' }, deep: { a: [1] } };
    const { request } = await requestFor(document, args);
    expect(request?.headers['content-type']).toBe('application/x-www-form-urlencoded');
    expect(request?.body).toBe('name=a+b%26c&tags=x,y&place=%7B%22city%22%3A%22Oslo%22%7D&deep%5Ba%5D%5B0%5D=1');
  });

  it('as multipart, with files as base64', async () => {
    const file = { type: 'string', format: 'binary' };
    const properties = { name: { type: 'string' }, file, meta: { type: 'object' } };
    const document = bodyOf('multipart/form-data', { type: 'object', properties });
    const { request } = await requestFor(document, { name: 'Rex', file: 'AAH/', meta: { a: 1 } });
    expect(request?.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/);
    expect(request?.body).toContain('name="name"\r\n\r\nRex\r\n');
    expect(request?.body).toContain(
      'name="file"; filename="file"\r\nContent-Type: application/octet-stream\r\n\r\n\x00\x01\xff\r\n',
    );
    expect(request?.body).toMatch(/name="meta".*\r\nContent-Type: application\/json\r\n\r\n\{"a":1\}\r\n/);
  });

  it('as bytes, given as base64', async () => {
    const { request } = await requestFor(bodyOf('image/png', {}), { body: 'iVBORw==' });
    expect([request?.headers['content-type'], request?.body]).toEqual(['image/png', '\x89PNG']);
    const { result, api } = await requestFor(bodyOf('image/png', {}), { body: '!' });
    expect(result).toMatchObject({ isError: true, content: [{ text: 'body: must be base64' }] });
    expect(api.received).toEqual([]);
  });

  it('as text, and as a JSON value that is no object', async () => {
    const plain = await requestFor(bodyOf('text/plain', { type: 'string' }), { body: 'hello' });
    expect(plain.request?.body).toBe('hello');
    const list = await requestFor(bodyOf('application/json', { type: 'array' }), { body: [1, 2] });
    expect(list.request?.body).toBe('[1,2]');
  });

  it.each<[what: string, schema: object, args: object, body: unknown]>([
    ['alternatives', { oneOf: [{ type: 'object' }] }, { body: { a: 1 } }, { a: 1 }],
    ['open fields', { type: 'object', additionalProperties: true }, { body: { a: 1 } }, { a: 1 }],
    [
      'parts',
      {
        allOf: [
          { type: 'object', properties: { a: {} } },
          { type: 'object', properties: { b: {} } },
        ],
      },
      { a: 1, b: 2 },
      { a: 1, b: 2 },
    ],
  ])('as JSON, of an object with %s', async (_what, schema, args, body) => {
    const { request } = await requestFor(bodyOf('application/json', schema), args);
    expect(JSON.parse(request?.body ?? '')).toEqual(body);
  });

  it('as JSON, if there is a choice', async () => {
    const schema = { type: 'object', properties: { a: { type: 'integer' } } };
    const content = { 'application/x-www-form-urlencoded': { schema }, 'application/json': { schema } };
    const { request } = await requestFor(operationOf({ requestBody: { content } }, '/things', 'post'), { a: 1 });
    expect(request?.headers['content-type']).toBe('application/json');
    const none = await requestFor(operationOf({ requestBody: { content } }, '/things', 'post'));
    expect(none.request?.body).toBe('');
  });
});

/** The arguments of a listed tool. */
const propertiesOf = (tool: unknown) =>
  (tool as { inputSchema: { properties: Record<string, { description?: string }> } }).inputSchema.properties;

describe('The arguments of a tool', () => {
  it('have the place before a name that is used twice', async () => {
    const parameters = ['path', 'query', 'header', 'cookie'].map((place) => ({
      name: 'id',
      in: place,
      required: place === 'path',
      description: `The ${place}`,
      schema: { type: 'string' },
    }));
    const requestBody = { content: { 'application/json': { schema: { type: 'object', properties: { id: {} } } } } };
    const document = operationOf({ parameters, requestBody }, '/things/{id}', 'post');
    const args = { id: 'a', query_id: 'b', header_id: 'c', cookie_id: 'd', body_id: 'e' };
    const { request, api } = await requestFor(document, args);
    expect(request).toMatchObject({ url: '/things/a?id=b', headers: { id: 'c', cookie: 'id=d' }, body: '{"id":"e"}' });
    const client = await serve(document, { baseUrl: api.url });
    const [tool] = await client.listTools();
    expect(Object.entries(propertiesOf(tool)).map(([name, { description }]) => [name, description])).toEqual([
      ['id', 'The path'],
      ['query_id', 'The query'],
      ['header_id', 'The header'],
      ['cookie_id', 'The cookie'],
      ['body_id', undefined],
    ]);
  });

  it('never are headers that only the server may set', async () => {
    const names = ['Host', 'authorization', 'COOKIE', 'Content-Length', 'Transfer-Encoding', 'Connection', 'X-Fine'];
    const parameters = names.map((name) => ({ name, in: 'header', schema: { type: 'string' } }));
    const client = await serve(operationOf({ parameters }), { baseUrl: 'http://127.0.0.1:1' });
    const [tool] = await client.listTools();
    expect(Object.keys(propertiesOf(tool))).toEqual(['X-Fine']);
  });

  it('don’t replace headers and cookies of the options', async () => {
    const parameters = [
      { name: 'X-Key', in: 'header', schema: { type: 'string' } },
      { name: 'session', in: 'cookie', schema: { type: 'string' } },
      { name: 'theme', in: 'cookie', schema: { type: 'string' } },
    ];
    const headers = () => Promise.resolve({ 'x-key': 'mine', cookie: 'session=1', authorization: 'Bearer t' });
    const args = { 'X-Key': 'theirs', session: '2', theme: 'dark' };
    const { request } = await requestFor(operationOf({ parameters }), args, { headers });
    expect(request?.headers).toMatchObject({
      'x-key': 'mine',
      cookie: 'session=1; theme=dark',
      authorization: 'Bearer t',
    });
  });

  it('have names that the APIs of models accept', async () => {
    const parameters = ['page[size]', '$top', '__proto__'].map((name) => ({ name, in: 'query', schema: {} }));
    const { request } = await requestFor(operationOf({ parameters }), { page_size: 1, top: 2, proto: 3 });
    expect(request?.url).toBe('/things?page%5Bsize%5D=1&%24top=2&__proto__=3');
  });
});

describe('Operations', () => {
  const paths = {
    '/a': { get: { operationId: 'list' }, post: { operationId: 'list' } },
    '/b c/{d}': { get: { 'x-mcp': { name: 'fetch', description: 'Fetches.' } }, delete: { 'x-mcp': { hidden: true } } },
    '/x': { put: { operationId: `${'x'.repeat(140)}` } },
  };

  it('get distinct names, and what `x-mcp` says', async () => {
    const client = await serve(documentOf(paths), { baseUrl: 'http://127.0.0.1:1', validate: false });
    const tools = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['list', 'list_2', 'fetch', 'x'.repeat(128)]);
    expect(tools[2]?.description).toBe('Fetches.');
  });

  it('have the tags of `x-mcp`, which the server may hide', async () => {
    const tagged = { ...paths, '/y': { get: { operationId: 'secret', 'x-mcp': { tags: ['admin'] } } } };
    const source = await openapi(documentOf(tagged), { baseUrl: 'http://127.0.0.1:1', validate: false });
    const server = new McpServer({ name: 'shop', version: '1', providers: [source], hiddenTags: ['admin'] });
    const names = (await (await connect(server)).listTools()).map(({ name }) => name);
    expect(names).toContain('list');
    expect(names).not.toContain('secret');
    await server.close();
  });

  it('are chosen and changed by the options', async () => {
    const client = await serve(documentOf(paths), {
      baseUrl: 'http://127.0.0.1:1',
      validate: false,
      include: ['list', 'GET /b c/{d}'],
      exclude: ({ method }) => method === 'POST',
      operations: { 'GET /b c/{d}': { name: 'found' }, list: { description: 'All.', annotations: { title: 'A' } } },
    });
    expect(await client.listTools()).toMatchObject([
      { name: 'list', description: 'All.', annotations: { title: 'A', readOnlyHint: true } },
      { name: 'found' },
    ]);
  });

  it('that only read are resources, if asked', async () => {
    const document = documentOf({
      '/pets/{pet-id}': {
        get: {
          operationId: 'pet',
          parameters: [
            { name: 'pet-id', in: 'path', required: true, schema: { type: 'string' } },
            { name: 'limit', in: 'query', schema: { type: 'integer' } },
          ],
        },
      },
      '/about': { get: { operationId: 'about' }, post: { operationId: 'tell' } },
    });
    const api = await startApi(({ url }) => ({ status: url === '/pets/none' ? 404 : 200, body: { url } }));
    const client = await serve(document, { baseUrl: api.url, resource: true, uriPrefix: 'eu', validate: false });
    expect((await client.listTools()).map(({ name }) => name)).toEqual(['tell']);
    expect(await client.listResources()).toMatchObject([{ uri: 'openapi://eu/test/about', name: 'about' }]);
    expect(await client.listResourceTemplates()).toMatchObject([
      { uriTemplate: 'openapi://eu/test/pets/{pet_id}{?limit}' },
    ]);
    const { contents } = await client.readResource('openapi://eu/test/pets/a%2Fb?limit=5');
    expect(contents).toMatchObject([{ mimeType: 'application/json', text: '{"url":"/pets/a%2Fb?limit=5"}' }]);
    await expect(client.readResource('openapi://eu/test/pets/none')).rejects.toThrow('Resource not found');
    await expect(client.readResource('openapi://eu/test/pets/..%2Fadmin')).rejects.toThrow(
      /must not contain|not found/,
    );
    expect(api.received.map(({ url }) => url)).toEqual(['/pets/a%2Fb?limit=5', '/pets/none']);
  });
});

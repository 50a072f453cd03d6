import { gzipSync } from 'node:zlib';

import { afterEach, describe, expect, it } from '@jest/globals';

import { type Answer, closeAll, operationOf, requestFor, type Responder, serve, startApi, textOf } from './api.js';

afterEach(closeAll);

/** An operation whose answer has a schema. */
const answering = (schema?: unknown, more: object = {}) =>
  operationOf({
    responses: {
      200: { description: 'OK', ...(schema !== undefined && { content: { 'application/json': { schema } } }) },
    },
    ...more,
  });

async function callWith(answer: Answer | Responder, schema?: unknown, options: object = {}) {
  const api = await startApi(typeof answer === 'function' ? answer : () => answer);
  const client = await serve(answering(schema), { baseUrl: `${api.url}/v1`, ...options });
  return { result: await client.callTool('op'), api, client };
}

const PET = { type: 'object', required: ['name'], properties: { name: { type: 'string' } } };

describe('The result of a call', () => {
  it('is structured content if the answer fits its schema, and may have more fields', async () => {
    const { result } = await callWith({ body: { name: 'Rex', age: 5 } }, { ...PET, additionalProperties: false });
    expect(result).toMatchObject({ structuredContent: { name: 'Rex', age: 5 } });
    expect(result.isError).toBeUndefined();
  });

  it.each<[what: string, answer: Answer, problem: RegExp]>([
    ['a value of another type', { body: { name: 5 } }, /fit the schema[^]*name must be[^]*\{"name":5\}/],
    ['another content', { headers: { 'content-type': 'text/html' }, body: '<p>Hi' }, /not the JSON[^]*<p>Hi/],
    ['broken JSON', { headers: { 'content-type': 'application/json' }, body: '{"a' }, /not valid JSON[^]*\{"a/],
    ['nothing', { status: 204 }, /answer is empty[^]*204 No Content/],
    [
      'a key that could reach a prototype',
      { headers: { 'content-type': 'application/json' }, body: '{"name":"a","__proto__":{}}' },
      /__proto__/,
    ],
  ])(
    'is not lost if the API answers with %s: an error says that the request succeeded',
    async (_what, answer, problem) => {
      const { result } = await callWith(answer, PET);
      expect(result.isError).toBe(true);
      expect(textOf(result)).toMatch(/^The request succeeded \(20\d .*\), so don't repeat it/);
      expect(textOf(result)).toMatch(problem);
    },
  );

  it.each<[type: string, block: object]>([
    ['image/png', { type: 'image', mimeType: 'image/png', data: 'AAH/' }],
    ['audio/wav', { type: 'audio', mimeType: 'audio/wav', data: 'AAH/' }],
    ['application/pdf', { type: 'resource', resource: { mimeType: 'application/pdf', blob: 'AAH/' } }],
    ['text/plain; charset=latin1', { type: 'text', text: '\x00\x01ÿ' }],
  ])('is a block for %s', async (type, block) => {
    const { result } = await callWith({ headers: { 'content-type': type }, body: Buffer.from([0, 1, 255]) });
    expect(result.content).toMatchObject([block]);
  });

  it('is an error with the status and a part of the body if the API refuses', async () => {
    const body = `{"detail":"${'x'.repeat(5000)}"}`;
    const { result } = await callWith({ status: 422, headers: { 'content-type': 'application/json' }, body });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toMatch(/^The API answered 422 Unprocessable Entity: \{"detail":"x{1989}…$/);
    const { result: short } = await callWith(
      { status: 500, headers: { 'content-type': 'text/plain' }, body: 'oh\x1b[2J no' },
      undefined,
      { maxErrorChars: 5 },
    );
    expect(textOf(short)).toBe('The API answered 500 Internal Server Error: oh[2J…');
  });

  it('has no output schema if answers differ', async () => {
    const content = { 'application/json': { schema: PET } };
    const responses = { 200: { description: '', content }, 204: { description: '' } };
    const client = await serve(answering(undefined, { responses }), { baseUrl: 'http://127.0.0.1:1' });
    expect((await client.listTools())[0]).not.toHaveProperty('outputSchema');
  });
});

describe('A call', () => {
  it('fails if the answer is too large, however small it is on the wire', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000, 'a'));
    const { result } = await callWith({
      headers: { 'content-type': 'text/plain', 'content-encoding': 'gzip' },
      body: bomb,
    });
    expect(textOf(result)).toMatch(/larger than 1048576 bytes/);
  });

  it('fails without addresses if nothing listens, or the API breaks off', async () => {
    const client = await serve(answering(), { baseUrl: 'http://127.0.0.1:1' });
    const result = await client.callTool('op');
    expect(result).toMatchObject({ isError: true });
    expect(textOf(result)).toBe('The API could not be reached, or broke off its answer');
    const { result: broken } = await callWith((_request, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('a', () => response.destroy());
    });
    expect(textOf(broken)).toBe('The API could not be reached, or broke off its answer');
  });

  it('fails if the API takes too long, also in the middle of its answer', async () => {
    const { result } = await callWith((_request, response) => void response.writeHead(200).write('a'), undefined, {
      timeoutMs: 50,
    });
    expect(textOf(result)).toBe('The API did not answer within 50 ms');
  });

  it('aborts its request when it is cancelled', async () => {
    let closed = () => {};
    const aborted = new Promise<void>((resolve) => (closed = resolve));
    const controller = new AbortController();
    const api = await startApi((_request, response) => {
      response.on('close', closed);
      controller.abort();
    });
    const client = await serve(answering(), { baseUrl: api.url });
    await client.callTool('op', {}, { signal: controller.signal }).catch(() => {});
    await aborted;
  });

  it('follows redirects below the base URL, for GET', async () => {
    const { result, api } = await callWith(({ url }) =>
      url === '/v1/things' ? { status: 302, headers: { location: '/v1/others' } } : { body: { a: 1 } },
    );
    expect(api.received.map(({ url }) => url)).toEqual(['/v1/things', '/v1/others']);
    expect(textOf(result)).toBe('{"a":1}');
  });

  it('refuses all other redirects, and too many', async () => {
    const other = await startApi();
    const { host } = new URL(other.url);
    for (const location of [
      other.url,
      `//${host}/v1/x`,
      '/admin',
      '/v1/../admin',
      '/v12',
      `http://a@${host}/v1`,
      'file:///etc/passwd',
    ]) {
      const { result, api } = await callWith({ status: 307, headers: { location } });
      expect(textOf(result)).toBe('The API answered with a redirect (307) that is not followed');
      expect(api.received).toHaveLength(1);
    }
    const { result } = await callWith({ status: 301, headers: { location: '/v1/things' } });
    expect(textOf(result)).toMatch(/more than 5 redirects/);
    expect(other.received).toEqual([]);
    const posted = operationOf({}, '/things', 'post');
    const api = await startApi(() => ({ status: 302, headers: { location: '/others' } }));
    const client = await serve(posted, { baseUrl: api.url });
    expect(textOf(await client.callTool('op'))).toMatch(/redirect \(302\)/);
  });
});

describe('A value can’t lead a request elsewhere', () => {
  const document = operationOf(
    { parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }] },
    '/things/{id}',
  );

  it.each([
    '.',
    '..',
    '../admin',
    'a/../../b',
    String.raw`a\..\b`,
    '%2e%2e',
    '%252e%252e%252fadmin',
    '..%2f',
    '',
    'a\r\nb',
    'a%0d%0ab',
    'a\0',
  ])('in a path: %j is refused', async (id) => {
    const { result, api } = await requestFor(document, { id });
    expect(textOf(result)).toMatch(/^id: must not|id: must have at least 1 character/);
    expect(api.received).toEqual([]);
  });

  it.each(['@evil.example', '//evil.example', 'https://evil.example', '?a=b', '#a', 'a:b', '..a', 'ü'])(
    'in a path: %j is encoded',
    async (id) => {
      const { request } = await requestFor(document, { id });
      expect(request?.url).toBe(`/things/${encodeURIComponent(id)}`);
    },
  );

  it('in a header: line breaks are refused, and what no header can carry', async () => {
    const headers = operationOf({ parameters: [{ name: 'X-A', in: 'header', schema: { type: 'string' } }] });
    for (const value of ['a\r\nX-B: c', 'a\nb', 'a\0', '漢']) {
      const { result, api } = await requestFor(headers, { 'X-A': value });
      expect(textOf(result)).toMatch(/^X-A: /);
      expect(api.received).toEqual([]);
    }
  });

  it('in a query or cookie: it is encoded', async () => {
    const parameters = ['query', 'cookie'].map((place) => ({ name: 'a', in: place, schema: { type: 'string' } }));
    const { request } = await requestFor(operationOf({ parameters }), {
      a: 'x&b=c#\r\n',
      cookie_a: 'x; session=1\r\n',
    });
    expect(request?.url).toBe('/things?a=x%26b%3Dc%23%0D%0A');
    expect(request?.headers.cookie).toBe('a=x%3B%20session%3D1%0D%0A');
  });
});

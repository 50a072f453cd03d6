import { mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { DecorumError } from '@decorum/core';
import { openapi, type OpenApiOptions } from '@decorum/openapi';
import { afterEach, describe, expect, it, jest } from '@jest/globals';

import { closeAll, documentOf, operationOf, requestFor, serve, startApi } from './api.js';

afterEach(closeAll);

const BASE = { baseUrl: 'http://127.0.0.1:1/v1' };

/** Writes files to a new folder, and returns the path of the first. */
function filesOf(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'decorum-openapi-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return join(folder, Object.keys(files)[0] as string);
}

async function problemOf(document: string | object, options: Partial<OpenApiOptions> = {}): Promise<string> {
  const error: unknown = await openapi(document, { ...BASE, ...options }).catch((failure: unknown) => failure);
  expect(error).toBeInstanceOf(DecorumError);
  return (error as Error).message;
}

/** The input schema of the only tool of a document. */
async function inputOf(document: object): Promise<Record<string, unknown>> {
  const client = await serve(document, { ...BASE, validate: false });
  const [tool] = await client.listTools();
  return tool?.inputSchema as Record<string, unknown>;
}

const takes = (schema: unknown, more: object = {}, openapiVersion = '3.0.3') => ({
  ...documentOf(
    {
      '/a': {
        get: {
          operationId: 'op',
          parameters: [{ name: 'a', in: 'query', schema }],
          responses: { 200: { description: '' } },
        },
      },
    },
    more,
  ),
  openapi: openapiVersion,
});

describe('A schema of OpenAPI 3.0 becomes JSON Schema', () => {
  it.each<[schema: object, converted: object]>([
    [
      { type: 'string', nullable: true, enum: ['a'] },
      { type: ['string', 'null'], enum: ['a', null] },
    ],
    [{ nullable: true, allOf: [{ type: 'string' }] }, { anyOf: [{ allOf: [{ type: 'string' }] }, { type: 'null' }] }],
    [
      { type: 'integer', minimum: 1, exclusiveMinimum: true },
      { type: 'integer', exclusiveMinimum: 1 },
    ],
    [
      { type: 'integer', maximum: 1, exclusiveMaximum: false },
      { type: 'integer', maximum: 1 },
    ],
    [
      { type: 'string', example: 'x' },
      { type: 'string', examples: ['x'] },
    ],
    [
      { type: 'string', format: 'byte' },
      { type: 'string', contentEncoding: 'base64' },
    ],
    [{ type: 'string', format: 'snowflake' }, { type: 'string' }],
    [{ type: 'file', required: true, 'x-a': 1, xml: {}, $id: 'a', discriminator: { propertyName: 'k' } }, {}],
    [{ type: 'string', pattern: '(a+)+$' }, { type: 'string' }],
    [{ type: 'string', pattern: '(' }, { type: 'string' }],
    [
      { type: 'string', pattern: '^a$' },
      { type: 'string', pattern: '^a$' },
    ],
    [
      { type: 'array', items: [{ type: 'string' }] },
      { type: 'array', prefixItems: [{ type: 'string' }] },
    ],
    [
      { type: 'string', description: 'a\u202Eb\x00\x1b[1m\n\u{E0041}c' },
      { type: 'string', description: 'ab[1m\nc' },
    ],
  ])('%j', async (schema, converted) => {
    const { properties } = await inputOf(takes(schema));
    expect(properties).toEqual({ a: converted });
  });

  it('with circles as `$defs`, which are checked', async () => {
    const Node = {
      type: 'object',
      properties: { next: { $ref: '#/components/schemas/Node' }, n: { type: 'integer' } },
    };
    const document = takes({ $ref: '#/components/schemas/Node' }, { components: { schemas: { Node } } });
    expect(await inputOf(document)).toMatchObject({
      properties: { a: { $ref: '#/$defs/Node' } },
      $defs: { Node: { properties: { next: { $ref: '#/$defs/Node' } } } },
    });
    const { result } = await requestFor(document, { a: { next: { next: { n: 'x' } } } });
    expect(result.content).toMatchObject([
      { text: 'The arguments are not valid:\n- a.next.next.n: must be an integer' },
    ]);
  });
});

describe('A hostile document', () => {
  it('can’t name files, metadata services or folders of the server', async () => {
    for (const $ref of ['file:///etc/passwd', 'http://169.254.169.254/latest', '/etc/passwd', '../secret.yaml#/a']) {
      const path = filesOf({ 'a.json': JSON.stringify(takes({ $ref })) });
      expect(await problemOf(path)).toMatch(
        /refers to "(?:file|http):\/\/.*"\. If that is intended, list it in `externalRefs`/,
      );
    }
  });

  it('can refer to the files that are listed, and to nothing that these link to', async () => {
    const path = filesOf({
      'a.json': JSON.stringify(takes({ $ref: 'b.yaml#/Pet' })),
      'b.yaml': 'Pet: { type: object, properties: { name: { $ref: "#/Name" } } }\nName: { type: string }\n',
    });
    const client = await serve(path, { ...BASE, externalRefs: [join(path, '../b.yaml')] });
    expect((await client.listTools())[0]?.inputSchema).toMatchObject({
      $defs: { Pet: { properties: { name: { $ref: '#/$defs/Name' } } }, Name: { type: 'string' } },
    });
    symlinkSync('/etc/hostname', join(path, '../c.yaml'));
    const linked = filesOf({ 'a.json': JSON.stringify(takes({ $ref: join(path, '../c.yaml') })) });
    expect(await problemOf(linked, { externalRefs: [`${join(path, '..')}/`] })).toMatch(/list it in `externalRefs`/);
  });

  it.each<[what: string, document: () => string | object]>([
    [
      'aliases of YAML that multiply',
      () => {
        const lines = Array.from({ length: 30 }, (_, at) => `x${at + 1}: &x${at + 1} [*x${at}, *x${at}, *x${at}]`);
        return filesOf({ 'a.yaml': ['openapi: 3.1.0', 'x0: &x0 [a]', ...lines].join('\n') });
      },
    ],
    ['an alias of YAML that contains itself', () => filesOf({ 'a.yaml': 'openapi: 3.1.0\nx: &a { b: *a }\n' })],
    ['endless nesting', () => filesOf({ 'a.json': `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}` })],
    ['endless nesting in YAML', () => filesOf({ 'a.yaml': `a: ${'['.repeat(50_000)}` })],
  ])('with %s doesn’t start', async (_what, document) => {
    expect(await problemOf(document())).toMatch(/`document` (?:has more than|is nested|is neither)/);
  });

  it('with references that multiply starts, with schemas of a bounded size', async () => {
    const schemas = Object.fromEntries(
      Array.from({ length: 60 }, (_, at) => [
        `S${at}`,
        { allOf: [1, 2, 3].map(() => ({ $ref: `#/components/schemas/S${at + 1}` })) },
      ]),
    );
    const big = {
      type: 'object',
      properties: Object.fromEntries(
        Array.from({ length: 5000 }, (_, at) => [`p${at}`, { description: 'x'.repeat(99) }]),
      ),
    };
    const document = takes(
      { $ref: '#/components/schemas/S0' },
      { components: { schemas: { ...schemas, S60: big } } },
      '3.1.0',
    );
    const client = await serve(document, BASE);
    expect(JSON.stringify(await client.listTools()).length).toBeLessThan(500_000);
    const { result } = await requestFor(document, { a: { p1: 1 } });
    expect(result.content).toMatchObject([{ text: expect.stringContaining('is too complex to be checked') }]);
  });

  it.each(['https://evil.example/a', 'a', '@evil.example/a'])('has no path like %s', async (path) => {
    expect(await problemOf(documentOf({ [path]: { get: {} } }), { validate: false })).toMatch(
      /does not begin with "\/"/,
    );
  });

  it.each(['/../admin', '/a/%2E%2e/b', '/./a', '/a/..'])('has no path like %s, which leads elsewhere', async (path) => {
    expect(await problemOf(documentOf({ [path]: { get: {} } }), { validate: false })).toMatch(/leads elsewhere/);
  });

  it.each([
    ['//evil.example/{id}', '/v1//evil.example/x'],
    ['/\\evil.example/{id}', '/v1/%5Cevil.example/x'],
    ['/@evil.example/{id}', '/v1/@evil.example/x'],
    ['/a/{id}#b?c', '/v1/a/x'],
    ['/#Action=b', '/v1/'],
    ['/a?b=c&d={id}', '/v1/a?b=c&d=%7Bid%7D'],
    ['/a\tb\n/{id}', '/v1/a%09b%0A/x'],
  ])('has its path %j below the base URL', async (path, url) => {
    const api = await startApi();
    const document = {
      ...documentOf({ [path]: { get: { operationId: 'op', servers: [{ url: 'https://evil.example' }] } } }),
      servers: [{ url: 'https://evil.example' }],
    };
    const client = await serve(document, { baseUrl: `${api.url}/v1`, validate: false });
    await client.callTool('op', /^[^?]*\{id\}/.test(path) ? { id: 'x' } : {});
    expect(api.received.map((each) => each.url)).toEqual([url]);
  });

  it('has no more than 500 parameters for an operation', async () => {
    const parameters = Array.from({ length: 501 }, (_, at) => ({ name: `p${at}`, in: 'query', schema: {} }));
    expect(await problemOf(operationOf({ parameters }))).toMatch(/has 501 parameters/);
  });

  it('has harmless names where they could reach a prototype', async () => {
    const properties = JSON.parse(
      '{"__proto__":{"type":"string"},"constructor":{"type":"string"},"toString":{"type":"integer"}}',
    ) as object;
    const requestBody = { content: { 'application/json': { schema: { type: 'object', properties } } } };
    const document = operationOf({ requestBody, operationId: '__proto__' }, '/a', 'post');
    const api = await startApi();
    const client = await serve(document, { baseUrl: api.url, validate: false });
    expect((await client.listTools()).map(({ name }) => name)).toEqual(['proto']);
    await client.callTool('proto', { proto: 'x', constructor: 'y', toString: 1 });
    expect(api.received[0]?.body).toBe('{"__proto__":"x","constructor":"y","toString":1}');
  });
});

describe('Credentials that the document wants', () => {
  it('are named in a warning, if there are no headers', async () => {
    const warn = jest.spyOn(process, 'emitWarning').mockReturnValue();
    const schemes = { key: { type: 'apiKey', in: 'header', name: 'X-Key' }, token: { type: 'http', scheme: 'bearer' } };
    const document = { ...operationOf({}), components: { securitySchemes: schemes } };
    await openapi(document, { ...BASE, headers: {} });
    expect(warn).not.toHaveBeenCalled();
    await openapi(document, BASE);
    expect(warn.mock.calls[0]?.[0]).toMatch(
      /wants credentials: key \(apiKey header X-Key\), token \(http bearer\)\. Pass `headers`/,
    );
    warn.mockRestore();
  });
});

describe('A document by URL', () => {
  it('is downloaded, as JSON or YAML', async () => {
    const yaml = 'openapi: 3.1.0\ninfo: { title: a, version: "1" }\npaths: { /a: { get: { operationId: far } } }\n';
    const api = await startApi(({ url }) => ({ body: url === '/a.yaml' ? yaml : operationOf({}) }));
    for (const [path, name] of [
      ['a.yaml', 'far'],
      ['a.json', 'op'],
    ] as const) {
      const client = await serve(`${api.url}/${path}`, BASE);
      expect((await client.listTools()).map((tool) => tool.name)).toEqual([name]);
    }
  });

  it('is a startup error if there is none, without its query', async () => {
    const api = await startApi(() => ({ status: 404 }));
    const problem = await problemOf(`${api.url}/a.json?token=secret`);
    expect(problem).toMatch(
      /openapi\(http:\/\/.*\/a\.json\): `document` can't be downloaded: the answer has the status 404/,
    );
    expect(problem).not.toContain('secret');
  });
});

describe('A schema that is too large', () => {
  const fields = (count: number, name: string) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, at) => [`${name}${at}`, { type: 'string', description: name.repeat(100) }]),
    );
  const inputWith = async (more: object) => {
    const to = (name: string) => ({ $ref: `#/components/schemas/${name}` });
    const schemas = {
      All: { type: 'object', properties: { first: to('First'), second: to('Second'), third: to('Third') } },
      First: { type: 'object', properties: { ...fields(150, 'a'), ...more } },
      Second: { type: 'object', properties: { ...fields(150, 'b'), inner: to('Inner') } },
      Third: { type: 'object', properties: { inner: to('Inner') } },
      Inner: { type: 'object', properties: { c: { type: 'string' } } },
    };
    return await inputOf(takes({ $ref: '#/components/schemas/All' }, { components: { schemas } }));
  };

  it('leaves definitions open as a whole, so that a small change of the document changes no others', async () => {
    const { $defs: before } = (await inputWith({})) as { $defs: Record<string, object> };
    const { $defs: after } = (await inputWith({ more: { type: 'string' } })) as { $defs: Record<string, object> };
    expect(before).toMatchObject({
      Second: {},
      Third: { properties: { inner: { $ref: '#/$defs/Inner' } } },
      Inner: { properties: { c: { type: 'string' } } },
    });
    expect(Object.keys(before['Second'] as object)).toEqual([]);
    expect({ ...after, First: undefined }).toEqual({ ...before, First: undefined });
    expect(after['First']).toHaveProperty('properties.more');
  });
});

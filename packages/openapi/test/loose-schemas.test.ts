import { afterEach, describe, expect, it } from '@jest/globals';

import { closeAll, operationOf, requestFor, serve, startApi, textOf } from './api.js';

afterEach(closeAll);

const posting = (schema: object, { type = 'application/json', schemas = {} } = {}) => ({
  ...operationOf({ requestBody: { required: true, content: { [type]: { schema } } } }, '/things', 'post'),
  components: { schemas },
});

async function answered(schema: object, body: string) {
  const headers = { 'content-type': 'application/json' };
  const api = await startApi(() => ({ headers, body }));
  const responses = { 200: { description: 'OK', content: { 'application/json': { schema } } } };
  const client = await serve(operationOf({ responses }), { baseUrl: api.url, validate: false });
  return await client.callTool('op');
}

const NAMED = { type: 'object', properties: { kind: { type: 'string' }, name: { type: 'string' } } };
const AGED = { type: 'object', properties: { kind: { type: 'string' }, age: { type: 'integer' } } };

const PARTS = {
  allOf: [{ required: ['p'] }, { properties: { p: { writeOnly: true, readOnly: true }, q: { type: 'integer' } } }],
};

describe('An honest answer is accepted', () => {
  it.each<[what: string, schema: object, value: unknown]>([
    [
      'of one of two closed objects',
      { oneOf: [NAMED, AGED].map((each) => ({ ...each, additionalProperties: false })) },
      { name: 'Rex' },
    ],
    [
      'of one of two formats',
      { oneOf: ['date', 'date-time'].map((format) => ({ type: 'string', format })) },
      '2020-01-01',
    ],
    [
      'told by a discriminator',
      { oneOf: [NAMED, AGED], discriminator: { propertyName: 'kind' } },
      { kind: 'a', age: 1 },
    ],
    ['without a field that one part of its schema requires and another one hides', { items: PARTS }, [{ q: 1 }]],
    [
      'without a hidden field that the whole schema, or an alternative, requires',
      { items: { required: ['p'], allOf: [PARTS], anyOf: [{ required: ['p'] }, { required: ['r'] }] } },
      [{ q: 1 }],
    ],
    ['that is not of a format', { type: 'string', not: { type: 'string', format: 'date' } }, 'x'],
    [
      'for which a condition fails',
      JSON.parse('{ "if": { "type": "string", "pattern": "^a" }, "then": { "maxLength": 1 } }') as object,
      'bcd',
    ],
  ])('%s', async (_what, schema, value) => {
    expect((await answered(schema, JSON.stringify(value))).structuredContent).toEqual({ result: value });
  });

  it('must fit one of the alternatives, and besides one of `anyOf`', async () => {
    const schema = { anyOf: [{ type: 'string' }, { type: 'number' }], oneOf: [{ type: 'string' }, { type: 'null' }] };
    expect((await answered(schema, '"a"')).structuredContent).toEqual({ result: 'a' });
    expect((await answered(schema, 'null')).isError).toBe(true);
    expect((await answered(schema, '1')).isError).toBe(true);
  });
});

describe('Honest arguments are accepted', () => {
  it('without a field that is read only in one part of a schema, and required in another one', async () => {
    const { request } = await requestFor(posting({ type: 'object', properties: { pet: PARTS } }), { pet: { q: 1 } });
    expect(request?.body).toBe('{"pet":{"q":1}}');
  });

  it('if the alternatives are too long for a schema', async () => {
    const names = Array.from({ length: 300 }, (_, at) => `S${at}`);
    const description = 'x'.repeat(200);
    const schemas = Object.fromEntries(
      names.map((name) => [name, { type: 'object', description, properties: { kind: { const: name } } }]),
    );
    const oneOf = names.map((name) => ({ $ref: `#/components/schemas/${name}` }));
    const document = posting({ type: 'object', properties: { pet: { oneOf } } }, { schemas });
    const { request } = await requestFor(document, { pet: { kind: 'S1' } });
    expect(request?.body).toBe('{"pet":{"kind":"S1"}}');
  });

  it('for a schema that others extend', async () => {
    const Pet = { ...NAMED, required: ['kind'], discriminator: { propertyName: 'kind' } };
    const document = posting({ $ref: '#/components/schemas/Pet' }, { schemas: { Pet } });
    const { request } = await requestFor(document, { body: { kind: 'Cat', lives: 9 } });
    expect(request?.body).toBe('{"kind":"Cat","lives":9}');
  });
});

describe('Bytes', () => {
  const orNull = (schema: object) => ({ anyOf: [schema, { type: 'null' }] });

  it.each<[what: string, file: object]>([
    ['a format', { type: 'string', format: 'binary' }],
    ['a media type', { type: 'string', contentMediaType: 'application/octet-stream' }],
  ])('of files that may be null are described by %s, and sent as files', async (_what, file) => {
    const properties = { one: orNull(file), many: orNull({ type: 'array', items: file }) };
    const document = posting({ type: 'object', properties }, { type: 'multipart/form-data' });
    const client = await serve(document, { baseUrl: 'http://127.0.0.1:1', validate: false });
    const base64 = { type: 'string', contentEncoding: 'base64' };
    expect((await client.listTools())[0]?.inputSchema).toMatchObject({
      properties: {
        one: { anyOf: [base64, { type: 'null' }] },
        many: { anyOf: [{ type: 'array', items: base64 }, { type: 'null' }] },
      },
    });
    const { request } = await requestFor(document, { one: 'aGk=', many: ['aG8='] });
    expect(request?.body).toMatch(/name="one"; filename="one"\r\n[^]*?\r\n\r\nhi\r\n[^]*filename="many"[^]*\r\nho\r\n/);
  });

  it.each<[type: string, schema: object, sent: string, contentType: string]>([
    ['*/*', { type: 'string', format: 'binary' }, 'hi', 'application/octet-stream'],
    ['image/*', { type: 'string', format: 'binary' }, 'hi', 'application/octet-stream'],
    ['text/*', { type: 'string' }, 'aGk=', 'text/plain'],
    ['*/*', { type: 'string' }, '"aGk="', 'application/json'],
  ])('of the media type %s and the schema %j are sent as what they are', async (type, schema, sent, contentType) => {
    const { request } = await requestFor(posting(schema, { type }), { body: 'aGk=' });
    expect(request).toMatchObject({ body: sent, headers: { 'content-type': contentType } });
  });
});

describe('An integer with more digits than a number can have', () => {
  it('keeps its digits in the text of a result', async () => {
    const schema = { type: 'object', properties: { id: { type: 'integer', format: 'int64' } } };
    expect(textOf(await answered(schema, '{"id":9007199254740993}'))).toBe('{"id":9007199254740993}');
    const list = { type: 'array', items: schema };
    expect(textOf(await answered(list, '[{"id":-9007199254740993}]'))).toBe('{"result":[{"id":-9007199254740993}]}');
  });

  it('is no argument: the request could name something else', async () => {
    const parameters = [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }];
    const { result, api } = await requestFor(operationOf({ parameters }, '/things/{id}', 'delete'), { id: 2 ** 53 });
    expect(textOf(result)).toBe('id: has a number with more digits than can be sent exactly');
    expect(api.received).toEqual([]);
  });
});

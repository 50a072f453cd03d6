import { fileURLToPath } from 'node:url';

import { afterEach, describe, expect, it } from '@jest/globals';

import { closeAll, operationOf, serve, startApi, textOf } from './api.js';

const PETSTORE = fileURLToPath(new URL('petstore.yaml', import.meta.url));

afterEach(closeAll);

describe('A document of a pet store', () => {
  it('becomes a tool for each operation, with the annotations of its method', async () => {
    const client = await serve(PETSTORE, { baseUrl: 'http://127.0.0.1:1' });
    const tools = await client.listTools();
    expect(tools.map(({ name, description }) => [name, description])).toEqual([
      ['listPets', 'Lists pets\n\nNewest first.'],
      ['createPet', 'Adds a pet'],
      ['get_pets_petId', 'Reads a pet'],
      ['deletePet', 'DELETE /pets/{petId}'],
    ]);
    expect(tools[3]?.annotations).toMatchObject({ readOnlyHint: false, destructiveHint: true, idempotentHint: true });
  });

  it('has its calls sent to the API, and answers with structured content', async () => {
    const api = await startApi(() => ({ body: [{ id: 1, name: 'Rex', nickname: null, mother: { name: 'Ada' } }] }));
    const client = await serve(PETSTORE, { baseUrl: `${api.url}/v1/`, prefix: 'pets' }, { via: 'http' });
    const result = await client.callTool('pets_listPets', { limit: 5, tags: ['a b', 'c&d'] });
    expect(api.received).toMatchObject([{ method: 'GET', url: '/v1/pets?limit=5&tags=a%20b&tags=c%26d' }]);
    expect(result.structuredContent).toEqual({
      result: [{ id: 1, name: 'Rex', nickname: null, mother: { name: 'Ada' } }],
    });
  });

  it('has the fields of a body as arguments, without those that are read only', async () => {
    const api = await startApi(() => ({ status: 201, body: { id: 1, name: 'Rex' } }));
    const client = await serve(PETSTORE, { baseUrl: api.url });
    const { inputSchema } = (await client.listTools())[1] as { inputSchema: Record<string, unknown> };
    expect(inputSchema).toMatchObject({ required: ['name'], additionalProperties: false });
    expect(Object.keys(inputSchema['properties'] as object)).toEqual(['name', 'nickname', 'mother']);
    const result = await client.callTool('createPet', { name: 'Rex', nickname: null });
    expect(result.structuredContent).toEqual({ id: 1, name: 'Rex' });
    expect(api.received[0]).toMatchObject({ method: 'POST', url: '/pets', body: '{"name":"Rex","nickname":null}' });
    expect(api.received[0]?.headers['content-type']).toBe('application/json');
  });

  it('has invalid arguments refused before a request is sent', async () => {
    const api = await startApi();
    const client = await serve(PETSTORE, { baseUrl: api.url });
    const result = await client.callTool('listPets', { limit: 1000, page: 2 });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toMatch(/page: is not a known field[^]*limit: must be at most 100/);
    expect(api.received).toEqual([]);
  });

  it('has 204 answered with a sentence, also if the document says that it has content', async () => {
    const content = { 'application/json': { schema: { type: 'object', properties: { id: { type: 'integer' } } } } };
    const api = await startApi(() => ({ status: 204 }));
    const client = await serve(operationOf({ responses: { 204: { description: 'OK', content } } }), {
      baseUrl: api.url,
    });
    expect(await client.callTool('op')).toMatchObject({
      content: [{ text: 'The API answered 204 No Content, without content' }],
    });
    expect((await client.listTools())[0]?.outputSchema).toBeUndefined();
  });

  it('has 204 answered with a sentence', async () => {
    const api = await startApi(() => ({ status: 204 }));
    const client = await serve(PETSTORE, { baseUrl: api.url });
    expect(textOf(await client.callTool('deletePet', { petId: 'a/b' }))).toBe(
      'The API answered 204 No Content, without content',
    );
    expect(api.received[0]?.url).toBe('/pets/a%2Fb');
  });
});

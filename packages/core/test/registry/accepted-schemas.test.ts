import { describe, expect, it } from '@jest/globals';
import { type JsonObject, McpServer, Prompt, type SchemaSource } from '@decorum/core';
import { connect } from '@decorum/testing';
import { z } from 'zod';

const circle = { type: 'object', properties: { radius: { type: 'number' } }, required: ['radius'] };
const square = { type: 'object', properties: { side: { type: 'number' } }, required: ['side'] };

const Shape = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('circle'), radius: z.number() }),
  z.object({ kind: z.literal('square'), side: z.number() }),
]);

async function serve(input: SchemaSource, output?: SchemaSource) {
  const server = new McpServer({ name: 'test', version: '1' });
  const options = { name: 'draw', input, ...(output && { output }) };
  server.addTool(options as { name: string; input: JsonObject }, (args: unknown) => args);
  return await connect(server);
}

describe('a schema of objects without a type at its root', () => {
  it.each<[string, SchemaSource, object]>([
    ['a union of zod', Shape, { kind: 'circle', radius: 1 }],
    ['a zod object with an id', z.object({ radius: z.number() }).meta({ id: 'Circle' }), { radius: 1 }],
    ['anyOf', { anyOf: [circle, square] }, { radius: 1 }],
    ['allOf', { allOf: [circle, { properties: { name: { type: 'string' } } }] }, { radius: 1 }],
    ['a reference', { $ref: '#/$defs/circle', $defs: { circle } }, { radius: 1 }],
  ])('is a schema of arguments and results: %s', async (_, schema, value) => {
    const client = await serve(schema, schema);
    const [tool] = await client.listTools();
    expect(tool).toMatchObject({ inputSchema: { type: 'object' }, outputSchema: { type: 'object' } });
    expect(await client.callTool('draw', { ...value })).toMatchObject({ structuredContent: value });
    expect(await client.callTool('draw', {})).toMatchObject({ isError: true });
  });

  it.each([
    ['a union with a string', { anyOf: [circle, { type: 'string' }] }],
    ['a reference to a list', { $ref: '#/$defs/list', $defs: { list: { type: 'array' } } }],
    ['an object or null', { anyOf: [circle, { type: 'null' }] }],
  ])('is no schema of arguments if it allows other values: %s', async (_, schema) => {
    await expect(serve(schema)).rejects.toThrow(/its root must have "type": "object"/);
  });

  it('names the arguments of a prompt behind a reference', async () => {
    class Prompts {
      @Prompt({ input: z.object({ city: z.string() }).meta({ id: 'City' }) })
      pack({ city }: { city: string }) {
        return `What should I pack for ${city}?`;
      }
    }
    const client = await connect(new McpServer({ name: 'test', version: '1', providers: [Prompts] }));
    const [prompt] = await client.listPrompts();
    expect(prompt?.arguments).toEqual([expect.objectContaining({ name: 'city', required: true })]);
  });
});

// What tools with a preview publish: an input with a ticket, and an output that may be a plan.
import { type CallToolResult, McpServer, NoInput, Tool, type ToolOptions } from '@decorum/core';
import { connect, revisions } from '@decorum/testing';
import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { IsInt } from 'class-validator';
import { z } from 'zod';

import { allText, ticketOf } from './planned.js';

class Pruned {
  @IsInt() count!: number;
}

class Page {
  @IsInt({ each: true }) ids!: number[];
}

/** A client of a server whose tool has these options. */
async function published(options: ToolOptions, how: { revision?: string; run?: () => unknown; max?: number } = {}) {
  const { revision = '2026-07-28', run = () => 'done', max } = how;
  class Files {
    @Tool({ input: NoInput, ...options, preview: 'plan' } as object) prune(_input: never, _ctx: never) {
      return run();
    }
    plan(input: unknown) {
      return { input };
    }
  }
  const server = new McpServer({
    name: 'x',
    version: '1',
    providers: [Files],
    ...(max !== undefined && { maxResultChars: max }),
  });
  const client = await connect(server, { revision });
  const { tools } = (await client.request('tools/list')) as { tools: { inputSchema: object; outputSchema?: object }[] };
  const [tool] = tools;
  const call = async (args: object) => (await client.callTool('prune', args)) as CallToolResult;
  return { tool: tool as NonNullable<typeof tool>, call };
}

const accepts = (schema: object, value: unknown) =>
  new Ajv2020({ strict: false, validateFormats: false }).validate(schema, value);

const CLOSED = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false };

describe('the input of a tool with a preview', () => {
  it.each<[string, ToolOptions['input'], object]>([
    ['that is closed', CLOSED, { a: '1' }],
    ['that is open', { type: 'object' }, { a: '1' }],
    ['of one type', { type: 'object', additionalProperties: { type: 'number' } }, { a: 1 }],
    ['of few names', { type: 'object', propertyNames: { enum: ['a'] }, maxProperties: 1 }, { a: 1 }],
    ['that is a reference', { $ref: '#/$defs/A', $defs: { A: CLOSED } }, { a: '1' }],
    ['that refers to an old definition', { $ref: '#/definitions/A', definitions: { A: CLOSED } }, { a: '1' }],
    ['that is a union', { type: 'object', anyOf: [CLOSED, { ...CLOSED, required: [] }] }, { a: '1' }],
    ['of referenced parts', { type: 'object', oneOf: [{ $ref: '#/$defs/A' }], $defs: { A: CLOSED } }, { a: '1' }],
    [
      'of parts that are evaluated',
      { type: 'object', allOf: [{ properties: { a: {} } }], unevaluatedProperties: false },
      { a: 1 },
    ],
    ['with a condition', { type: 'object', if: { required: ['b'] }, else: CLOSED }, { a: '1' }],
    ['with boolean schemas', { type: 'object', properties: { a: true, b: false }, allOf: [true] }, { a: '1' }],
    [
      'that contains itself',
      {
        $ref: '#/$defs/N',
        $defs: { N: { type: 'object', properties: { a: { $ref: '#/$defs/N' } }, additionalProperties: false } },
      },
      { a: { a: {} } },
    ],
    ['of zod', z.strictObject({ a: z.string() }), { a: '1' }],
    ['of a union of zod', z.union([z.strictObject({ a: z.string() }), z.strictObject({ b: z.string() })]), { a: '1' }],
    ['of a class', Page, { ids: [1] }],
  ])('%s admits a ticket, and is the same for the tool', async (_what, input, args) => {
    const { tool, call } = await published({ input } as ToolOptions);
    expect(tool.inputSchema).toMatchObject({ type: 'object', properties: { ticket: { type: 'string' } } });
    expect(accepts(tool.inputSchema, args)).toBe(true);
    expect(accepts(tool.inputSchema, { ...args, ticket: 'abc' })).toBe(true);
    expect(accepts(tool.inputSchema, { ...args, ticket: 7 })).toBe(false);
    const shown = await call(args);
    expect(JSON.parse(allText({ ...shown, content: shown.content.slice(0, 1) }))).toEqual({ input: args });
    expect(allText(await call({ ...args, ticket: ticketOf(shown) }))).toBe('done');
  });

  it('may be empty', async () => {
    const made = await published({});
    expect(accepts(made.tool.inputSchema, { ticket: 'abc' })).toBe(true);
    expect(accepts(made.tool.inputSchema, { other: 1 })).toBe(false);
    expect(allText(await made.call({ ticket: ticketOf(await made.call({})) }))).toBe('done');
  });
});

describe('the output of a tool with a preview', () => {
  const NODE = { type: 'object', properties: { id: { type: 'integer' }, in: { $ref: '#' } }, required: ['id'] };
  const LIST = { type: 'array', items: { $ref: '#/$defs/Id' }, $defs: { Id: { type: 'integer' } } };

  describe.each(revisions.slice(2))('in %s', (revision) => {
    it.each<[string, ToolOptions['output'], unknown]>([
      ['a class', Pruned, { count: 1 }],
      ['zod', z.object({ count: z.number() }), { count: 1 }],
      ['a schema that refers to itself', NODE, { id: 1, in: { id: 2 } }],
      ['a list, with definitions', LIST, [1, 2]],
      ['text', { type: 'string' }, 'done'],
    ])('that is %s admits a plan and a result', async (_what, output, value) => {
      const { tool, call } = await published({ output } as ToolOptions, { revision, run: () => value });
      const shown = await call({});
      const ticket = ticketOf(shown);
      const sent = shown.structuredContent as { result?: object };
      expect(sent.result ?? sent).toEqual({ plan: { input: {} }, ticket });
      expect(accepts(tool.outputSchema as object, sent)).toBe(true);
      const result = await call({ ticket });
      expect(accepts(tool.outputSchema as object, result.structuredContent)).toBe(true);
      expect(accepts(tool.outputSchema as object, { other: {} })).toBe(false);
    });

    it('is an object where the output is one', async () => {
      const { tool } = await published({ output: Pruned } as ToolOptions, { revision });
      expect(tool.outputSchema).toMatchObject({ type: 'object', anyOf: [{ type: 'object' }, { type: 'object' }] });
    });

    it('is left with the ticket if the plan is too long', async () => {
      const { tool, call } = await published({ output: Pruned, input: { type: 'object' } } as ToolOptions, {
        revision,
        max: 500,
        run: () => ({ count: 1 }),
      });
      const args = { text: 'x'.repeat(1000) };
      const shown = await call(args);
      expect(shown.structuredContent).toEqual({ ticket: ticketOf(shown) });
      expect(accepts(tool.outputSchema as object, shown.structuredContent)).toBe(true);
      expect((await call({ ...args, ticket: ticketOf(shown) })).structuredContent).toEqual({ count: 1 });
    });
  });

  it.each(revisions.slice(0, 2))('is text in %s, which ends with the ticket', async (revision) => {
    const { call } = await published({ output: Pruned } as ToolOptions, { revision, run: () => ({ count: 1 }) });
    const shown = await call({});
    const ticket = ticketOf(shown);
    expect(JSON.parse((shown.content[0] as { text: string }).text)).toEqual({ plan: { input: {} }, ticket });
    expect(shown.content).toHaveLength(2);
    expect(allText(shown).endsWith(`\nticket: ${ticket}`)).toBe(true);
  });

  it('of a transform admits a plan, too', async () => {
    class Files {
      @Tool({ output: Pruned, preview: 'plan' }) prune() {
        return { count: 1 };
      }
      plan() {
        return 'all';
      }
    }
    const outputSchema = { type: 'object', properties: { count: {} }, required: ['count'] };
    const providers = [{ provider: Files, transform: { prune: { outputSchema } } }];
    const client = await connect(new McpServer({ name: 'x', version: '1', providers }), { revision: '2025-11-25' });
    const { tools } = (await client.request('tools/list')) as { tools: { outputSchema: object }[] };
    const { structuredContent } = await client.callTool('prune');
    expect(structuredContent).toMatchObject({ plan: 'all' });
    expect(accepts(tools[0]?.outputSchema as object, structuredContent)).toBe(true);
  });
});

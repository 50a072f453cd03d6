import { type McpError, McpServer, Nullable, Prompt, Resource, Tool, ToolError } from '@decorum/core';
import { connect } from '@decorum/testing';
import { describe, expect, it } from '@jest/globals';
import { Type } from 'class-transformer';
import { IsInt, IsOptional, IsString, Max, MaxLength, Min, ValidateNested } from 'class-validator';
import { z } from 'zod';

import { ERAS, reporting, said, serveTool, textOf } from './serving.js';

class Line {
  @IsString() @MaxLength(5) sku!: string;

  @IsInt() @Min(1) @Max(9) qty: number = 1;
}

class Order {
  @IsString() id!: string;

  @ValidateNested({ each: true }) @Type(() => Line) lines!: Line[];
}

it('arguments reach the handler as instances of the DTOs, with defaults', async () => {
  const { server } = reporting();
  const received: Order[] = [];
  server.addTool({ name: 'order', input: Order }, (order: Order) => void received.push(order));
  await (await connect(server)).callTool('order', { id: '1', lines: [{ sku: 'a' }] });
  const [order] = received;
  expect([order, order?.lines[0]]).toEqual([expect.any(Order), expect.any(Line)]);
  expect(order).toEqual({ id: '1', lines: [{ sku: 'a', qty: 1 }] });
});

it('an unknown tool is a protocol error, with at most 200 characters of its name', async () => {
  const { client } = await serveTool(() => '');
  const error = (await client.callTool('x'.repeat(90_000)).catch((e: unknown) => e)) as McpError;
  expect(error).toMatchObject({ code: -32602 });
  expect(error.message.length).toBeLessThan(300);
});

describe('tools that are functions', () => {
  it('are added and removed at run time', async () => {
    const { server, client } = await serveTool(() => '');
    const registration = server.addTool({ name: 'double', input: Line }, ({ qty }: Line) => qty * 2);
    expect((await client.callTool('double', { sku: 'a', qty: 4 })).content).toEqual(said('8'));
    registration.remove();
    await expect(client.callTool('double', { sku: 'a' })).rejects.toMatchObject({ code: -32602 });
  });

  it('get the context, and no arguments if they have no input', async () => {
    const { server } = reporting();
    server.addTool({ name: 'who' }, (_input, ctx) => ctx.principal?.subject ?? 'nobody');
    server.addTool({ name: 'typed', output: Line }, (_input, ctx) => ({ sku: ctx.principal?.subject ?? '', qty: 1 }));
    const client = await connect(server, { principal: { subject: 'ada' } });
    const inputSchema = { type: 'object', properties: {}, additionalProperties: false };
    expect(await client.listTools()).toMatchObject([{ inputSchema }, { inputSchema }]);
    expect(await client.request('tools/call', { name: 'who' })).toEqual({ content: said('ada') });
    expect((await client.callTool('typed')).structuredContent).toEqual({ sku: 'ada', qty: 1 });
    expect((await client.callTool('who', { a: 1 })).isError).toBe(true);
  });
});

it('a handler may log and report values without a JSON form', async () => {
  const { client } = await serveTool((ctx) => {
    ctx.progress(Number.POSITIVE_INFINITY);
    ctx.progress(1, Number.NaN);
    const circular: { self?: unknown } = {};
    circular.self = circular;
    for (const data of [undefined, 10n, circular, new ToolError('trouble')]) ctx.log.error(data);
  });
  await client.callTool('tool', {}, { onProgress: () => {} });
  const [progress, ...messages] = client.notifications.map(({ params }) => params);
  expect(progress).toEqual({ progressToken: expect.anything(), progress: 1 });
  const data = ['undefined', '10n', expect.stringContaining('Circular'), 'ToolError: trouble'];
  expect(messages).toMatchObject(data.map((each) => ({ data: each })));
});

describe('hooks', () => {
  const hooked = (name: string, events: string[], fails = false) => {
    class Hooked {
      onStart(server: McpServer) {
        events.push(`start ${name} of ${server.info.name}`);
      }

      onClose() {
        events.push(`close ${name}`);
        if (fails) throw new Error(`${name} does not close`);
      }

      @Tool({ name }) tool() {
        return name;
      }
    }
    return new Hooked();
  };

  it('of an added provider run at once, and those of a removed one on removal', async () => {
    const events: string[] = [];
    const server = new McpServer({ name: 'test', version: '1' });
    await connect(server);
    const registration = server.addProvider(hooked('late', events));
    expect(events).toEqual(['start late of test']);
    registration.remove();
    registration.remove();
    expect(events).toEqual(['start late of test', 'close late']);
    await server.close();
    expect(events).toHaveLength(2);
  });

  it('run once in order, and close in reverse order, even if one of them fails', async () => {
    const events: string[] = [];
    const providers = [hooked('a', events), hooked('b', events, true), hooked('c', events)];
    const server = new McpServer({ name: 'test', version: '1', providers });
    await connect(server);
    await connect(server);
    expect(events).toEqual(['start a of test', 'start b of test', 'start c of test']);
    await expect(server.close()).rejects.toThrow('b does not close');
    expect(events.slice(3)).toEqual(['close c', 'close b', 'close a']);
  });
});

const SLOW = z.object({ a: z.string().regex(/\s+$/) });
const LONG = `${' '.repeat(100_000)}x`;
const TOO_LONG = expect.stringContaining('must have at most 1000 characters') as unknown;

class Desk {
  @Prompt({ input: SLOW }) say({ a }: z.infer<typeof SLOW>) {
    return a;
  }

  @Resource('texts://{a}', { input: SLOW }) text({ a }: z.infer<typeof SLOW>) {
    return a;
  }
}

// arguments of tools and prompts, variables, results and answers
it('a text too long for a pattern of a Standard Schema never reaches the library (#22)', async () => {
  const onElicit = () => ({ action: 'accept', content: { a: LONG } }) as const;
  const { server } = reporting({ providers: [Desk] });
  server.addTool({ name: 'take', input: SLOW }, ({ a }) => a);
  server.addTool({ name: 'give', output: SLOW }, () => ({ a: LONG }));
  server.addTool({ name: 'ask' }, async (_input, ctx) => (await ctx.elicit(SLOW, { message: 'Who?' })).action);
  const client = await connect(server, { onElicit });
  expect(await client.callTool('take', { a: LONG })).toMatchObject({ isError: true, content: [{ text: TOO_LONG }] });
  await expect(client.getPrompt('say', { a: LONG })).rejects.toThrow(/at most 1000 characters/);
  await expect(client.readResource(`texts://${'%20'.repeat(2000)}x`)).rejects.toThrow(/at most 1000 characters/);
  expect(await client.callTool('give')).toMatchObject({ isError: true });
  expect(await client.callTool('ask')).toMatchObject({ isError: true, content: [{ text: TOO_LONG }] });
});

class CityPatch {
  @IsOptional() @Nullable() @IsString() mayor?: string | null;
  @IsOptional() @IsString() name?: string;
  @IsOptional() @Nullable() @IsInt() rank?: number | null;
}

const Zod = z.object({ mayor: z.string().nullable().optional(), tags: z.array(z.string().nullable()).optional() });

class Answer {
  @Nullable() @IsString() nickname!: string | null;
  @IsOptional() @Nullable() @IsInt() age?: number | null;
  @IsString() name!: string;
}

class Report {
  @Nullable() @IsString() mayor!: string | null;
}

class Cities {
  @Prompt() ask({ rank, mayor }: CityPatch) {
    return `${typeof rank} ${String(mayor)}`;
  }
}

function cities() {
  const { server } = reporting({ providers: [Cities] });
  const city = { mayor: 'Ann', name: 'Oslo', rank: 1 };
  const change = (patch: CityPatch) => ({ ...city, ...JSON.parse(JSON.stringify(patch)) }) as object;
  server.addTool({ name: 'patch', input: CityPatch, coerce: true }, change);
  server.addTool({ name: 'zod', input: Zod, coerce: true }, (input) => input);
  server.addTool({ name: 'report', output: Report }, () => ({ mayor: null }));
  server.addTool({ name: 'form' }, (_input, ctx) => ctx.elicit(Answer, { message: 'Who?' }));
  const Nickname = z.object({ nickname: z.string().nullable() });
  server.addTool({ name: 'zodForm' }, (_input, ctx) => ctx.elicit(Nickname, { message: 'Who?' }));
  return server;
}

describe.each(ERAS)('null in a %s conversation', (era) => {
  const begin = async (answer: Record<string, unknown> = {}) => {
    const asked: unknown[] = [];
    const onElicit = ({ requestedSchema }: { readonly requestedSchema?: unknown }) => (
      asked.push(requestedSchema),
      { action: 'accept' as const, content: answer }
    );
    const client = await connect(cities(), { era, onElicit });
    const json = async (tool: string, args: object = {}) =>
      JSON.parse(textOf(await client.callTool(tool, { ...args })) ?? '') as unknown;
    return { client, json, asked };
  };

  it('clears a field of a patch, and is read from text where arguments are repaired (#22)', async () => {
    const { json } = await begin();
    expect(await json('patch', { mayor: null })).toEqual({ mayor: null, name: 'Oslo', rank: 1 });
    // not admitted by the published schema, so absent
    expect(await json('patch', { name: null })).toEqual({ mayor: 'Ann', name: 'Oslo', rank: 1 });
    // never from a string that fits
    expect(await json('patch', { rank: 'null', mayor: 'null' })).toEqual({ mayor: 'null', name: 'Oslo', rank: null });
  });

  it('reaches a handler with a Standard Schema, and is part of a structured result (#22)', async () => {
    const { client, json } = await begin();
    expect(await json('zod', { mayor: null, tags: [null] })).toEqual({ mayor: null, tags: [null] });
    expect(await client.callTool('report')).toMatchObject({ structuredContent: { mayor: null } });
  });

  it('leaves the arguments of prompts strings (#22)', async () => {
    const { messages } = await (await begin()).client.getPrompt('ask', { rank: '5', mayor: 'null' });
    expect(messages).toMatchObject([{ content: { text: 'number null' } }]);
  });

  it('is the answer to a question that the user leaves blank, because forms have no null (#22)', async () => {
    const { json, asked } = await begin({ name: 'Ann' });
    expect(await json('form')).toEqual({ action: 'accept', content: { nickname: null, name: 'Ann' } });
    const properties = { nickname: { type: 'string' }, age: { type: 'integer' }, name: { type: 'string' } };
    expect(asked).toContainEqual({ type: 'object', properties, required: ['name'] });
    expect(await json('zodForm')).toEqual({ action: 'accept', content: { nickname: null } });
    // and is kept in the answer of a client that sends it
    const content = { nickname: 'Annie', age: null, name: 'Ann' };
    expect(await (await begin(content)).json('form')).toEqual({ action: 'accept', content });
  });
});

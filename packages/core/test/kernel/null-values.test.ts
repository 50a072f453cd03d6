import { describe, expect, it } from '@jest/globals';
import { type Context, McpServer, NoInput, Nullable, Prompt, Tool } from '@decorum/core';
import { connect } from '@decorum/testing';
import * as cv from 'class-validator';
import { z } from 'zod';

class CityPatch {
  @cv.IsOptional() @Nullable() @cv.IsString() mayor?: string | null;
  @cv.IsOptional() @cv.IsString() name?: string;
  @cv.IsOptional() @Nullable() @cv.IsInt() rank?: number | null;
}

const Zod = z.object({ mayor: z.string().nullable().optional(), tags: z.array(z.string().nullable()).optional() });

class Answer {
  @Nullable() @cv.IsString() nickname!: string | null;
  @cv.IsOptional() @Nullable() @cv.IsInt() age?: number | null;
  @cv.IsString() name!: string;
}

class Report {
  @Nullable() @cv.IsString() mayor!: string | null;
}

class Cities {
  #city: Record<string, unknown> = { mayor: 'Ann', name: 'Oslo', rank: 1 };

  @Tool({ coerce: true }) patch(patch: CityPatch) {
    this.#city = { ...this.#city, ...JSON.parse(JSON.stringify(patch)) };
    return this.#city;
  }

  @Tool({ input: Zod, coerce: true }) zod(input: object) {
    return input;
  }

  @Tool({ output: Report }) report() {
    return { mayor: null };
  }

  @Prompt() ask({ rank, mayor }: CityPatch) {
    return `${typeof rank} ${String(mayor)}`;
  }

  @Tool() async form(_: Report, ctx: Context) {
    return await ctx.elicit(Answer, { message: 'Who?' });
  }

  @Tool() async zodForm(_: NoInput, ctx: Context) {
    return await ctx.elicit(z.object({ nickname: z.string().nullable() }), { message: 'Who?' });
  }
}

describe.each(['stateful', 'stateless'] as const)('null in a %s conversation', (era) => {
  const begin = async (answer: Record<string, unknown> = {}) => {
    const asked: unknown[] = [];
    const server = new McpServer({ name: 'cities', version: '1', providers: [Cities] });
    const client = await connect(server, {
      era,
      onElicit: ({ requestedSchema }: { readonly requestedSchema?: unknown }) => {
        asked.push(requestedSchema);
        return { action: 'accept', content: answer };
      },
    });
    const json = async (tool: string, args: object) => {
      const { content } = await client.callTool(tool, args as Record<string, unknown>);
      return JSON.parse((content[0] as { text: string }).text) as unknown;
    };
    return { client, json, asked };
  };

  it('clears a field of a patch, and leaves the fields that are absent (#22)', async () => {
    const { json } = await begin();
    expect(await json('patch', { mayor: null })).toEqual({ mayor: null, name: 'Oslo', rank: 1 });
    // not admitted by the published schema, so absent
    expect(await json('patch', { name: null })).toEqual({ mayor: null, name: 'Oslo', rank: 1 });
  });

  it('is read from text where arguments are repaired, and never from a string that fits (#22)', async () => {
    const { json } = await begin();
    expect(await json('patch', { rank: 'null', mayor: 'null' })).toEqual({ mayor: 'null', name: 'Oslo', rank: null });
  });

  it('reaches a handler with a Standard Schema (#22)', async () => {
    const { json } = await begin();
    expect(await json('zod', { mayor: null, tags: [null] })).toEqual({ mayor: null, tags: [null] });
  });

  it('is part of a structured result (#22)', async () => {
    const { client } = await begin();
    expect(await client.callTool('report')).toMatchObject({ structuredContent: { mayor: null } });
  });

  it('leaves the arguments of prompts strings (#22)', async () => {
    const { client } = await begin();
    const { messages } = await client.getPrompt('ask', { rank: '5', mayor: 'null' });
    expect(messages).toEqual([{ role: 'user', content: { type: 'text', text: 'number null' } }]);
  });

  it('is the answer to a question that the user leaves blank, because forms have no null (#22)', async () => {
    const { json, asked } = await begin({ name: 'Ann' });
    expect(await json('form', { mayor: null })).toEqual({ action: 'accept', content: { nickname: null, name: 'Ann' } });
    expect(asked).toContainEqual({
      type: 'object',
      properties: { nickname: { type: 'string' }, age: { type: 'integer' }, name: { type: 'string' } },
      required: ['name'],
    });
    expect(await json('zodForm', {})).toEqual({ action: 'accept', content: { nickname: null } });
  });

  it('is kept in the answer of a client that sends it (#22)', async () => {
    const { json } = await begin({ name: 'Ann', nickname: 'Annie', age: null });
    const content = { nickname: 'Annie', age: null, name: 'Ann' };
    expect(await json('form', { mayor: null })).toEqual({ action: 'accept', content });
  });
});

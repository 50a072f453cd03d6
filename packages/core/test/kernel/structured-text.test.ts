import { describe, expect, it } from '@jest/globals';
import { McpServer, type McpServerOptions, Tool, toolResult } from '@decorum/core';
import { connect } from '@decorum/testing';
import { IsNumber } from 'class-validator';

class Sum {
  @IsNumber() sum!: number;
}

const good = () => ({ sum: 3 });
const JSON_TEXT = '{"sum":3}';

class Adder {
  @Tool({ output: Sum }) byDefault() {
    return good();
  }
  @Tool({ output: Sum, text: false }) silent() {
    return good();
  }
  @Tool({ output: Sum, text: true }) json() {
    return good();
  }
  @Tool({ output: Sum, text: 'Added.' }) fixed() {
    return good();
  }
  @Tool({ output: Sum, text: ({ sum }) => `The sum is ${sum}.` }) said() {
    return good();
  }
  @Tool({ output: Sum, text: false }) explicit() {
    return toolResult({ structuredContent: good(), content: 'mine' });
  }
  @Tool({ output: Sum, text: 'Added.' }) structured() {
    return toolResult({ structuredContent: good() });
  }
  @Tool({ output: Sum, text: ({ sum }) => sum.toFixed() }) failed() {
    return toolResult({ structuredContent: { why: 'overflow' } as never, isError: true });
  }
  @Tool({ output: Sum, text: (() => Promise.resolve('later')) as unknown as () => string }) wrong() {
    return good();
  }
  @Tool() plain() {
    return 'text';
  }
}

const serve = async (options: Partial<McpServerOptions> = {}, version?: string) => {
  const server = new McpServer({ name: 'test', version: '1', providers: [Adder], ...options });
  return await connect(server, version === undefined ? {} : { revision: version });
};
const texts = (...words: string[]) => words.map((text) => ({ type: 'text', text }));

describe('the text beside structured content', () => {
  it.each([
    ['byDefault', [JSON_TEXT]],
    ['json', [JSON_TEXT]],
    ['silent', []],
    ['fixed', ['Added.']],
    ['said', ['The sum is 3.']],
    ['explicit', ['mine']],
    ['structured', ['Added.']],
  ])('comes from the tool: %s', async (name, words) => {
    expect(await (await serve()).callTool(name)).toEqual({ content: texts(...words), structuredContent: good() });
  });

  it.each<[NonNullable<McpServerOptions['text']>, string[]]>([
    [false, []],
    ['See the data.', ['See the data.']],
    [(value) => `${Object.keys(value as object).join()}!`, ['sum!']],
  ])('comes from the server if the tool sets none: %s', async (text, words) => {
    const client = await serve({ text });
    expect((await client.callTool('byDefault')).content).toEqual(texts(...words));
    expect((await client.callTool('json')).content).toEqual(texts(JSON_TEXT));
    expect((await client.callTool('fixed')).content).toEqual(texts('Added.'));
    expect((await client.callTool('plain')).content).toEqual(texts('text'));
  });

  it.each(['2024-11-05', '2025-03-26'])(
    'is always the JSON for clients without structured content: %s',
    async (version) => {
      const client = await serve({ text: false }, version);
      expect(await client.callTool('byDefault')).toEqual({ content: texts(JSON_TEXT) });
      expect(await client.callTool('silent')).toEqual({ content: texts(JSON_TEXT) });
      expect(await client.callTool('fixed')).toEqual({ content: texts('Added.', JSON_TEXT) });
    },
  );

  it('is omitted for stateless clients too', async () => {
    const server = new McpServer({ name: 'test', version: '1', providers: [Adder] });
    const client = await connect(server, { era: 'stateless' });
    expect(await client.callTool('silent')).toMatchObject({ content: [], structuredContent: good() });
  });

  it('is the JSON of the structured content of an error, which has no schema', async () => {
    for (const client of [await serve(), await serve({ text: false })]) {
      expect(await client.callTool('failed')).toMatchObject({ isError: true, content: texts('{"why":"overflow"}') });
    }
  });

  it('must be text: anything else is an error of the author', async () => {
    const reported: Error[] = [];
    const logger = { warn: () => {}, error: () => {} };
    const client = await serve({ logger, onError: (error) => reported.push(error as Error) });
    expect(await client.callTool('wrong')).toMatchObject({ isError: true });
    expect(reported[0]?.message).toBe('Adder.wrong: its `text` function returned a promise. Return a string.');
  });
});

// `maxResultChars`: what is left of results that are too long, and what is said of the rest.
import {
  audio,
  type CallToolResult,
  Completion,
  type ContentBlock,
  type Context,
  Defaults,
  embedded,
  image,
  link,
  McpServer,
  type McpServerOptions,
  mount,
  needInput,
  NoInput,
  Prompt,
  Resource,
  sanitize,
  text,
  Tool,
  ToolError,
  toolResult,
  user,
} from '@decorum/core';
import { definePlugin, type RequestOutcome } from '@decorum/core/plugin';
import { connect, revisions } from '@decorum/testing';
import { describe, expect, it } from '@jest/globals';
import { IsInt, IsOptional, IsString } from 'class-validator';
import fc from 'fast-check';

import { reporting, serveTool } from './serving.js';

const LINES = 'A line of text\n'.repeat(100);
/** What is left of it with 100 characters. */
const CUT = 'A line of text\n'.repeat(6).trimEnd();
const MISSING = '… 1,411 of 1,500 characters are missing. Ask for less, or for a part of it.';
const OFFERED = 'Ask for a part of it, if the server offers one.';
const BYTES = new Uint8Array(1000);

/** Calls a tool without input that returns this, and may return 100 characters. */
async function limited(returned: unknown, options: Partial<McpServerOptions> = {}): Promise<CallToolResult> {
  const { call } = await serveTool(() => returned, {}, { maxResultChars: 100, ...options });
  return (await call()) as unknown as CallToolResult;
}

const textsOf = ({ content }: CallToolResult) => content.map((block) => ('text' in block ? block.text : block.type));

class Query {
  @IsString() @IsOptional() cursor?: string;
  @IsString() @IsOptional() page_size?: string;
  @IsInt() @IsOptional() id?: number;
}

class Part {
  @IsString() page!: string;
}

class Reports {
  @Tool({ description: 'Reads', maxResultChars: 100 }) read(_query: Query) {
    return LINES;
  }
  @Tool({ output: { type: 'object' }, maxResultChars: 100, annotations: { readOnlyHint: true } }) list(_query: Query) {
    return { lines: LINES };
  }
  @Resource('reports://all', { maxResultChars: 100 }) all() {
    return LINES;
  }
  @Resource('reports://all.json', { maxResultChars: 100 }) data() {
    return { lines: LINES };
  }
  @Resource('reports://picture', { maxResultChars: 100 }) picture() {
    return BYTES;
  }
  @Resource('reports://pages/{page}', { maxResultChars: 100, mimeType: 'text/markdown' }) page(_part: Part) {
    return LINES;
  }
  @Prompt({ maxResultChars: 100 }) summarize() {
    return [user('Summarize this:'), user(LINES), user('In one sentence.')];
  }
}

const reports = async (options: Partial<McpServerOptions> = {}) =>
  await connect(reporting({ providers: [Reports], ...options }).server);

describe('the text of a tool', () => {
  it('is cut at the end of a line, and a sentence says what is missing', async () => {
    expect(await limited(LINES)).toEqual({ content: [text(CUT), text(MISSING)] });
  });

  it('stays as it is if it has exactly the characters that it may have', async () => {
    expect(await limited('x'.repeat(100))).toEqual({ content: [text('x'.repeat(100))] });
  });

  it('comes with the names of the arguments that choose a part of it', async () => {
    const { content } = (await (await reports()).callTool('read')) as CallToolResult;
    expect(content[1]).toEqual(
      text('… 1,411 of 1,500 characters are missing. Ask for less, or for another part: use "cursor", "page_size".'),
    );
  });

  it('is the sum of all its blocks, of which those after the cut are left out', async () => {
    const result = await limited([text('x'.repeat(60)), text(LINES), text('after')]);
    expect(textsOf(result)).toEqual([
      'x'.repeat(60),
      'A line of text\nA line of text',
      '… 1,476 of 1,565 characters are missing. Ask for less, or for a part of it.',
    ]);
  });

  it('includes embedded text, whose other fields stay', async () => {
    const part = embedded({ uri: 'reports://1', data: LINES, annotations: { priority: 1 } });
    const { content } = await limited([part, link('reports://2')]);
    expect(content[0]).toEqual({ ...part, resource: { ...part.resource, text: CUT } });
    expect(content[1]).toEqual(
      text(`… 1,411 of 1,500 characters are missing, and a link is left out. Ask for less, or for a part of it.`),
    );
  });

  it('is cut if it is an error, too', async () => {
    const { call } = await serveTool(
      () => {
        throw new ToolError(LINES);
      },
      {},
      { maxResultChars: 100 },
    );
    const expected = { content: [text(CUT), text('… 1,411 of 1,500 characters are missing.')], isError: true };
    expect(await call()).toEqual(expected);
    expect(await limited(toolResult({ content: LINES, isError: true }))).toEqual(expected);
  });

  it('is searched for secrets before it is cut, and what interceptors add counts', async () => {
    const secret = `${'word '.repeat(18)}sk-${'a'.repeat(40)}`;
    const [cut] = textsOf(await limited(secret, { interceptors: [sanitize()] }));
    expect(cut).not.toContain('sk-');
    const adding = await limited('short', { interceptors: [async () => ({ content: [text(LINES)] })] });
    expect(adding.content[0]).toEqual(text(CUT));
  });
});

describe('what is no text', () => {
  it('counts by bytes, and is left out whole if it is too large', async () => {
    const result = await limited([
      image(BYTES, 'image/png'),
      text('beside it'),
      audio(BYTES.slice(0, 90), 'audio/wav'),
    ]);
    expect(result.content).toEqual([
      text('beside it'),
      audio(BYTES.slice(0, 90), 'audio/wav'),
      text('… image/png of 1,000 bytes is left out. Ask for less, or for a part of it.'),
    ]);
  });

  it('is counted if several are left out', async () => {
    const data = embedded({ uri: 'reports://1.json', mimeType: 'application/json', data: JSON.stringify(LINES) });
    expect(textsOf(await limited([data, image(BYTES, 'image/png'), link('x'.repeat(100))]))).toEqual([
      '… a resource (application/json, 1,602 characters) and 2 more blocks are left out. Ask for less, or for a part of it.',
    ]);
  });
});

describe('structured content', () => {
  const refused =
    'The call succeeded, but its result has 1,612 characters, and 100 are allowed. Ask for less, or for another part: use "cursor", "page_size".';

  it.each(revisions)('is refused if it is too long, in %s', async (revision) => {
    const client = await connect(reporting({ providers: [Reports] }).server, { revision });
    expect(await client.callTool('list')).toMatchObject({ content: [text(refused)], isError: true });
    expect(await client.callTool('list')).not.toHaveProperty('structuredContent');
  });

  it('may come from a call that must not be repeated, which the refusal says unless the tool only reads', async () => {
    const [refusal] = textsOf(await limited(toolResult({ structuredContent: { LINES } })));
    expect(refusal).toBe(
      "The call succeeded, but its result has 1,612 characters, and 100 are allowed. Don't repeat it if it changes something. Ask for less, or for a part of it.",
    );
  });

  it('stays with the text of the same JSON, which does not count twice', async () => {
    const value = { a: 'x'.repeat(80) };
    expect(await limited(toolResult({ structuredContent: value }))).toEqual({
      content: [text(JSON.stringify(value))],
      structuredContent: value,
    });
  });

  it('keeps the text of an error whose data are too long', async () => {
    const given = { content: 'No such line.', structuredContent: { LINES }, isError: true, _meta: { a: 1 } };
    expect(await limited(toolResult(given))).toEqual({
      content: [text('No such line.')],
      isError: true,
      _meta: { a: 1 },
    });
  });

  it('is reported to plugins as it was sent', async () => {
    const outcomes: RequestOutcome[] = [];
    const plugin = definePlugin(() => ({
      name: 'watching',
      observe: async (_request, run) => void outcomes.push(await run()),
    }));
    const client = await reports({ plugins: [plugin()] });
    await client.callTool('list');
    await client.callTool('read');
    await client.readResource('reports://all.json').catch(() => {});
    const seen = outcomes
      .filter(({ status, cause }) => status !== 'ok' || cause)
      .map(({ status, cause }) => [status, cause]);
    expect(seen).toEqual([
      ['tool-error', 'limit'],
      ['error', 'limit'],
    ]);
    expect(JSON.stringify(outcomes.map(({ result }) => result))).not.toContain(
      LINES.slice(0, 200).replaceAll('\n', String.raw`\n`),
    );
  });
});

describe('a resource', () => {
  it('is cut if it is text', async () => {
    const { contents } = await (await reports()).readResource('reports://all');
    expect(contents).toEqual([
      {
        uri: 'reports://all',
        mimeType: 'text/plain',
        text: `${CUT}\n\n… 1,411 of 1,500 characters are missing. ${OFFERED}`,
      },
    ]);
  });

  it('names the variables of its template that choose a part', async () => {
    const { contents } = await (await reports()).readResource('reports://pages/1');
    expect(contents[0]?.text).toContain('use "page".');
  });

  it.each([
    ['reports://all.json', 'a resource (application/json, 1,612 characters)'],
    ['reports://picture', 'a resource (application/octet-stream, 1,000 bytes)'],
  ])('is refused if a part of it is of no use: %s', async (uri, what) => {
    const problem = `Too long to send, and not safe to cut: ${what}. Up to 100 are allowed. ${OFFERED}`;
    await expect((await reports()).readResource(uri)).rejects.toMatchObject({ code: -32603, message: problem });
  });

  it('keeps its first texts, and leaves out those after the cut', async () => {
    class Several {
      @Resource('several://all', { maxResultChars: 20 }) all() {
        return ['first', 'second and third', 'last'].map((each) => ({ uri: `several://${each.length}`, text: each }));
      }
    }
    const client = await connect(reporting({ providers: [Several] }).server);
    const { contents } = await client.readResource('several://all');
    expect(contents.map((each) => each.text)).toEqual([
      'first',
      `second and\n\n… 10 of 25 characters are missing. ${OFFERED}`,
    ]);
  });
});

describe('a prompt', () => {
  it('is cut from its end, and a message says what is missing', async () => {
    const { messages } = await (await reports()).getPrompt('summarize');
    expect(messages).toEqual([
      user('Summarize this:'),
      user('A line of text\n'.repeat(5).trimEnd()),
      user('… 1,442 of 1,531 characters are missing. Ask for less, or for a part of it.'),
    ]);
  });
});

describe('the maximum of a server', () => {
  @Defaults({ maxResultChars: 50 })
  class Mixed {
    @Tool() own() {
      return LINES;
    }
    @Tool({ maxResultChars: false }) off() {
      return LINES;
    }
    @Tool({ maxResultChars: 1000 }) more() {
      return LINES;
    }
    @Completion({ for: 'ask', argument: 'page' }) pages() {
      return ['1'];
    }
    @Prompt() ask({ page }: Part) {
      return page.repeat(100);
    }
  }

  class Plain {
    @Tool() plain() {
      return LINES;
    }
  }

  const lengths = async (server: McpServer, names: readonly string[]) => {
    const client = await connect(server);
    const called = names.map(async (name) => textsOf((await client.callTool(name)) as CallToolResult)[0]?.length);
    return await Promise.all(called);
  };

  it('holds unless a class or member has its own, or switches it off', async () => {
    const { server } = reporting({ providers: [Mixed, Plain], maxResultChars: 200 });
    expect(await lengths(server, ['own', 'off', 'more', 'plain'])).toEqual([44, 1500, 989, 194]);
    const client = await connect(server);
    expect((await client.getPrompt('ask', { page: '1' })).messages[1]).toEqual(
      user('… 50 of 100 characters are missing. Ask for less, or for another part: use "page".'),
    );
  });

  it('holds for the members of a mounted server, unless theirs is smaller', async () => {
    const inner = reporting({ providers: [Mixed, Plain], maxResultChars: 300 }).server;
    const outer = reporting({ providers: [mount(inner)], maxResultChars: 200 }).server;
    expect(await lengths(outer, ['own', 'off', 'more', 'plain'])).toEqual([44, 194, 194, 194]);
    const open = reporting({
      providers: [mount(reporting({ providers: [Plain], maxResultChars: 300 }).server)],
    }).server;
    expect(await lengths(open, ['plain'])).toEqual([299]);
  });

  it('holds for members of other servers, and of sources that depend on the caller', async () => {
    const entry = { name: 'live', inputSchema: { type: 'object' } };
    const { server } = reporting({ maxResultChars: 100 });
    const plan = { entry, run: () => ({ content: [text(LINES)] }) };
    server.addLive({ kinds: ['tool'], list: () => [plan], find: (_kind, key) => (key === 'live' ? plan : undefined) });
    expect(await lengths(server, ['live'])).toEqual([89]);
  });
});

describe('ctx.budget', () => {
  it('tells a handler what is left, and what fits', async () => {
    const seen: unknown[] = [];
    const handler = (ctx: Context) => {
      seen.push(ctx.budget.maxChars, ctx.budget.take('x'.repeat(40)), ctx.budget.left);
      seen.push(ctx.budget.take({ a: 'x'.repeat(60) }), ctx.budget.take({ a: 'x'.repeat(50) }), ctx.budget.left);
      return 'done';
    };
    await (await serveTool(handler, {}, { maxResultChars: 100 })).call();
    expect(seen).toEqual([100, true, 60, false, true, 1]);
    seen.length = 0;
    await (await serveTool(handler)).call();
    expect(seen).toEqual([Infinity, true, Infinity, true, true, Infinity]);
  });
});

describe('ctx.budget of a handler that runs again', () => {
  it('is whole in each run, and is that of the server that mounts it', async () => {
    const seen: unknown[] = [];
    class Asking {
      @Tool() async ask(_input: NoInput, ctx: Context) {
        seen.push(ctx.budget.take('x'.repeat(60)), ctx.budget.maxChars);
        return ctx.answers === undefined ? needInput({ roots: { method: 'roots/list' } }) : 'done';
      }
    }
    const interceptors: McpServerOptions['interceptors'] = [async (_call, next) => await next()];
    const inner = reporting({ providers: [Asking], interceptors, maxResultChars: 300 }).server;
    const client = await connect(reporting({ providers: [mount(inner)], maxResultChars: 100 }).server, {
      onRoots: () => [],
    });
    expect(await client.callTool('ask')).toMatchObject({ content: [text('done')] });
    expect(seen).toEqual([true, 100, true, 100]);
  });
});

describe('any result', () => {
  const unit = fc.string({ unit: 'grapheme', maxLength: 200 });
  const block = fc.oneof(
    unit.map((each) => text(each)),
    unit.map((each) => embedded({ uri: 'a://b', data: each })),
    unit.map((each) => embedded({ uri: 'a://b', data: each, mimeType: 'application/json' })),
    fc.uint8Array({ maxLength: 200 }).map((bytes) => image(bytes, 'image/png')),
    unit.map((each) => link('a://b', { title: each })),
  );

  it('has at most the maximum and 300 characters, and is the same object if it is short', async () => {
    let returned: readonly ContentBlock[] = [];
    const calls = new Map(
      await Promise.all(
        [1, 50, 400].map(
          async (max) =>
            [
              max,
              (await serveTool(() => toolResult({ content: returned }), {}, { maxResultChars: max })).call,
            ] as const,
        ),
      ),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(block, { maxLength: 5 }), fc.constantFrom(1, 50, 400), async (blocks, max) => {
        returned = blocks;
        const call = calls.get(max) as NonNullable<ReturnType<(typeof calls)['get']>>;
        const { content } = (await call()) as unknown as CallToolResult;
        const length = content.reduce((sum, each) => sum + sizeOf(each), 0);
        expect(length).toBeLessThanOrEqual(max + 300);
        if (blocks.reduce((sum, each) => sum + sizeOf(each), 0) <= max) expect(content).toEqual(blocks);
        else expect(textsOf({ content }).at(-1)).toMatch(/^… .*\.$/);
        expect(JSON.stringify(content)).toBe(Buffer.from(JSON.stringify(content)).toString());
      }),
    );
  });
});

const sizeOf = (block: ContentBlock): number => {
  if (block.type === 'text') return block.text.length;
  if (block.type === 'image') return Buffer.from(block.data, 'base64').length;
  return block.type === 'resource' ? (block.resource.text ?? '').length : JSON.stringify(block).length;
};

// `maxResultChars` in all revisions and over all transports: every kind of handler, and every kind of result.
import { setTimeout as wait } from 'node:timers/promises';

import { App, apps } from '@decorum/apps';
import { proxy } from '@decorum/client';
import {
  type CallToolResult,
  type Context,
  image,
  McpServer,
  mount,
  NoInput,
  Prompt,
  Resource,
  text,
  Tool,
  toolResult,
} from '@decorum/core';
import { listen } from '@decorum/http';
import { search } from '@decorum/search';
import { memoryTasks, tasks } from '@decorum/tasks';
import { connect, revisions } from '@decorum/testing';
import { afterEach, describe, expect, it } from '@jest/globals';

const LINES = 'A line of text\n'.repeat(100);
const CUT = 'A line of text\n'.repeat(6).trimEnd();
const ADVICE = 'Ask for less, or for a part of it.';
const MISSING = `… 1,411 of 1,500 characters are missing. ${ADVICE}`;

class Reports {
  @Tool() sync() {
    return LINES;
  }
  @Tool() async later() {
    await wait(1);
    return LINES;
  }
  @Tool() async *parts() {
    yield LINES.slice(0, 750);
    await wait(1);
    yield LINES.slice(750);
  }
  @Tool() async asks(_input: NoInput, ctx: Context) {
    return (await ctx.confirm('All of it?')) ? LINES : 'nothing';
  }
  @Tool() picture() {
    return image(new Uint8Array(200), 'image/png');
  }
  @Tool() data() {
    return toolResult({ structuredContent: { LINES } });
  }
  @Resource('reports://all') all() {
    return LINES;
  }
  @Resource('reports://all.json') json() {
    return { LINES };
  }
  @Prompt() summarize() {
    return LINES;
  }
}

const PAIRS = revisions.flatMap((revision) => (['memory', 'stdio', 'http'] as const).map((via) => ({ revision, via })));

describe.each(PAIRS)('a maximum of 100 characters, in $revision over $via,', ({ revision, via }) => {
  const open = async () => {
    const server = new McpServer({
      name: 'reports',
      version: '1',
      providers: [Reports],
      maxResultChars: 100,
      secret: 's'.repeat(32),
    });
    const onElicit = () => ({ action: 'accept', content: { confirmed: true } }) as const;
    return await connect(server, { revision, via, onElicit });
  };

  const asks = revisions.indexOf(revision) >= revisions.indexOf('2025-06-18') ? ['asks'] : [];

  it.each(['sync', 'later', 'parts', ...asks])('cuts the text of a tool: %s', async (name) => {
    const { content, isError } = (await (await open()).callTool(name)) as CallToolResult;
    expect(isError).toBeUndefined();
    expect(content[0]).toEqual(text(CUT));
    expect(content.at(-1)).toEqual(text(MISSING));
  });

  it('leaves out an image', async () => {
    const { content } = (await (await open()).callTool('picture')) as CallToolResult;
    expect(content).toEqual([text(`… image/png of 200 bytes is left out. ${ADVICE}`)]);
  });

  it('refuses structured content', async () => {
    const result = (await (await open()).callTool('data')) as CallToolResult;
    const refusal = `The call succeeded, but its result has 1,612 characters, and 100 are allowed. Don't repeat it if it changes something. ${ADVICE}`;
    expect([result.isError, result.content]).toEqual([true, [text(refusal)]]);
    expect(result).not.toHaveProperty('structuredContent');
  });

  it('cuts a resource that is text, and refuses another', async () => {
    const client = await open();
    const { contents } = await client.readResource('reports://all');
    expect(contents[0]?.text).toMatch(`${CUT}\n\n… 1,411 of 1,500 characters are missing.`);
    await expect(client.readResource('reports://all.json')).rejects.toMatchObject({ code: -32603 });
  });

  it('cuts the messages of a prompt', async () => {
    const { messages } = await (await open()).getPrompt('summarize');
    expect(messages.map(({ content }) => content)).toEqual([text(CUT), text(MISSING)]);
  });
});

describe('a maximum of 100 characters', () => {
  const options = { version: '1', maxResultChars: 100, secret: 's'.repeat(32) };
  const opened: { close(): Promise<unknown> }[] = [];
  const keep = <T extends { close(): Promise<unknown> }>(one: T): T => {
    opened.push(one);
    return one;
  };

  afterEach(async () => {
    for (const one of opened.splice(0).reverse()) await one.close();
  });

  it.each(revisions)('holds for the members of a server behind a proxy, for clients of %s', async (revision) => {
    const { url } = await listen(keep(new McpServer({ name: 'behind', version: '1', providers: [Reports] })), {
      port: 0,
    });
    const front = keep(new McpServer({ name: 'front', ...options, providers: [proxy(url)] }));
    const client = keep(await connect(front, { revision }));
    expect(await client.callTool('later')).toMatchObject({ content: [text(CUT), text(MISSING)] });
    expect(await client.callTool('data')).toMatchObject({ isError: true });
    expect((await client.readResource('reports://all')).contents[0]?.text).toMatch(/are missing/);
    expect((await client.getPrompt('summarize')).messages).toHaveLength(2);
  });

  it.each(revisions.slice(-2))('holds for the result of a task, which is stored cut, in %s', async (revision) => {
    class Slow {
      @Tool({ task: 'required' }) later() {
        return LINES;
      }
    }
    const store = memoryTasks();
    const server = keep(new McpServer({ name: 'slow', ...options, providers: [Slow], plugins: [tasks({ store })] }));
    const client = keep(await connect(server, { revision }));
    expect(await client.callTool('later', {}, { task: true })).toMatchObject({ content: [text(CUT), text(MISSING)] });
  });

  it('does not hold for a page of a tool, which no model reads, unless the page says so', async () => {
    class Pages {
      @App('ui://reports/all') all() {
        return LINES;
      }
      @App('ui://reports/short', { maxResultChars: 100 }) short() {
        return LINES;
      }
    }
    const inner = new McpServer({ name: 'pages', ...options, providers: [Pages], plugins: [apps()] });
    const outer = new McpServer({ name: 'outer', ...options, providers: [mount(inner)], plugins: [apps()] });
    const client = keep(await connect(keep(outer)));
    expect((await client.readResource('ui://reports/all')).contents[0]?.text).toBe(LINES);
    await expect(client.readResource('ui://reports/short')).rejects.toThrow(/not safe to cut/);
  });

  it('holds for a tool that `call_tool` calls', async () => {
    const server = new McpServer({ name: 'many', ...options, providers: [Reports], plugins: [search({ above: 1 })] });
    const client = keep(await connect(keep(server)));
    const result = await client.callTool('call_tool', { name: 'later', arguments: {} });
    expect(result).toMatchObject({ content: [text(CUT), text(MISSING)] });
    expect(await client.callTool('search_tools', { query: 'later' })).not.toHaveProperty('isError');
  });
});

import { describe, expect, it } from '@jest/globals';
import {
  assistant,
  Completion,
  CompletionContext,
  embedded,
  McpServer,
  Prompt,
  Resource,
  type ResourceListing,
  Tool,
  user,
} from '@decorum/core';
import { connect } from '@decorum/testing';
import { IsInt, IsOptional, IsString } from 'class-validator';

class Page {
  @IsString()
  path!: string;
}

class Letter {
  @IsString()
  to!: string;

  @IsOptional()
  @IsInt()
  pages?: number;
}

class Library {
  pages = ['a.md', 'b/c.md'];

  @Resource('docs://index', { title: 'Index', size: 5, annotations: { priority: 1, audience: ['user'] } })
  index() {
    return 'index';
  }

  @Resource('docs://logo', { mimeType: 'image/png' })
  logo() {
    return Buffer.from('abc');
  }

  @Resource('docs://data')
  data() {
    return { a: 1 };
  }

  @Resource('docs://pages/{+path}', { mimeType: 'text/markdown', list: 'list' })
  page({ path }: Page) {
    return this.pages.includes(path) ? `# ${path}` : undefined;
  }

  list(): ResourceListing[] {
    return this.pages.map((path) => ({ variables: { path }, title: path.toUpperCase() }));
  }

  @Prompt({ description: 'A letter' })
  letter({ to, pages }: Letter) {
    return [
      user(`Write ${String(pages)} (${typeof pages}) pages to ${to}`),
      assistant('Gladly'),
      embedded({ uri: 'docs://index', data: 'index' }),
    ];
  }

  @Completion({ for: ['page'], argument: 'path' })
  paths(typed: string) {
    return this.pages.filter((path) => path.startsWith(typed));
  }

  @Completion({ for: 'letter', argument: 'to' })
  recipients(typed: string, ctx: CompletionContext) {
    const names = Array.from({ length: 150 }, (_, index) => `${typed}${index}`);
    return ctx.args['pages'] === '1' ? ['only one'] : names;
  }

  @Tool()
  tool() {}
}

const serverOf = (library = new Library()) => new McpServer({ name: 'test', version: '1', providers: [library] });

describe('resources', () => {
  it('are listed: the fixed ones, and those that a template enumerates', async () => {
    const client = await connect(serverOf());
    expect(await client.listResources()).toEqual([
      { uri: 'docs://index', name: 'index', title: 'Index', size: 5, annotations: { priority: 1, audience: ['user'] } },
      { uri: 'docs://logo', name: 'logo', mimeType: 'image/png' },
      { uri: 'docs://data', name: 'data' },
      { uri: 'docs://pages/a.md', name: 'docs://pages/a.md', mimeType: 'text/markdown', title: 'A.MD' },
      { uri: 'docs://pages/b/c.md', name: 'docs://pages/b/c.md', mimeType: 'text/markdown', title: 'B/C.MD' },
    ]);
    expect(await client.listResourceTemplates()).toEqual([
      { uriTemplate: 'docs://pages/{+path}', name: 'page', mimeType: 'text/markdown' },
    ]);
  });

  it.each([
    ['docs://index', { mimeType: 'text/plain', text: 'index' }],
    ['docs://logo', { mimeType: 'image/png', blob: 'YWJj' }],
    ['docs://data', { mimeType: 'application/json', text: '{"a":1}' }],
    ['docs://pages/b/c.md', { mimeType: 'text/markdown', text: '# b/c.md' }],
  ])('are read: %s [RES-05] [RES-27]', async (uri, contents) => {
    const client = await connect(serverOf());
    expect(await client.readResource(uri)).toEqual({ contents: [{ uri, ...contents }] });
  });

  it.each(['docs://nowhere', 'docs://pages/none.md', 'nonsense', '__proto__', 'docs://pages/../secret'])(
    'that do not exist are an error with their URI: %s [RES-07]',
    async (uri) => {
      const client = await connect(serverOf());
      await expect(client.readResource(uri)).rejects.toMatchObject({ code: -32002, data: { uri } });
    },
  );

  it('have the other code for stateless clients [RES-08]', async () => {
    const client = await connect(serverOf(), { era: 'stateless' });
    await expect(client.readResource('docs://nowhere')).rejects.toMatchObject({ code: -32602 });
  });

  it('notify subscribers when they change [RES-19] [RES-20]', async () => {
    const server = serverOf();
    const [client, other] = [await connect(server), await connect(server)];
    const updated = client.nextNotification('notifications/resources/updated');
    await client.subscribe('docs://index');
    server.notify.resourceUpdated('docs://logo');
    server.notify.resourceUpdated('docs://index');
    expect((await updated).params).toEqual({ uri: 'docs://index' });
    await client.unsubscribe('docs://index');
    server.notify.resourceUpdated('docs://index');
    expect(client.notifications).toHaveLength(1);
    expect(other.notifications).toHaveLength(0);
  });

  it('cannot be subscribed to if they do not exist', async () => {
    const client = await connect(serverOf());
    await expect(client.subscribe('docs://nowhere')).rejects.toMatchObject({ code: -32002 });
  });
});

describe('prompts', () => {
  it('are listed with the arguments of their DTO [PROMPT-02]', async () => {
    const client = await connect(serverOf());
    expect(await client.listPrompts()).toEqual([
      {
        name: 'letter',
        description: 'A letter',
        arguments: [
          { name: 'to', required: true },
          { name: 'pages', required: false },
        ],
      },
    ]);
  });

  it('parse numbers from text, and return messages [PROMPT-09] [PROMPT-15]', async () => {
    const client = await connect(serverOf());
    expect(await client.getPrompt('letter', { to: 'Ada', pages: '2' })).toEqual({
      description: 'A letter',
      messages: [
        { role: 'user', content: { type: 'text', text: 'Write 2 (number) pages to Ada' } },
        { role: 'assistant', content: { type: 'text', text: 'Gladly' } },
        {
          role: 'user',
          content: { type: 'resource', resource: { uri: 'docs://index', mimeType: 'text/plain', text: 'index' } },
        },
      ],
    });
  });

  it.each([
    ['letter', {}],
    ['letter', { to: 'Ada', pages: 'many' }],
    ['none', { to: 'Ada' }],
  ])(
    'with a wrong name or wrong arguments are an error: %s %j [PROMPT-04] [PROMPT-05] [PROMPT-07]',
    async (name, args) => {
      const client = await connect(serverOf());
      await expect(client.getPrompt(name, args as Record<string, string>)).rejects.toMatchObject({ code: -32602 });
    },
  );
});

describe('completion', () => {
  it('returns at most 100 values, and says if there are more [COMP-02]', async () => {
    const client = await connect(serverOf());
    const { values, total, hasMore } = await client.complete({ prompt: 'letter' }, { name: 'to', value: 'x' });
    expect([values.length, total, hasMore]).toEqual([100, 150, true]);
  });

  it('receives the arguments that are already filled in [COMP-05]', async () => {
    const client = await connect(serverOf());
    const ref = { prompt: 'letter' };
    expect((await client.complete(ref, { name: 'to', value: '' }, { pages: '1' })).values).toEqual(['only one']);
  });

  it('works for templates [COMP-03], and is empty for arguments without one [COMP-08]', async () => {
    const client = await connect(serverOf());
    const template = { resource: 'docs://pages/{+path}' };
    expect((await client.complete(template, { name: 'path', value: 'b' })).values).toEqual(['b/c.md']);
    const prompt = { prompt: 'letter' };
    expect((await client.complete(prompt, { name: 'pages', value: '' })).values).toEqual([]);
  });

  it.each([
    [{ type: 'ref/prompt', name: 'none' }],
    [{ type: 'ref/resource', uri: 'nowhere://{x}' }],
    [{ type: 'ref/tool', name: 'tool' }],
    ['__proto__'],
  ])('of an unknown reference is an error: %j [COMP-04]', async (ref) => {
    const client = await connect(serverOf());
    const call = client.request('completion/complete', { ref, argument: { name: 'to', value: '' } });
    await expect(call).rejects.toMatchObject({ code: -32602 });
  });
});

describe('lists', () => {
  const small = () => {
    const server = new McpServer({ name: 'test', version: '1', pageSize: 2 });
    const registrations = ['a', 'b', 'c', 'd', 'e'].map((name) => server.addTool({ name }, () => name));
    return { server, registrations };
  };
  const pageOf = async (client: Awaited<ReturnType<typeof connect>>, cursor?: unknown) => {
    const page = await client.request('tools/list', cursor === undefined ? {} : { cursor });
    return { names: (page['tools'] as { name: string }[]).map(({ name }) => name), next: page['nextCursor'] };
  };

  it('have pages [PAGE-01], and no cursor on the last one [PAGE-04]', async () => {
    const client = await connect(small().server);
    const first = await pageOf(client);
    const second = await pageOf(client, first.next);
    const third = await pageOf(client, second.next);
    expect([first.names, second.names, third.names]).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
    expect('nextCursor' in (await client.request('tools/list', { cursor: second.next }))).toBe(false);
  });

  it('continue at the same position when entries are added and removed [PAGE-02]', async () => {
    const { server, registrations } = small();
    const client = await connect(server);
    const first = await pageOf(client);
    registrations[0]?.remove();
    server.addTool({ name: 'f' }, () => 'f');
    expect((await pageOf(client, first.next)).names).toEqual(['c', 'd']);
    registrations[1]?.remove();
    expect((await pageOf(client, first.next)).names[0]).toMatch(/[cd]/);
  });

  it.each([[''], ['garbage'], [42], [null], [{}], ['x'.repeat(90_000)]])(
    'reject an unknown cursor: %p [PAGE-03]',
    async (cursor) => {
      const client = await connect(small().server);
      await expect(pageOf(client, cursor)).rejects.toMatchObject({ code: -32602 });
    },
  );

  it('reject a cursor that was tampered with, or belongs to another list or caller', async () => {
    const { server } = small();
    server.addProvider(Library);
    const ada = await connect(server, { principal: { subject: 'ada' } });
    const bob = await connect(server, { principal: { subject: 'bob' } });
    const next = (await pageOf(ada)).next as string;
    const bytes = Buffer.from(next, 'base64url');
    for (let index = 0; index < bytes.length; index++) {
      const changed = Buffer.from(bytes);
      changed[index] = (changed[index] ?? 0) ^ 1;
      await expect(pageOf(ada, changed.toString('base64url'))).rejects.toMatchObject({ code: -32602 });
    }
    for (const padded of [`${next}!!`, ` ${next}`, `${next}\n`, `${next}=`]) {
      await expect(pageOf(ada, padded)).rejects.toMatchObject({ code: -32602 });
    }
    await expect(ada.request('resources/list', { cursor: next })).rejects.toMatchObject({ code: -32602 });
    await expect(pageOf(bob, next)).rejects.toMatchObject({ code: -32602 });
  });

  it('coalesce simultaneous changes into one notification [TOOL-06]', async () => {
    const { server, registrations } = small();
    const client = await connect(server);
    const changed = client.nextNotification('notifications/tools/list_changed');
    server.addTool({ name: 'f' }, () => 'f');
    registrations[3]?.remove();
    await changed;
    expect(await client.request('ping')).toEqual({});
    expect(client.notifications.map(({ method }) => method)).toEqual(['notifications/tools/list_changed']);
  });
});

describe('capabilities', () => {
  it('follow from the registered members [LIFE-06]', async () => {
    const server = new McpServer({ name: 'test', version: '1' });
    server.addTool({ name: 'help' }, () => 'help');
    const tools = await connect(server);
    expect(tools.initialized?.capabilities).toEqual({ tools: { listChanged: true }, logging: {} });
    await expect(tools.request('prompts/list')).rejects.toMatchObject({ code: -32601 });
    await expect(tools.request('completion/complete')).rejects.toMatchObject({ code: -32601 });
    const all = await connect(serverOf());
    expect(all.initialized?.capabilities).toEqual({
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { listChanged: true, subscribe: true },
      completions: {},
      logging: {},
    });
  });

  it('ignore a provider that was rejected', async () => {
    class Wrong {
      @Prompt()
      write(_letter: Letter) {}
      @Completion({ for: 'write', argument: 'to' })
      names() {
        return [];
      }
      @Completion({ for: 'write', argument: 'from' })
      others() {
        return [];
      }
    }
    const server = new McpServer({ name: 'test', version: '1' });
    expect(() => server.addProvider(Wrong)).toThrow('DECORUM_UNKNOWN_ARGUMENT');
    expect((await connect(server)).initialized?.capabilities).toEqual({ logging: {} });
  });

  it('of an empty server are few, but it still responds [RPC-39]', async () => {
    const client = await connect(new McpServer({ name: 'test', version: '1' }));
    expect(client.initialized?.capabilities).toEqual({ logging: {} });
    expect(await client.request('ping')).toEqual({});
  });
});

import { describe, expect, it } from '@jest/globals';
import { Completion, McpServer, Prompt, Resource, type ResourceListing } from '@decorum/core';
import { connect, type TestClient } from '@decorum/testing';
import { IsString } from 'class-validator';

class Page {
  @IsString() path!: string;
}

class Library {
  pages = ['a.md', 'b/c.md'];

  @Resource('docs://index', { title: 'Index', size: 5, annotations: { priority: 1, audience: ['user'] } }) index() {
    return 'index';
  }

  @Resource('docs://logo', { mimeType: 'image/png' }) logo() {
    return Buffer.from('abc');
  }

  @Resource('docs://data') data() {
    return { a: 1 };
  }

  @Resource('docs://pages/{+path}', { mimeType: 'text/markdown', list: 'list' }) page({ path }: Page) {
    return this.pages.includes(path) ? `# ${path}` : undefined;
  }

  list(): ResourceListing[] {
    return this.pages.map((path) => ({ variables: { path }, title: path.toUpperCase() }));
  }
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

  it('are read with the type of their member, or of what it returned', async () => {
    const client = await connect(serverOf());
    for (const [uri, contents] of Object.entries({
      'docs://index': { mimeType: 'text/plain', text: 'index' },
      'docs://logo': { mimeType: 'image/png', blob: 'YWJj' },
      'docs://data': { mimeType: 'application/json', text: '{"a":1}' },
      'docs://pages/b/c.md': { mimeType: 'text/markdown', text: '# b/c.md' },
    })) {
      expect(await client.readResource(uri)).toEqual({ contents: [{ uri, ...contents }] });
    }
  });
});

describe('lists', () => {
  it('reject a cursor that was tampered with, or belongs to another list or caller', async () => {
    const server = new McpServer({ name: 'test', version: '1', pageSize: 2, providers: [Library] });
    for (const name of ['a', 'b', 'c']) server.addTool({ name }, () => name);
    const ada = await connect(server, { principal: { subject: 'ada' } });
    const bob = await connect(server, { principal: { subject: 'bob' } });
    const next = (await ada.request('tools/list'))['nextCursor'] as string;
    const pageOf = (client: TestClient, cursor: string) => client.request('tools/list', { cursor });
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
});

describe('capabilities', () => {
  it('ignore a provider that was rejected', async () => {
    class Wrong {
      @Prompt() write(_page: Page) {}
      @Completion({ for: 'write', argument: 'path' }) names() {
        return [];
      }
      @Completion({ for: 'write', argument: 'from' }) others() {
        return [];
      }
    }
    const server = new McpServer({ name: 'test', version: '1' });
    expect(() => server.addProvider(Wrong)).toThrow('DECORUM_UNKNOWN_ARGUMENT');
    expect((await connect(server)).initialized?.capabilities).toEqual({ logging: {} });
  });
});

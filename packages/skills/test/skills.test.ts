import { createHash } from 'node:crypto';
import { renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

import { type Access, type JsonObject, McpServer, Resource } from '@decorum/core';
import { type Auth, listen } from '@decorum/http';
import { skills, type SkillsOptions } from '@decorum/skills';
import { connect, type ConnectOptions, type TestClient } from '@decorum/testing';
import { describe, expect, it } from '@jest/globals';

import { RawClient } from '../../../test/support/raw-client.js';
import { folderOf, skillText, write } from './folders.js';

/** The result of `initialize`. */
interface Hello {
  readonly capabilities?: JsonObject;
}

const PIXEL = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 3]);
const PDF = skillText('pdf', 'license: MIT\nmetadata:\n  version: "2"\n');
const LIBRARY = {
  'pdf/SKILL.md': PDF,
  'pdf/references/two words.md': '\uFEFF# Forms\r\n',
  'pdf/scripts/run.py': 'print(1)\n',
  'pdf/assets/dot.png': PIXEL,
  'pdf/.secret': 'hidden',
  'team/git/SKILL.md': skillText('git'),
};

const digestOf = (content: string | Uint8Array) => `sha256:${createHash('sha256').update(content).digest('hex')}`;
const errorOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

/** A server with skills. What it reports is collected. */
function serverWith(folders: Parameters<typeof skills>[0], options?: SkillsOptions, reports: string[] = []) {
  const onError = (error: unknown) => void reports.push((error as Error).message);
  return new McpServer({ name: 'library', version: '1.0.0', onError, plugins: [skills(folders, options)] });
}

const uris = (entries: unknown) => (entries as readonly { uri: string }[]).map(({ uri }) => uri);

async function listed(client: TestClient): Promise<readonly string[]> {
  return uris((await client.request('skills/list'))['skills']);
}

async function during(server: McpServer, options: ConnectOptions, use: (client: TestClient) => Promise<void>) {
  const client = await connect(server, options);
  try {
    await use(client);
  } finally {
    await client.close();
    await server.close();
  }
}

const WAYS = (['memory', 'stdio', 'http'] as const).flatMap((via) =>
  ['2025-11-25', '2026-07-28'].map((revision) => ({ via, revision })),
);

describe.each(WAYS)('Skills over $via in $revision', (way) => {
  const hint = way.revision === '2026-07-28' ? { ttlMs: 60_000, cacheScope: 'public' } : {};
  const open = (use: (client: TestClient) => Promise<void>) =>
    during(serverWith(folderOf(LIBRARY), { cache: { ttlMs: 60_000, scope: 'public' }, watch: false }), way, use);

  it('are listed with their frontmatter and a digest and size of each file', async () => {
    await open(async (client) => {
      const { skills: all, ...rest } = await client.request('skills/list');
      const [pdf, git] = all as readonly JsonObject[];
      const file = (path: string, content: string | Uint8Array) => ({
        uri: `skill://pdf/${path}`,
        digest: digestOf(content),
        size: Buffer.byteLength(content),
      });
      expect(pdf).toEqual({
        uri: 'skill://pdf/SKILL.md',
        frontmatter: { name: 'pdf', description: 'What pdf does', license: 'MIT', metadata: { version: '2' } },
        resources: [
          file('SKILL.md', PDF),
          file('assets/dot.png', PIXEL),
          file('references/two%20words.md', LIBRARY['pdf/references/two words.md']),
          file('scripts/run.py', LIBRARY['pdf/scripts/run.py']),
        ],
      });
      expect(git).toMatchObject({ uri: 'skill://team/git/SKILL.md', frontmatter: { name: 'git' } });
      const own = ({ resultType: _type, _meta, ...others }: JsonObject) => others;
      expect(own(rest)).toEqual(hint);
      expect(own(await client.request('skills/get', { uri: 'skill://pdf/SKILL.md' }))).toEqual({ skill: pdf, ...hint });
    });
  });

  it('have files that are read as they are, with their types', async () => {
    await open(async (client) => {
      const read = async (path: string) => (await client.readResource(`skill://pdf/${path}`)).contents[0];
      expect(await read('SKILL.md')).toMatchObject({ mimeType: 'text/markdown', text: PDF });
      expect(await read('references/two%20words.md')).toMatchObject({
        mimeType: 'text/markdown',
        text: '\uFEFF# Forms\r\n',
      });
      expect(await read('scripts/run.py')).toMatchObject({ mimeType: 'text/x-python', text: 'print(1)\n' });
      expect(await read('assets/dot.png')).toMatchObject({ mimeType: 'image/png', blob: PIXEL.toString('base64') });
      expect(await client.listResources()).toMatchObject([
        {
          uri: 'skill://pdf/SKILL.md',
          name: 'pdf',
          description: 'What pdf does',
          mimeType: 'text/markdown',
          size: PDF.length,
        },
        { uri: 'skill://team/git/SKILL.md', name: 'git' },
      ]);
    });
  });

  it('have folders whose direct children are listed', async () => {
    await open(async (client) => {
      const read = async (uri: string) => (await client.request('resources/directory/read', { uri }))['resources'];
      expect(await read('skill://pdf')).toEqual([
        {
          uri: 'skill://pdf/SKILL.md',
          name: 'pdf',
          description: 'What pdf does',
          mimeType: 'text/markdown',
          size: PDF.length,
        },
        { uri: 'skill://pdf/assets', name: 'assets', mimeType: 'inode/directory' },
        { uri: 'skill://pdf/references', name: 'references', mimeType: 'inode/directory' },
        { uri: 'skill://pdf/scripts', name: 'scripts', mimeType: 'inode/directory' },
      ]);
      expect(await read('skill://pdf/scripts')).toEqual([
        { uri: 'skill://pdf/scripts/run.py', name: 'run.py', mimeType: 'text/x-python', size: 9 },
      ]);
    });
  });

  it('answer requests for anything else with −32602', async () => {
    await open(async (client) => {
      for (const [method, params] of [
        ['skills/get', {}],
        ['skills/get', { uri: 7 }],
        ['skills/get', { uri: 'skill://none/SKILL.md' }],
        ['skills/get', { uri: 'skill://pdf' }],
        ['skills/get', { uri: `skill://${'x'.repeat(100_000)}` }],
        ['skills/list', { cursor: 'x' }],
        ['skills/list', { cursor: {} }],
        ['resources/directory/read', { uri: 'skill://pdf/SKILL.md' }],
        ['resources/directory/read', { uri: 'skill://pdf/' }],
        ['resources/directory/read', { uri: 'skill://team' }],
        ['resources/directory/read', { uri: 'skill://pdf/scripts/../..' }],
        ['resources/directory/read', { uri: 'skill://pdf', cursor: 'W10' }],
      ] as const) {
        expect(await errorOf(client.request(method, params))).toMatchObject({ code: -32602 });
      }
    });
  });

  it('have no other files', async () => {
    await open(async (client) => {
      const code = way.revision === '2026-07-28' ? -32602 : -32002;
      for (const path of ['.secret', '../pdf/SKILL.md', '%2e%2e/team/git/SKILL.md', 'none.md', 'scripts', '']) {
        expect(await errorOf(client.readResource(`skill://pdf/${path}`))).toMatchObject({ code });
      }
    });
  });
});

describe('The extension', () => {
  it('is declared with directoryRead, and serves clients that do not declare it', async () => {
    const server = serverWith(folderOf(LIBRARY), { watch: false });
    await during(server, { revision: '2026-07-28' }, async (client) => {
      expect(await client.request('server/discover')).toMatchObject({
        capabilities: { resources: {}, extensions: { 'io.modelcontextprotocol/skills': { directoryRead: true } } },
      });
    });
  });

  it('is declared in sessions, too: clients that declare no extensions look for it there', async () => {
    const declared: unknown[] = [];
    const client = await RawClient.connect(serverWith(folderOf(LIBRARY), { watch: false }), {
      revision: '2025-11-25',
      withoutExtensions: (message) => {
        const { capabilities: { extensions, ...capabilities } = {}, ...rest } = (message['result'] ?? {}) as Hello;
        declared.push(extensions);
        return { ...message, result: { ...rest, capabilities } };
      },
    });
    expect(declared).toEqual([{ 'io.modelcontextprotocol/skills': { directoryRead: true } }]);
    await client.close();
  });

  it('sends lists in pages', async () => {
    const server = serverWith(folderOf(LIBRARY), { pageSize: 1, watch: false });
    await during(server, {}, async (client) => {
      const first = await client.request('skills/list');
      const second = await client.request('skills/list', { cursor: first['nextCursor'] });
      expect([uris(first['skills']), uris(second['skills'])]).toEqual([
        ['skill://pdf/SKILL.md'],
        ['skill://team/git/SKILL.md'],
      ]);
      expect(second).not.toHaveProperty('nextCursor');
      // the cursor of one list says nothing about another
      const other = client.request('resources/directory/read', { uri: 'skill://pdf', cursor: first['nextCursor'] });
      expect(await errorOf(other)).toMatchObject({ code: -32602 });
      const children: string[] = [];
      for (let cursor: unknown; ;) {
        const page = await client.request('resources/directory/read', {
          uri: 'skill://pdf',
          ...(cursor !== undefined && { cursor }),
        });
        children.push(...uris(page['resources']));
        cursor = page['nextCursor'];
        if (cursor === undefined) break;
      }
      expect(children).toHaveLength(4);
    });
  });

  it('rejects a read whose Mcp-Name names another file', async () => {
    const server = serverWith(folderOf(LIBRARY), { watch: false });
    const { url, close } = await listen(server, { port: 0 });
    const params = {
      uri: 'skill://pdf/SKILL.md',
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    };
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'resources/read',
        'mcp-name': 'skill://team/git/SKILL.md',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'resources/read', params }),
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: -32020 } });
    await close();
  });
});

describe('Access to skills', () => {
  const staff: Access = (principal) => principal?.subject === 'ada';
  const folders = () => [
    { folder: folderOf({ 'open/SKILL.md': skillText('open') }), public: true },
    { folder: folderOf({ 'staff/SKILL.md': skillText('staff'), 'staff/x.md': 'x' }), access: staff },
    { folder: folderOf({ 'paid/SKILL.md': skillText('paid'), 'paid/y.md': 'y' }), scopes: ['paid'] },
  ];

  it.each(['2025-11-25', '2026-07-28'])(
    'hides those that `access` denies from every request in %s',
    async (revision) => {
      const server = serverWith(folders(), { watch: false });
      const client = await connect(server, { revision, principal: { subject: 'bob', scopes: ['paid'] } });
      const known = ['skill://open/SKILL.md', 'skill://paid/SKILL.md'];
      expect(await listed(client)).toEqual(known);
      expect(uris(await client.listResources())).toEqual(known);
      expect(JSON.stringify(await client.listResourceTemplates())).not.toContain('staff');
      const absent = async (method: string, uri: string, twin: string) => {
        const [one, other] = await Promise.all(
          [uri, twin].map((each) => client.request(method, { uri: each }).catch((error: unknown) => error)),
        );
        const shown = (error: unknown) => {
          const { code, message } = error as { code: number; message: string };
          return { code, message: message.replaceAll(/skill:\S+/g, '') };
        };
        // it looks like one that doesn't exist
        expect(shown(one)).toEqual(shown(other));
      };
      await absent('skills/get', 'skill://staff/SKILL.md', 'skill://none/SKILL.md');
      await absent('resources/directory/read', 'skill://staff', 'skill://none');
      await absent('resources/read', 'skill://staff/x.md', 'skill://none/x.md');
      await absent('resources/read', 'skill://staff/SKILL.md', 'skill://none/SKILL.md');
      await client.close();
      const ada = await connect(server, { revision, principal: { subject: 'ada' } });
      expect(await listed(ada)).toContain('skill://staff/SKILL.md');
      expect((await ada.readResource('skill://staff/x.md')).contents).toHaveLength(1);
      expect(await ada.request('resources/directory/read', { uri: 'skill://staff' })).toMatchObject({
        resources: [{ name: 'staff' }, { name: 'x.md' }],
      });
      await ada.close();
      await server.close();
    },
  );

  it('requires scopes to get a skill and to read its folders and files', async () => {
    const server = serverWith(folders(), { watch: false });
    await during(server, { principal: { subject: 'bob' } }, async (client) => {
      for (const [method, uri] of [
        ['skills/get', 'skill://paid/SKILL.md'],
        ['resources/directory/read', 'skill://paid'],
        ['resources/read', 'skill://paid/y.md'],
      ] as const) {
        expect(await errorOf(client.request(method, { uri }))).toMatchObject({
          code: -32600,
          data: { scopes: ['paid'] },
        });
      }
    });
  });

  it('keeps lists with hidden skills out of shared caches', async () => {
    const server = serverWith(folders(), { watch: false, cache: { ttlMs: 1, scope: 'public' } });
    await during(server, { revision: '2026-07-28' }, async (client) => {
      expect(await client.request('skills/list')).toMatchObject({ cacheScope: 'private' });
    });
  });

  it('lets callers without credentials list all and use public ones only', async () => {
    const auth: Auth = {
      scopes: [],
      authenticate: ({ authorizations }) => (authorizations.length > 0 ? { subject: 'ada' } : undefined),
    };
    const { url, close } = await listen(serverWith(folders(), { watch: false }), { port: 0, auth });
    const client = await connect(url, { revision: '2026-07-28' });
    expect(await listed(client)).toEqual(['skill://open/SKILL.md', 'skill://paid/SKILL.md']);
    expect(await client.request('skills/get', { uri: 'skill://open/SKILL.md' })).toHaveProperty('skill');
    expect(await client.request('resources/directory/read', { uri: 'skill://open' })).toHaveProperty('resources');
    expect((await client.readResource('skill://open/SKILL.md')).contents).toHaveLength(1);
    for (const uri of ['skill://paid/SKILL.md', 'skill://none/SKILL.md']) {
      await expect(client.request('skills/get', { uri })).rejects.toThrow('Authorization is required');
    }
    await client.close();
    const ada = await connect(url, { revision: '2026-07-28', headers: { authorization: 'Bearer x' } });
    expect(await listed(ada)).toContain('skill://staff/SKILL.md');
    await ada.close();
    await close();
  });
});

describe('Edits', () => {
  const LISTS = 'notifications/resources/list_changed';
  const UPDATED = 'notifications/resources/updated';

  /** A client of a server that watches a folder. */
  async function watched(use: (client: TestClient, root: string, reports: string[]) => Promise<void>) {
    const root = folderOf(LIBRARY);
    const reports: string[] = [];
    await during(serverWith(root, {}, reports), {}, (client) => use(client, root, reports));
  }

  /** Waits until the server has reported something. */
  async function reported(reports: readonly string[], text: string) {
    while (!reports.some((each) => each.includes(text))) await new Promise((done) => void setTimeout(done, 5));
  }

  it('change digests and contents, and clients are told', async () => {
    await watched(async (client, root) => {
      await client.subscribe('skill://pdf/scripts/run.py');
      write(root, { 'pdf/scripts/run.py': 'print(2)\n' });
      await client.nextNotification(LISTS);
      expect((await client.nextNotification(UPDATED)).params).toEqual({ uri: 'skill://pdf/scripts/run.py' });
      expect(await client.request('skills/get', { uri: 'skill://pdf/SKILL.md' })).toMatchObject({
        skill: { resources: expect.arrayContaining([expect.objectContaining({ digest: digestOf('print(2)\n') })]) },
      });
      expect((await client.readResource('skill://pdf/scripts/run.py')).contents).toMatchObject([
        { text: 'print(2)\n' },
      ]);
    });
  });

  it('add and remove skills', async () => {
    await watched(async (client, root) => {
      write(root, { 'new/SKILL.md': skillText('new') });
      await client.nextNotification(LISTS);
      expect(await listed(client)).toContain('skill://new/SKILL.md');
      renameSync(join(root, 'new'), `${root}-gone`);
      await client.nextNotification(LISTS);
      expect(await listed(client)).not.toContain('skill://new/SKILL.md');
      rmSync(`${root}-gone`, { recursive: true });
    });
  });

  it('that break a skill are reported once, and the last good version stays', async () => {
    await watched(async (client, root, reports) => {
      const before = await client.request('skills/list');
      write(root, { 'pdf/SKILL.md': '---\nname: [\n---\n', 'pdf/scripts/run.py': 'print(3)\n' });
      await reported(reports, 'pdf/SKILL.md: `frontmatter` is not valid YAML');
      expect(await client.request('skills/list')).toEqual(before);
      expect((await client.readResource('skill://pdf/scripts/run.py')).contents).toMatchObject([
        { text: 'print(1)\n' },
      ]);
      // another skill can be edited meanwhile
      write(root, { 'team/git/more.md': '# More\n' });
      await client.nextNotification(LISTS);
      expect((await client.readResource('skill://team/git/more.md')).contents).toHaveLength(1);
      expect(reports).toHaveLength(1);
      write(root, { 'pdf/SKILL.md': PDF });
      await client.nextNotification(LISTS);
      expect((await client.readResource('skill://pdf/scripts/run.py')).contents).toMatchObject([
        { text: 'print(3)\n' },
      ]);
    });
  });

  it('can not lead out of a skill, take the name of another, or remove the folder', async () => {
    await watched(async (client, root, reports) => {
      const before = await client.request('skills/list');
      symlinkSync('/etc/passwd', join(root, 'pdf/leak.md'));
      await reported(reports, 'pdf/leak.md: `link` leads out of the skill');
      write(root, { 'a/git/SKILL.md': skillText('git') });
      await reported(reports, 'a/git/SKILL.md: `name` is also that of');
      expect(await client.request('skills/list')).toEqual(before);
      renameSync(root, `${root}-moved`);
      await reported(reports, 'ENOENT');
      expect(await client.request('skills/list')).toEqual(before);
      rmSync(`${root}-moved`, { recursive: true });
    });
  });

  it('of hidden skills are told only to those who see them', async () => {
    const root = folderOf({ 'staff/SKILL.md': skillText('staff') });
    class Other {
      @Resource('other://x') x() {
        return 'x';
      }
    }
    const access: Access = (principal) => principal?.subject === 'ada';
    const server = new McpServer({
      name: 'library',
      version: '1.0.0',
      providers: [Other],
      plugins: [skills({ folder: root, access })],
    });
    const bob = await connect(server, { principal: { subject: 'bob' } });
    await during(server, { principal: { subject: 'ada' } }, async (ada) => {
      write(root, { 'staff/more.md': 'more' });
      await ada.nextNotification(LISTS);
      await bob.request('ping');
      expect(bob.notifications).toEqual([]);
      await bob.close();
    });
  });
});

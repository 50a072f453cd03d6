import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { call, connect, connectStateless, failureOf, MAIN, type Roots, textOf } from './client.js';

let base: string;

const at = (...parts: string[]) => join(base, ...parts);
const uri = (name: string) => pathToFileURL(at(name)).href;

beforeAll(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'decorum-files-')));
  for (const name of ['allowed', 'allowed-evil', 'other', 'third']) {
    await mkdir(at(name));
    await writeFile(at(name, 'file.txt'), name);
  }
  await symlink(at('allowed'), at('alias'));
  await symlink(at('other'), at('allowed/folder-out'));
  await symlink(at('other/file.txt'), at('allowed/file-out'));
  await symlink(at('other/new.txt'), at('allowed/nowhere'));
  await symlink(at('allowed/file.txt'), at('allowed/file-in'));
  await symlink('loop', at('allowed/loop'));
});

afterAll(async () => {
  await rm(base, { recursive: true });
});

/** Each tool, with a path in each of its arguments. */
const TOOLS: readonly [name: string, args: (path: string) => Record<string, unknown>][] = [
  ['read_file', (path) => ({ path })],
  ['read_text_file', (path) => ({ path })],
  ['read_text_file', (path) => ({ path, head: 1 })],
  ['read_text_file', (path) => ({ path, tail: 1 })],
  ['read_media_file', (path) => ({ path })],
  ['write_file', (path) => ({ path, content: 'changed' })],
  ['edit_file', (path) => ({ path, edits: [{ oldText: 'other', newText: 'changed' }] })],
  ['create_directory', (path) => ({ path })],
  ['list_directory', (path) => ({ path })],
  ['list_directory_with_sizes', (path) => ({ path })],
  ['directory_tree', (path) => ({ path })],
  ['move_file', (path) => ({ source: path, destination: 'moved' })],
  ['move_file', (path) => ({ source: 'file.txt', destination: path })],
  ['search_files', (path) => ({ path, pattern: '**' })],
  ['get_file_info', (path) => ({ path })],
];

/** Paths that lead out, from the folder `allowed`. */
const HOSTILE: readonly [kind: string, path: () => string][] = [
  ['absolute', () => at('other/file.txt')],
  ['absolute, of nothing', () => at('other/new/new.txt')],
  ['of the parent', () => base],
  ['of the root', () => '/'],
  ['with ..', () => '../other/file.txt'],
  ['absolute with ..', () => `${at('allowed')}/../other/file.txt`],
  ['with .. behind what does not exist', () => 'nothing/../../other/file.txt'],
  ['of a sibling with the same beginning', () => at('allowed-evil/file.txt')],
  ['of the home directory', () => '~/.profile'],
  ['with a null byte', () => `${at('allowed/file.txt')}\0`],
  ['with a null byte before ..', () => '\0/../../other/file.txt'],
  ['of a link to a file outside', () => 'file-out'],
  ['of a link to a folder outside', () => at('allowed/folder-out')],
  ['through a link to a folder outside', () => 'folder-out/file.txt'],
  ['of something new through a link to a folder outside', () => 'folder-out/new/new.txt'],
];

describe('a path', () => {
  let client: Client;

  beforeAll(async () => {
    client = await connect([at('allowed')]);
  });

  afterAll(async () => {
    await client.close();
  });

  it('of an allowed directory cannot be written to, not even by a temporary file beside it', async () => {
    expect(await failureOf(client, 'write_file', { path: '.', content: 'changed' })).toBe(
      `${at('allowed')} is a directory.`,
    );
  });

  it.each(HOSTILE)('that leads out is refused by every tool, and nothing changes: %s', async (_kind, path) => {
    for (const [name, args] of TOOLS) {
      const message = await failureOf(client, name, args(path()));
      expect([name, message]).toEqual([name, expect.stringMatching(/^Access denied: /)]);
    }
    const text = await textOf(client, 'read_multiple_files', { paths: [path(), 'file.txt'] });
    expect(text).toMatch(/: Error - Access denied: [^]*\n---\nfile\.txt:\nallowed\n$/);
    for (const name of ['allowed', 'allowed-evil', 'other']) {
      expect(await readFile(at(name, 'file.txt'), 'utf8')).toBe(name);
      if (name !== 'allowed') expect(await readdir(at(name))).toEqual(['file.txt']);
    }
  });

  it.each(['nowhere', 'loop'])('of a link that can’t be resolved is neither read nor written: %s', async (path) => {
    for (const [name, args] of TOOLS) {
      expect([name, await failureOf(client, name, args(path))]).toEqual([name, expect.stringMatching(/ENOENT|ELOOP/)]);
    }
    expect(await readdir(at('other'))).toEqual(['file.txt']);
  });

  it('behind a link is not listed by directory_tree and search_files', async () => {
    const tree = JSON.parse(await textOf(client, 'directory_tree', { path: '.' })) as { name: string }[];
    expect(tree).toContainEqual({ name: 'folder-out', type: 'file' });
    expect(await textOf(client, 'search_files', { path: '.', pattern: '**/file.txt' })).toBe(at('allowed/file.txt'));
  });

  it('of a link within the directory is allowed', async () => {
    expect(await textOf(client, 'read_text_file', { path: 'file-in' })).toBe('allowed');
  });
});

describe('the directories of the command line', () => {
  it('may be several, and may be links; relative paths start at the first', async () => {
    const client = await connect([at('alias'), at('third')]);
    expect(await textOf(client, 'list_allowed_directories')).toBe(
      `Allowed directories:\n${at('alias')}\n${at('allowed')}\n${at('third')}`,
    );
    expect(await textOf(client, 'read_text_file', { path: at('alias/file.txt') })).toBe('allowed');
    expect(await textOf(client, 'read_text_file', { path: at('allowed/file.txt') })).toBe('allowed');
    expect(await textOf(client, 'read_text_file', { path: at('third/file.txt') })).toBe('third');
    expect(await textOf(client, 'read_text_file', { path: 'file.txt' })).toBe('allowed');
    await client.close();
  });

  it('are skipped if they do not exist or are files', async () => {
    const client = await connect([at('nothing'), at('allowed/file.txt'), at('third')]);
    expect(await textOf(client, 'list_allowed_directories')).toBe(`Allowed directories:\n${at('third')}`);
    await client.close();
  });

  it('end the program if none of them can be served', async () => {
    const { code, stderr } = await new Promise<{ code: unknown; stderr: string }>((resolve) => {
      execFile(process.execPath, [MAIN, at('nothing')], (error, _stdout, text) =>
        resolve({ code: error?.code, stderr: text }),
      );
    });
    expect(stderr).toMatch(/Skipping .*nothing[^]*None of the directories can be served/);
    expect(code).toBe(1);
  });

  it('are needed by a client without roots', async () => {
    const client = await connect([]);
    expect(await failureOf(client, 'read_text_file', { path: at('third/file.txt') })).toContain('there are none');
    await client.close();
  });
});

describe('the roots of a client', () => {
  const clients: { close(): Promise<void> }[] = [];
  const kept = <C extends { close(): Promise<void> }>(client: C): C => (clients.push(client), client);

  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
  });

  it('replace the directories of the command line', async () => {
    const client = kept(
      await connect([at('allowed')], { uris: [uri('other'), uri('nothing'), uri('third/file.txt')] }),
    );
    expect(await textOf(client, 'list_allowed_directories')).toBe(`Allowed directories:\n${at('other')}`);
    expect(await textOf(client, 'read_text_file', { path: 'file.txt' })).toBe('other');
    expect(await failureOf(client, 'read_text_file', { path: at('allowed/file.txt') })).toContain('Access denied');
  });

  it('are enough without a command line', async () => {
    const client = kept(await connect([], { uris: [uri('third'), uri('other')] }));
    expect(await textOf(client, 'read_text_file', { path: at('other/file.txt') })).toBe('other');
  });

  it('count as soon as the client says that they changed', async () => {
    const roots: Roots = { uris: [uri('other')], listChanged: true };
    const client = kept(await connect([at('allowed')], roots));
    expect(await textOf(client, 'read_text_file', { path: 'file.txt' })).toBe('other');
    roots.uris = [uri('third')];
    await client.sendRootsListChanged();
    expect(await textOf(client, 'read_text_file', { path: 'file.txt' })).toBe('third');
    expect(await failureOf(client, 'read_text_file', { path: at('other/file.txt') })).toContain('Access denied');
  });

  it.each([
    ['has none', { uris: [] }],
    ['has none that exist', { uris: ['file:///nothing/here'] }],
  ])('leave the directories of the command line if the client %s', async (_case, roots) => {
    const client = kept(await connect([at('allowed')], roots));
    expect(await textOf(client, 'read_text_file', { path: 'file.txt' })).toBe('allowed');
  });

  it('leave the directories of the command line if the client does not answer', async () => {
    const roots = {
      get uris(): string[] {
        throw new Error('not now');
      },
    };
    const client = kept(await connect([at('allowed')], roots));
    expect(await textOf(client, 'read_text_file', { path: 'file.txt' })).toBe('allowed');
  });

  it('are asked for by each call of a client without a session', async () => {
    const roots: Roots = { uris: [uri('other')] };
    const client = kept(await connectStateless([at('allowed')], roots));
    expect(await textOf(client, 'read_text_file', { path: 'file.txt' })).toBe('other');
    expect(await textOf(client, 'write_file', { path: 'new.txt', content: 'new' })).toBe(
      'Successfully wrote to new.txt',
    );
    roots.uris = [uri('third')];
    expect(await failureOf(client, 'read_text_file', { path: at('other/new.txt') })).toContain('Access denied');
    await rm(at('other/new.txt'));
  });

  it('are not needed by a client without a session', async () => {
    const client = kept(await connectStateless([at('allowed')]));
    expect(await textOf(client, 'read_text_file', { path: 'file.txt' })).toBe('allowed');
    expect(await call(client, 'read_media_file', { path: 'file.txt' })).toMatchObject({
      content: [{ type: 'resource' }],
    });
  });
});

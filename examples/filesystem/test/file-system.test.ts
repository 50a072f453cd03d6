import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { call, connect, failureOf, textOf } from './client.js';

const PNG = Buffer.from('89504e470d0a1a0a', 'hex');

let folder: string;
let client: Client;

const at = (...parts: string[]) => join(folder, ...parts);
const text = (name: string, args: Record<string, unknown> = {}) => textOf(client, name, args);
const failure = (name: string, args: Record<string, unknown> = {}) => failureOf(client, name, args);

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'decorum-files-')));
  client = await connect([folder]);
});

beforeEach(async () => {
  await mkdir(at('docs/drafts'), { recursive: true });
  await writeFile(at('notes.txt'), 'one\ntwo\nthree\n');
  await writeFile(at('docs/guide.md'), '# Guide\n');
  await writeFile(at('docs/drafts/plan.md'), '# Plan\n');
});

afterEach(async () => {
  for (const name of await readdir(folder)) await rm(at(name), { recursive: true });
});

afterAll(async () => {
  await client.close();
  await rm(folder, { recursive: true });
});

describe('the tools of the file system server', () => {
  it('are listed with titles, hints and output schemas', async () => {
    const { tools } = await client.listTools();
    const reads = { readOnlyHint: true, openWorldHint: false };
    const writes = (hints: object) => ({ readOnlyHint: false, openWorldHint: false, ...hints });
    expect(tools.map(({ name, title, annotations }) => [name, title, annotations])).toEqual([
      ['read_file', 'Read File (Deprecated)', reads],
      ['read_text_file', 'Read Text File', reads],
      ['read_media_file', 'Read Media File', reads],
      ['read_multiple_files', 'Read Multiple Files', reads],
      ['write_file', 'Write File', writes({ idempotentHint: true, destructiveHint: true })],
      ['edit_file', 'Edit File', writes({ idempotentHint: false, destructiveHint: true })],
      ['create_directory', 'Create Directory', writes({ idempotentHint: true, destructiveHint: false })],
      ['list_directory', 'List Directory', reads],
      ['list_directory_with_sizes', 'List Directory with Sizes', reads],
      ['directory_tree', 'Directory Tree', reads],
      ['move_file', 'Move File', writes({ idempotentHint: false, destructiveHint: true })],
      ['search_files', 'Search Files', reads],
      ['get_file_info', 'Get File Info', reads],
      ['list_allowed_directories', 'List Allowed Directories', reads],
    ]);
    for (const { name, outputSchema } of tools) {
      const type = name === 'read_media_file' ? 'array' : 'string';
      expect(outputSchema).toMatchObject({ properties: { content: { type } }, required: ['content'] });
    }
  });

  it('say that a file is missing, and where', async () => {
    expect(await failure('read_text_file', { path: at('nothing') })).toMatch(/no such file.*nothing/);
  });
});

describe('read_text_file and read_file', () => {
  it.each(['read_text_file', 'read_file'])('%s reads all of a file, or its first or last lines', async (tool) => {
    const path = at('notes.txt');
    expect(await text(tool, { path })).toBe('one\ntwo\nthree\n');
    expect(await text(tool, { path, head: 2 })).toBe('one\ntwo');
    expect(await text(tool, { path, tail: 2 })).toBe('two\nthree');
    expect(await text(tool, { path, head: 9 })).toBe('one\ntwo\nthree');
    expect(await text(tool, { path, tail: 9 })).toBe('one\ntwo\nthree');
    expect(await failure(tool, { path, head: 1, tail: 1 })).toContain('not both');
    expect(await failure(tool, { path, head: 0 })).toContain('head');
  });

  it('finds the last lines of a large file, whole characters and Windows line ends included', async () => {
    const lines = Array.from({ length: 30_000 }, (_, index) => `Zeile ${index} – größer`);
    await writeFile(at('large.txt'), lines.join('\r\n'));
    const [few, many] = await Promise.all(
      [3, 20_000].map((tail) => text('read_text_file', { path: at('large.txt'), tail })),
    );
    expect(few).toBe(lines.slice(-3).join('\n'));
    expect(many).toBe(lines.slice(-20_000).join('\n'));
  });

  it('reads an empty file', async () => {
    await writeFile(at('empty'), '');
    for (const args of [{}, { head: 1 }, { tail: 1 }])
      expect(await text('read_text_file', { path: at('empty'), ...args })).toBe('');
  });

  it('reads a path relative to the allowed directory', async () => {
    expect(await text('read_text_file', { path: 'docs/guide.md' })).toBe('# Guide\n');
    expect(await text('read_text_file', { path: './docs/../notes.txt', head: 1 })).toBe('one');
  });
});

describe('read_media_file', () => {
  it.each([
    ['dot.PNG', { type: 'image', mimeType: 'image/png' }],
    ['drawing.svg', { type: 'image', mimeType: 'image/svg+xml' }],
    ['song.flac', { type: 'audio', mimeType: 'audio/flac' }],
  ])('sends %s as it is', async (name, expected) => {
    await writeFile(at(name), PNG);
    const { content, structuredContent } = await call(client, 'read_media_file', { path: at(name) });
    expect(content).toEqual([{ ...expected, data: PNG.toString('base64') }]);
    expect(structuredContent).toEqual({ content });
  });

  it('sends other files as embedded resources', async () => {
    await writeFile(at('a b.zip'), PNG);
    const { content, structuredContent } = await call(client, 'read_media_file', { path: at('a b.zip') });
    const uri = pathToFileURL(at('a b.zip')).href;
    const resource = { uri, mimeType: 'application/octet-stream', blob: PNG.toString('base64') };
    expect(content).toEqual([{ type: 'resource', resource }]);
    expect(structuredContent).toEqual({ content });
  });
});

describe('read_multiple_files', () => {
  it('reads those it can, and says what is wrong with the others', async () => {
    const paths = ['docs/guide.md', 'nothing', '/etc/passwd'];
    const [guide, nothing, outside] = (await text('read_multiple_files', { paths })).split('\n---\n');
    expect(guide).toBe('docs/guide.md:\n# Guide\n\n');
    expect(nothing).toMatch(/^nothing: Error - .*no such file/);
    expect(outside).toMatch(/^\/etc\/passwd: Error - Access denied/);
  });

  it('wants at least one path', async () => {
    expect(await failure('read_multiple_files', { paths: [] })).toContain('paths');
  });
});

describe('write_file', () => {
  it('creates a file, and replaces one', async () => {
    for (const content of ['first', 'second']) {
      expect(await text('write_file', { path: 'new.txt', content })).toBe('Successfully wrote to new.txt');
      expect(await readFile(at('new.txt'), 'utf8')).toBe(content);
    }
    expect(await readdir(folder)).toEqual(['docs', 'new.txt', 'notes.txt']);
  });

  it('keeps the permissions of the file', async () => {
    await chmod(at('notes.txt'), 0o750);
    await text('write_file', { path: 'notes.txt', content: '' });
    expect((await stat(at('notes.txt'))).mode & 0o777).toBe(0o750);
  });

  it('leaves nothing behind if it fails', async () => {
    expect(await failure('write_file', { path: 'docs', content: '' })).toMatch(/EISDIR|directory/);
    expect(await failure('write_file', { path: 'missing/new.txt', content: '' })).toContain('no such file');
    expect(await readdir(folder)).toEqual(['docs', 'notes.txt']);
  });
});

describe('edit_file', () => {
  const edit = (oldText: string, newText: string) => ({ oldText, newText });

  it('replaces exact texts, one after the other, and returns the diff', async () => {
    const edits = [edit('two', 'zwei'), edit('zwei\nthree', 'zwei\n$&')];
    const diff = await text('edit_file', { path: 'notes.txt', edits });
    expect(await readFile(at('notes.txt'), 'utf8')).toBe('one\nzwei\n$&\n');
    expect(diff).toMatch(/^```diff\n/);
    expect(diff).toContain(`--- ${at('notes.txt')}\toriginal\n+++ ${at('notes.txt')}\tmodified\n`);
    expect(diff).toContain(' one\n-two\n-three\n+zwei\n+$&\n```\n\n');
  });

  it('only shows the diff in a dry run', async () => {
    const diff = await text('edit_file', { path: 'notes.txt', edits: [edit('one', 'eins')], dryRun: true });
    expect(diff).toContain('-one\n+eins');
    expect(await readFile(at('notes.txt'), 'utf8')).toBe('one\ntwo\nthree\n');
  });

  it('finds lines that are indented in another way, and keeps the indentation', async () => {
    await writeFile(at('code.ts'), 'class A {\n    run() {\n        go();\n    }\n}\n');
    const edits = [edit('run() {\n  go();\n}', 'run() {\n    stop();\n\n    go();\n}')];
    await text('edit_file', { path: 'code.ts', edits });
    expect(await readFile(at('code.ts'), 'utf8')).toBe(
      'class A {\n    run() {\n        stop();\n\n        go();\n    }\n}\n',
    );
  });

  it('changes nothing if one of the texts is missing, and says which', async () => {
    const edits = [edit('one', 'eins'), edit('four', 'vier')];
    expect(await failure('edit_file', { path: 'notes.txt', edits })).toContain('four');
    expect(await readFile(at('notes.txt'), 'utf8')).toBe('one\ntwo\nthree\n');
  });

  it('keeps Windows line ends, and takes both kinds', async () => {
    await writeFile(at('windows.txt'), 'one\r\ntwo\r\n');
    await text('edit_file', { path: 'windows.txt', edits: [edit('one\ntwo', 'eins\r\nzwei')] });
    expect(await readFile(at('windows.txt'), 'utf8')).toBe('eins\r\nzwei\r\n');
  });

  it('fences the diff of a text that has fences itself', async () => {
    await writeFile(at('readme.md'), '````sh\nls\n````\n');
    const diff = await text('edit_file', { path: 'readme.md', edits: [edit('ls', 'ls -l')] });
    expect(diff).toMatch(/^`{5}diff\n[^]*\n`{5}\n\n$/);
  });

  it('loses no edit when many come at once', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `line ${index}.`);
    await writeFile(at('many.txt'), names.join('\n'));
    const edits = names.map((name) => text('edit_file', { path: 'many.txt', edits: [edit(name, `${name} Done`)] }));
    await Promise.all(edits);
    expect(await readFile(at('many.txt'), 'utf8')).toBe(names.map((name) => `${name} Done`).join('\n'));
  });
});

describe('create_directory', () => {
  it('creates a directory with its parents, and accepts one that exists', async () => {
    for (let times = 0; times < 2; times += 1)
      expect(await text('create_directory', { path: 'a/b/c' })).toBe('Successfully created directory a/b/c');
    expect((await stat(at('a/b/c'))).isDirectory()).toBe(true);
  });
});

describe('the listings', () => {
  it('list_directory marks files and directories', async () => {
    expect((await text('list_directory', { path: folder })).split('\n').sort()).toEqual([
      '[DIR] docs',
      '[FILE] notes.txt',
    ]);
    expect(await failure('list_directory', { path: 'notes.txt' })).toContain('not a directory');
  });

  it('list_directory_with_sizes sorts by name or size, and sums up', async () => {
    await writeFile(at('big.bin'), Buffer.alloc(1536));
    const byName = (await text('list_directory_with_sizes', { path: '.' })).split('\n');
    expect(byName).toEqual([
      `[FILE] ${'big.bin'.padEnd(30)}    1.50 KB`,
      '[DIR] docs',
      `[FILE] ${'notes.txt'.padEnd(30)}       14 B`,
      '',
      'Total: 2 files, 1 directories',
      'Combined size: 1.51 KB',
    ]);
    const bySize = await text('list_directory_with_sizes', { path: '.', sortBy: 'size' });
    expect(bySize.indexOf('big.bin')).toBeLessThan(bySize.indexOf('notes.txt'));
    expect(await failure('list_directory_with_sizes', { path: '.', sortBy: 'date' })).toContain('sortBy');
  });

  it('directory_tree is JSON, without what is excluded', async () => {
    const tree = async (excludePatterns?: string[]) =>
      JSON.parse(
        await text('directory_tree', { path: folder, ...(excludePatterns && { excludePatterns }) }),
      ) as unknown;
    const plan = { name: 'plan.md', type: 'file' };
    const guide = { name: 'guide.md', type: 'file' };
    const drafts = { name: 'drafts', type: 'directory', children: [plan] };
    const notes = { name: 'notes.txt', type: 'file' };
    expect(await tree()).toEqual([{ name: 'docs', type: 'directory', children: [drafts, guide] }, notes]);
    expect(await tree(['drafts', '*.txt'])).toEqual([{ name: 'docs', type: 'directory', children: [guide] }]);
    expect(await tree(['docs/*'])).toEqual([{ name: 'docs', type: 'directory', children: [] }, notes]);
  });

  it('list_allowed_directories names the directory', async () => {
    expect(await text('list_allowed_directories')).toBe(`Allowed directories:\n${folder}`);
  });
});

describe('move_file', () => {
  it('moves files and directories', async () => {
    const args = { source: 'docs', destination: 'papers' };
    expect(await text('move_file', args)).toBe('Successfully moved docs to papers');
    expect((await readdir(folder)).sort()).toEqual(['notes.txt', 'papers']);
  });

  it('does not replace anything', async () => {
    expect(await failure('move_file', { source: 'notes.txt', destination: 'docs/guide.md' })).toContain('exists');
    expect(await readFile(at('docs/guide.md'), 'utf8')).toBe('# Guide\n');
  });
});

describe('search_files', () => {
  const search = async (pattern: string, excludePatterns?: string[]) =>
    (await text('search_files', { path: folder, pattern, ...(excludePatterns && { excludePatterns }) }))
      .split('\n')
      .sort();

  it('finds by glob, at one level or at all', async () => {
    expect(await search('*')).toEqual([at('docs'), at('notes.txt')]);
    expect(await search('**/*.md')).toEqual([at('docs/drafts/plan.md'), at('docs/guide.md')]);
    expect(await search('docs/*.md')).toEqual([at('docs/guide.md')]);
    expect(await search('*.md')).toEqual(['No matches found']);
  });

  it('finds what begins with a dot, and leaves out what is excluded', async () => {
    await writeFile(at('docs/.hidden.md'), '');
    expect(await search('**/*.md', ['drafts'])).toEqual([at('docs/.hidden.md'), at('docs/guide.md')]);
    expect(await search('**/*.md', ['**/*a*'])).toEqual([at('docs/.hidden.md'), at('docs/guide.md')]);
  });
});

describe('get_file_info', () => {
  it('knows size, times, type and permissions', async () => {
    await chmod(at('notes.txt'), 0o640);
    const info = Object.fromEntries(
      (await text('get_file_info', { path: 'notes.txt' })).split('\n').map((line) => line.split(': ')),
    );
    expect(info).toEqual({
      size: '14',
      created: expect.stringMatching(/Z$/),
      modified: (await stat(at('notes.txt'))).mtime.toISOString(),
      accessed: expect.stringMatching(/Z$/),
      isDirectory: 'false',
      isFile: 'true',
      permissions: '640',
    });
  });
});

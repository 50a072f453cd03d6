// What a client may ask for, at worst: each call is answered, and other calls are not held up by it.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { mkdir, mkdtemp, realpath, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { diffOf } from '../src/diffs.js';
import { matchingAny } from '../src/globs.js';
import { call, connect, failureOf, textOf } from './client.js';

let folder: string;
let client: Client;
const failure = async (name: string, args: Record<string, unknown>) => await failureOf(client, name, args);
const search = async (pattern: string, excludePatterns: string[] = []) =>
  await call(client, 'search_files', { path: folder, pattern, excludePatterns });

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'decorum-bounds-')));
  await mkdir(join(folder, 'docs'));
  await writeFile(join(folder, `${'a'.repeat(200)}.txt`), '');
  await writeFile(join(folder, 'docs/b.md'), '');
  client = await connect([folder]);
});

afterAll(async () => {
  await client.close();
  await rm(folder, { recursive: true });
});

describe('the patterns of a search', () => {
  it('say what to send instead of groups, nested braces, and too many or too long ones (#22)', async () => {
    expect(await failure('search_files', { path: folder, pattern: '*(*(a)*(a))b' })).toMatch(
      /without groups such as \*\(a\)\. Use .*, and write \\\( for a parenthesis\.$/,
    );
    const braces = '{a,b}'.repeat(50);
    for (const excludePatterns of [
      Array<string>(50).fill(`{${braces},${braces}}`),
      Array<string>(50).fill(`${'{'.repeat(50)}a${',b}'.repeat(50)}`),
      Array<string>(50).fill('{a,{b,{c,d}}}'),
    ]) {
      expect(await failure('directory_tree', { path: folder, excludePatterns })).toContain('Send fewer braces');
    }
    expect(await failure('directory_tree', { path: folder, excludePatterns: Array<string>(101).fill('a') })).toBe(
      'Send at most 100 patterns.',
    );
    expect(await failure('search_files', { path: folder, pattern: 'a'.repeat(1001) })).toBe(
      'Send patterns of at most 1000 characters.',
    );
  });

  it('say so if a brace is missing (#22)', async () => {
    for (const pattern of ['*.{ts', '*.ts}', '{a,b', '{a,{b}', '}a,b{']) {
      expect(await failure('search_files', { path: folder, pattern })).toMatch(
        /^Balance the braces of ".*", as in \*\.\{js,ts\}, and write \\\{ or \\\} for a single brace\.$/,
      );
    }
  });

  it('may have braces and parentheses that stand for themselves (#22)', () => {
    for (const [pattern, path] of [
      ['\\{a', '{a'],
      ['a\\}', 'a}'],
      ['[{]a', '{a'],
      ['\\{a,b\\}', '{a,b}'],
      ['{a\\}b,c}', 'a}b'],
      ['*\\(*', 'a(b'],
    ] as const) {
      expect([pattern, matchingAny([pattern])(path)]).toEqual([pattern, true]);
    }
  });

  it('are compared in time, however many stars they have (#22)', async () => {
    expect((await search(`${'*a'.repeat(400)}b`)).isError).toBeFalsy();
    expect((await search('**/*a'.repeat(150), Array<string>(100).fill('*[a-z]'.repeat(100)))).isError).toBeFalsy();
  });

  it('end a search that takes too many steps (#22)', () => {
    const matches = matchingAny([`*${'a'.repeat(100)}b`]);
    expect(() => {
      for (let each = 0; each < 10_000; each += 1) matches('a'.repeat(255));
    }).toThrow('Send fewer or shorter ones');
  });

  it('end a search whose stars take too many steps (#22)', () => {
    const matches = matchingAny(Array<string>(100).fill('*/*/*/*/x'));
    const path = ['a', 'b', 'c', 'd'].map((name) => name.repeat(255)).join('/');
    expect(() => {
      for (let each = 0; each < 1000; each += 1) matches(path);
    }).toThrow('Send fewer or shorter ones');
  });

  it('end a search whose character classes take too many steps (#22)', () => {
    const matches = matchingAny([`*[${'a'.repeat(900)}]`]);
    expect(() => {
      for (let each = 0; each < 1000; each += 1) matches('b'.repeat(255));
    }).toThrow('Send fewer or shorter ones');
  });

  it.each(['file{1..3}.txt', '!*.ts', '[[:alpha:]]*'])('say what to send instead of %s (#22)', (pattern) => {
    expect(() => matchingAny([pattern])).toThrow('List them, as in {1,2,3} and [a-zA-Z]');
  });

  it('match what they should, and nothing else', () => {
    const rows = [
      ['*.md', 'b.md', 'docs/b.md'],
      ['**/*.md', 'docs/b.md', 'docs/b.txt'],
      ['**/*.md', 'b.md', 'b.md/c'],
      ['docs/**', 'docs/a/b', 'docs'],
      ['**', 'a/b', undefined],
      ['a/**/b', 'a/b', 'a/c'],
      ['a?c', 'a😀c', 'ac'],
      ['[a-c_]x', '_x', 'dx'],
      ['[!a-c]x', 'dx', 'ax'],
      ['*.{ts,js}', 'a.js', 'a.md'],
      ['{a,{b,c}d}', 'cd', 'ad'],
      ['\\*', '*', 'a'],
      ['a*b*c', 'axbxbc', 'axbx'],
    ] as const;
    for (const [pattern, fits, other] of rows) {
      const matches = matchingAny([pattern]);
      expect([pattern, matches(fits), other !== undefined && matches(other)]).toEqual([pattern, true, false]);
    }
  });
});

describe('edits', () => {
  const numbered = (word: string, count: number) =>
    Array.from({ length: count }, (_, index) => `${word} ${index}\n`).join('');

  it('that change too many lines are shown as one replacement (#22)', async () => {
    const path = join(folder, 'many.txt');
    await writeFile(path, `first\n${numbered('old', 4000)}last\n`);
    const edits = [{ oldText: numbered('old', 4000), newText: numbered('new', 4000) }];
    const diff = await textOf(client, 'edit_file', { path, edits, dryRun: true });
    expect(diff).toContain('@@ -1,4002 +1,4002 @@\n first\n-old 0\n');
    expect(diff).toContain('-old 3999\n+new 0\n');
    expect(diff).toContain('+new 3999\n last\n');
  });

  it('have the lines that they change at their places (#22)', () => {
    const lines = Array.from({ length: 40 }, (_, index) => `${index}`);
    const changed = lines.with(19, 'x').with(30, 'y').join('\n');
    expect(diffOf('a', lines.join('\n'), changed)).toMatch(/@@ -17,7 \+17,7 @@\n 16\n 17\n 18\n-19\n\+x\n[^]*@@ -28,7/);
    expect(diffOf('a', 'a', 'a\nb')).toContain('-a\n\\ No newline at end of file\n+a\n+b\n');
    expect(diffOf('a', 'a\n', 'a\n')).not.toContain('@@');
    expect(diffOf('a', '', numbered('l', 30_000))).toContain('@@ -0,0 +1,30000 @@\n+l 0\n');
  });

  it('search for repetitive texts in linear time, and say how many are too many (#22)', async () => {
    const path = join(folder, 'same.txt');
    await writeFile(path, 'a'.repeat(1_000_000));
    const oldText = `${'a'.repeat(50_000)}b${'a'.repeat(50_000)}`;
    expect(await failure('edit_file', { path, edits: [{ oldText, newText: '' }] })).toContain("doesn't contain");
    const edits = Array.from({ length: 50 }, () => ({ oldText: 'a', newText: 'a' }));
    expect(await failure('edit_file', { path, edits })).toContain('Send fewer edits at a time');
    await writeFile(path, '\n'.repeat(1_000_000));
    const blank = [{ oldText: `${' \n'.repeat(100_000)}b`, newText: '' }];
    expect(await failure('edit_file', { path, edits: blank })).toContain("doesn't contain");
  });
});

describe('a huge file', () => {
  it('is not read as a whole, and says what to send instead (#22)', async () => {
    const path = join(folder, 'huge.log');
    await writeFile(path, '');
    await truncate(path, 3_000_000_000);
    for (const [name, args] of [
      ['read_text_file', { path }],
      ['read_text_file', { path, head: 1 }],
      ['read_text_file', { path, tail: 1 }],
      ['read_media_file', { path }],
      ['edit_file', { path, edits: [{ oldText: 'a', newText: 'b' }] }],
    ] as const) {
      expect([name, await failure(name, args)]).toEqual([name, expect.stringContaining('a call reads at most')]);
    }
    expect(await textOf(client, 'read_multiple_files', { paths: [path] })).toContain('a call reads at most');
  });
});

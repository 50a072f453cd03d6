import { symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';

import { DecorumError, McpServer } from '@decorum/core';
import { skills } from '@decorum/skills';
import { connect } from '@decorum/testing';
import { describe, expect, it } from '@jest/globals';

import { folderOf, skillText } from './folders.js';

type Files = Readonly<Record<string, string | Uint8Array>>;

const front = (fields: string): Files => ({ 'a/SKILL.md': `---\n${fields}\n---\n` });
const many = (count: number): Files =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`a/files/${at}.md`, 'x']));

/** The message for the mistake in a folder, without the folder itself. */
function problemIn(files: Files, link?: readonly [target: string, path: string]): string {
  const root = folderOf(files);
  if (link !== undefined) symlinkSync(link[0], join(root, link[1]));
  try {
    skills(root);
  } catch (error) {
    expect(error).toBeInstanceOf(DecorumError);
    return (error as Error).message.replaceAll(root, 'skills');
  }
  return 'none';
}

const A = { 'a/SKILL.md': skillText('a') };

describe('A folder of skills fails at startup', () => {
  it.each<[string, Files, string]>([
    ['without skills', { 'README.md': 'x' }, 'skills: `SKILL.md` is missing'],
    ['with a folder that is none', { ...A, 'b/x/y.md': 'x' }, 'skills/b/x: `SKILL.md` is missing'],
    ['without frontmatter', { 'a/SKILL.md': '# A' }, 'skills/a/SKILL.md: `frontmatter` is missing'],
    ['with invalid YAML', front('name: [a'), 'skills/a/SKILL.md: `frontmatter` is not valid YAML'],
    [
      'with a colon in a text',
      front('name: a\ndescription: Use when: asked'),
      'in line 3: Nested mappings are not allowed in compact mappings. Put texts with a colon in quotes.',
    ],
    ['with YAML that is no mapping', front('- a'), 'skills/a/SKILL.md: `frontmatter` must be a mapping'],
    [
      'with an alias bomb',
      front(`a: &a [x]\nb: [${'*a,'.repeat(200)}]`),
      'skills/a/SKILL.md: `frontmatter` is not valid',
    ],
    ['with an alias in its own anchor', front('a: &a [*a]'), 'skills/a/SKILL.md: `frontmatter` is not valid YAML'],
    ['with a key twice', front('name: a\nname: b'), 'skills/a/SKILL.md: `frontmatter` is not valid YAML'],
    ['with a number that JSON lacks', front('name: a\ndescription: d\nx: .inf'), 'has a value that JSON lacks'],
    ['without a name', front('description: d'), 'skills/a/SKILL.md: `name` must be 1 to 64'],
    ['with another name', front('name: b\ndescription: d'), '`name` is "b", but the folder is "a"'],
    ['with two hyphens', { 'a--b/SKILL.md': skillText('a--b') }, 'skills/a--b/SKILL.md: `name` must be 1 to 64'],
    ['with capitals', { 'Ab/SKILL.md': skillText('Ab') }, 'skills/Ab/SKILL.md: `name` must be 1 to 64'],
    ['with a long name', { [`${'a'.repeat(65)}/SKILL.md`]: skillText('a'.repeat(65)) }, '`name` must be 1 to 64'],
    ['without a description', front('name: a'), 'skills/a/SKILL.md: `description` must be a text of 1 to 1024'],
    ['with a blank description', front('name: a\ndescription: " "'), '`description` must be a text'],
    ['with a long description', front(`name: a\ndescription: ${'d'.repeat(1025)}`), '`description` must be a text'],
    [
      'with a reserved key',
      front('name: a\ndescription: d\nmetadata:\n  io.modelcontextprotocol/x: "1"'),
      'is reserved',
    ],
    [
      'with metadata that clients refuse',
      front('name: a\ndescription: d\nmetadata:\n  version: 1.0'),
      '`metadata.version` must be a text. Put it in quotes.',
    ],
    [
      'with text that is not UTF-8',
      { 'a/SKILL.md': Buffer.from([0x2d, 0xff]) },
      'skills/a/SKILL.md: `text` is not UTF-8',
    ],
    [
      'with one name twice',
      { ...A, 'x/a/SKILL.md': skillText('a') },
      'skills/x/a/SKILL.md: `name` is also that of skills/a',
    ],
    ['with more than 512 files', { ...A, ...many(512) }, 'skills/a: `files` are more than 512'],
    [
      'with more than 16 MiB',
      { ...A, 'a/big.bin': new Uint8Array(16 * 1024 * 1024) },
      'skills/a: `files` have more than 16 MiB',
    ],
    ['with a file name that URIs lack', { ...A, 'a/x\\y.md': 'x' }, '`name` has characters that URIs lack'],
  ])('%s', (_title, files, problem) => {
    expect(problemIn(files)).toContain(problem);
  });

  it.each<[string, Files, readonly [string, string], string]>([
    ['that leads out', A, ['/etc/hostname', 'a/x.md'], 'skills/a/x.md: `link` leads out of the skill'],
    ['to another skill', { ...A, 'b/SKILL.md': skillText('b') }, ['../b/SKILL.md', 'a/x.md'], 'leads out of the skill'],
    ['to a hidden file', { ...A, 'a/.env': 'x' }, ['.env', 'a/x.md'], 'skills/a/x.md: `link` leads to a hidden file'],
    ['to nothing', A, ['none', 'a/x.md'], 'skills/a/x.md: `link` leads nowhere'],
    ['to its own folder', A, ['.', 'a/x'], 'skills/a/x: `file` is not a file'],
    ['in place of a skill', A, ['/etc', 'b'], 'skills/b: `link` leads out of the folder of skills'],
  ])('with a link %s', (_title, files, link, problem) => {
    expect(problemIn(files, link)).toContain(problem);
  });

  it('with 512 files of 16 MiB it does not', () => {
    const size = 16 * 1024 * 1024 - Buffer.byteLength(skillText('a')) - 510;
    expect(problemIn({ ...A, ...many(510), 'a/big.bin': new Uint8Array(size) })).toBe('none');
  });
});

describe('`skills`', () => {
  it.each<[string, unknown, unknown, string]>([
    ['no folder', 'none/at/all', {}, '`folder` is "none/at/all", where there is no folder'],
    ['an empty list', [], {}, '`folders` is empty'],
    ['a number', 7, {}, '`folders` must be a folder'],
    ['an entry without a folder', { scopes: [] }, {}, '`folder` is missing'],
    ['an unknown option of an entry', { folder: 'x', acess: 1 }, {}, 'acess'],
    ['an unknown option', 'x', { wach: true }, 'wach'],
    ['a negative time', 'x', { cache: { ttlMs: -1, scope: 'public' } }, 'ttlMs'],
    ['an unknown scope of caches', 'x', { cache: { ttlMs: 1, scope: 'all' } }, '`cache` must be'],
  ])('rejects %s', (_title, folders, options, problem) => {
    const create = skills as (folders: unknown, options: unknown) => unknown;
    expect(() => create(folders, options)).toThrow(problem);
  });

  it('serves a folder that is a skill itself, and a link to a file of the same skill', async () => {
    const root = folderOf({ 'a/SKILL.md': skillText('a'), 'a/real.md': 'real' });
    symlinkSync('real.md', join(root, 'a/alias.md'));
    const server = new McpServer({ name: 's', version: '1.0.0', plugins: [skills(join(root, 'a'), { watch: false })] });
    const client = await connect(server);
    expect((await client.readResource('skill://a/alias.md')).contents).toMatchObject([{ text: 'real' }]);
    await client.close();
    await server.close();
    expect(basename(root)).not.toBe('a');
  });

  it('creates plugins for one server each', async () => {
    const plugin = skills(folderOf(A), { watch: false });
    const [one, other] = [1, 2].map(() => new McpServer({ name: 's', version: '1.0.0', plugins: [plugin] }));
    const client = await connect(one as McpServer);
    await expect(connect(other as McpServer)).rejects.toThrow('serves another server already');
    await client.close();
    await one?.close();
  });
});

// What a client can't cause alone: somebody puts a link or a pipe where a file was, after its path was resolved.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { lstat, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { readBytes, readFirstLines, readLastLines, readText, replaceFile } from '../src/files.js';

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'decorum-files-'));
  path = join(folder, 'file.txt');
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

const READERS: readonly [string, (path: string) => Promise<unknown>][] = [
  ['readBytes', readBytes],
  ['readText', readText],
  ['readFirstLines', (file) => readFirstLines(file, 1)],
  ['readLastLines', (file) => readLastLines(file, 1)],
];

describe('a link in the place of a file', () => {
  beforeEach(async () => {
    await writeFile(join(folder, 'secret.txt'), 'secret');
    await symlink(join(folder, 'secret.txt'), path);
  });

  it.each(READERS)('is not followed by %s', async (_name, read) => {
    await expect(read(path)).rejects.toMatchObject({ code: 'ELOOP' });
  });

  it('is replaced by replaceFile, and its target stays as it is', async () => {
    await replaceFile(path, 'new');
    expect((await lstat(path)).isFile()).toBe(true);
    expect(await readFile(join(folder, 'secret.txt'), 'utf8')).toBe('secret');
  });
});

it.each(READERS)('a pipe in the place of a file does not block %s', async (_name, read) => {
  await promisify(execFile)('mkfifo', [path]);
  expect(String(await read(path))).toBe('');
});

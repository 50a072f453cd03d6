import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { locate } from '../src/graph-file.js';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'decorum-memory-'));
  jest.spyOn(console, 'error').mockReturnValue();
});

afterEach(async () => {
  jest.restoreAllMocks();
  await rm(folder, { recursive: true });
});

describe('the place of the graph', () => {
  it('is memory.jsonl in the folder of the program', async () => {
    expect(await locate(folder, undefined)).toBe(join(folder, 'memory.jsonl'));
  });

  it.each([
    ['an absolute path', '/data/graph.jsonl', () => '/data/graph.jsonl'],
    ['a path from the folder of the program', 'graph.jsonl', () => join(folder, 'graph.jsonl')],
  ])('is %s if MEMORY_FILE_PATH says so', async (_kind, custom, expected) => {
    expect(await locate(folder, custom)).toBe(expected());
  });

  it('takes over the memory.json of an early version', async () => {
    await writeFile(join(folder, 'memory.json'), 'old');
    expect(await readFile(await locate(folder, undefined), 'utf8')).toBe('old');
    expect(await readdir(folder)).toEqual(['memory.jsonl']);
  });

  it('leaves memory.json alone if there is a memory.jsonl, or another path is set', async () => {
    await writeFile(join(folder, 'memory.json'), 'old');
    await locate(folder, 'graph.jsonl');
    expect(await readdir(folder)).toEqual(['memory.json']);
    await writeFile(join(folder, 'memory.jsonl'), 'new');
    expect(await readFile(await locate(folder, undefined), 'utf8')).toBe('new');
    expect(await readdir(folder)).toEqual(['memory.json', 'memory.jsonl']);
  });
});

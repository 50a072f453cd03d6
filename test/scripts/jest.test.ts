import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, describe, expect, it } from '@jest/globals';

import { runJest, treeOf } from '../../scripts/jest.js';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'decorum-scripts-'));
  folders.push(folder);
  return folder;
}

/** A program in place of jest: writes its results like jest, and then does something else. */
function jestThat(ends: string): string {
  const program = join(newFolder(), 'jest.cjs');
  const write = `require('fs').writeFileSync(process.argv.at(-1).slice('--outputFile='.length), '{"testResults":[]}');`;
  writeFileSync(program, `${write}\n${ends}`);
  return program;
}

describe('The run of all tests', () => {
  it('ends with the code of jest, and keeps its results with the commit', async () => {
    const { code, results, lingered } = await runJest([], { program: jestThat('process.exitCode = 3;') });
    expect([code, lingered]).toEqual([3, undefined]);
    expect(results).toEqual({ testResults: [], tree: treeOf() });
  });

  it('adds to each test the rows that it said it covers', async () => {
    const results = {
      testResults: [{ name: 'a.test.ts', assertionResults: [{ fullName: 'a b' }, { fullName: 'c' }] }],
    };
    const mark = { file: 'a.test.ts', fullName: 'a b', rows: ['TOOL-20 2025-06-18'] };
    const program = join(newFolder(), 'jest.cjs');
    const write = `require('fs').writeFileSync`;
    const [text, line] = [results, mark].map((value) => JSON.stringify(JSON.stringify(value)));
    const out = `process.argv.at(-1).slice('--outputFile='.length)`;
    writeFileSync(program, `${write}(${out}, ${text}); ${write}(process.env.DECORUM_TEST_MARKS, ${line} + '\\n');`);
    const { results: { testResults } = {} } = await runJest([], { program });
    expect(testResults?.[0]?.assertionResults).toEqual([{ fullName: 'a b', rows: mark.rows }, { fullName: 'c' }]);
  });

  it('ends jest if it does not exit after its last test, and names what it holds', async () => {
    const program = jestThat('require("net").createServer().listen(0, "127.0.0.1");');
    const { code, results, lingered } = await runJest([], { program, lingerMs: 0 });
    expect(code).not.toBe(0);
    expect(results?.testResults).toEqual([]);
    expect(lingered).toContain('"type":"tcp"');
    expect(lingered).toContain('127.0.0.1');
  });

  it('has no results if jest wrote none', async () => {
    const program = join(newFolder(), 'jest.cjs');
    writeFileSync(program, 'process.exitCode = 1;');
    expect(await runJest([], { program })).toEqual({ code: 1, results: undefined, lingered: undefined });
  });
});

describe('The state of a working tree', () => {
  it('differs by commit, by changed files and by new ones', () => {
    const root = newFolder();
    const git = (...args: string[]) =>
      spawnSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { cwd: root });
    git('init');
    writeFileSync(join(root, 'a'), '1');
    git('add', 'a');
    git('commit', '-m', 'one');
    const states = [treeOf(root)];
    expect(treeOf(root)).toEqual(states[0]);
    writeFileSync(join(root, 'a'), '2');
    states.push(treeOf(root));
    writeFileSync(join(root, 'b'), '1');
    states.push(treeOf(root));
    git('add', '.');
    git('commit', '-m', 'two');
    states.push(treeOf(root));
    expect(new Set(states.map((state) => JSON.stringify(state))).size).toBe(4);
    expect(states[0]!.commit).toMatch(/^[0-9a-f]{40}$/);
    expect(states[3]!.commit).not.toBe(states[0]!.commit);
  });
});

// The pages of Start are short, and whoever does what they say gets what they promise.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, describe, expect, it, jest } from '@jest/globals';

import { expectNone, filesUnder } from '../architecture/source.js';
import { answers, conversation, createProject, type Project, ROOT, statuses } from '../packaging/project.js';
import { type Block, blocksOf, textOf } from './blocks.js';

// compilers and test runners run in separate processes
jest.setTimeout(180_000);

const START = filesUnder('docs/start', '.md');
const CREATED = 'docs/start/getting-started.md';
const CLONED = 'docs/start/from-a-clone.md';

/** What people read of a page: without code in blocks, targets of links, and the lines that draw tables. */
const proseOf = (page: string) =>
  textOf(page)
    .replaceAll(/^```[^]*?^```/gm, '')
    .replaceAll(/\]\([^)]*\)/g, '')
    .replaceAll(/^[|: -]+$/gm, '')
    .replaceAll(/[|*#>[\]]/g, ' ');
const wordsIn = (text: string) => text.split(/\s+/).filter((word) => /\w/.test(word));

interface Package {
  readonly dependencies?: object;
  readonly peerDependencies?: object;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

const packageOf = (folder: string) =>
  JSON.parse(readFileSync(join(ROOT, 'packages', folder, 'package.json'), 'utf8')) as Package;

describe('the pages of Start', () => {
  it.each(START)('have at most 600 words: %s', (page) => {
    expect(wordsIn(proseOf(page)).length).toBeLessThanOrEqual(600);
  });

  it('name no revision of the protocol', () => {
    expectNone(
      'Say it without the revision, or move it to a guide.',
      START.filter((page) => /\b20\d\d-\d\d-\d\d\b/.test(textOf(page))),
    );
  });

  it('name all packages that one from a clone needs, because npm has none', () => {
    const nameOf = (dependency: string) => dependency.replace('@decorum/', '');
    const rows = [...textOf(CLONED).matchAll(/^\| (`.+) \| (`.+) \|$/gm)];
    const namesIn = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
    const named = new Map(rows.flatMap(([, names, needs]) => namesIn(names).map((name) => [name, namesIn(needs)])));
    const withNeeds = (name: string): string[] => [name, ...(named.get(name) ?? []).flatMap(withNeeds)];
    const missing = readdirSync(join(ROOT, 'packages')).flatMap((folder) => {
      const { dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = packageOf(folder);
      const needs = Object.keys({ ...dependencies, ...peerDependencies })
        .filter((each) => /^@decorum\/|^create-decorum$/.test(each) && !peerDependenciesMeta[each]?.optional)
        .map(nameOf);
      return needs.filter((each) => !withNeeds(folder).includes(each)).map((each) => `${folder} needs ${each}`);
    });
    expectNone(`Add it to the table of ${CLONED}.`, missing);
  });

  it('lead to a server that is served, tested and connected by at most six commands', () => {
    const commands = [CLONED, CREATED]
      .flatMap(blocksOf)
      .filter(({ page, section }) => page === CREATED || section.includes('Create a project'))
      .filter(({ language }) => language === 'sh')
      .flatMap(({ text }) => text.trim().split('\n'))
      .filter((line) => !line.startsWith('cd '));
    expect(commands.length).toBeLessThanOrEqual(6);
    expect(commands).toEqual(expect.arrayContaining(['npm run dev', 'npm test']));
  });
});

const template = (file: string) => readFileSync(join(ROOT, 'packages/create-decorum/templates', file), 'utf8');
const blockOf = (page: string, isMeant: (block: Block) => boolean) => blocksOf(page).find(isMeant)?.text ?? '';
const fileOf = (page: string, name: string) => blockOf(page, ({ file }) => file === name);

let project: Project | undefined;
afterEach(() => project?.remove());

describe('a reader of Start', () => {
  it('sees the server that the command has created', () => {
    expect(fileOf(CREATED, 'src/server.ts')).toBe(template('minimal/src/server.ts').replace('{{name}}', 'greeter'));
    expect(fileOf('docs/start/deploy.md', 'src/main.ts')).toBe(
      template('http/src/main.ts').replace('./weather.js', './server.js'),
    );
  });

  it('sees the tests pass after the change that the page makes', async () => {
    const { run, write } = (project = createProject({ from: 'vitest' }));
    const added = blockOf(CREATED, ({ text }) => text.startsWith('@Tool('));
    const changed = fileOf(CREATED, 'src/server.ts')
      .replace('Tool }', 'Tool, ToolError }')
      .replace('}\n\nexport', `${added}}\n\nexport`);
    write('src/server.ts', changed);
    write('test/server.test.ts', fileOf('docs/start/test.md', 'test/server.test.ts'));
    for (const file of ['tsconfig.json', 'test/tsconfig.json']) write(file, template(`shared/${file}`));
    const report = await run('node', ['node_modules/vitest/vitest.mjs', 'run', 'test', '--reporter=json']);
    expect(statuses(report)).toEqual({
      'greets by name': 'passed',
      'tells the model what to do about Nobody': 'passed',
      'lists a tool that changes nothing': 'passed',
    });
  });
});

describe('a reader who adds Decorum to a project', () => {
  /** A project with the tsconfig that the page shows, compiled. */
  const compiledWith = async (files: Readonly<Record<string, string>>) => {
    const { run, write } = (project = createProject({ tools: ['ts7', '@types/node'] }));
    write('package.json', '{ "type": "module" }');
    write('tsconfig.json', fileOf('docs/operate/running.md', 'tsconfig.json'));
    for (const [name, text] of Object.entries(files)) write(name, text);
    await run('node', ['node_modules/ts7/bin/tsc', '-p', '.']);
    return run;
  };

  it('serves the first example of the README', async () => {
    const run = await compiledWith({ 'src/greeter.ts': blockOf('README.md', ({ language }) => language === 'ts') });
    const input = conversation([['greet', { name: 'Ada' }]]);
    expect(answers(await run('node', ['dist/greeter.js'], { input })).at(-1)).toMatchObject({
      result: { content: [{ text: 'Hello, Ada!' }] },
    });
  });

  it("sees the test of Node's own runner pass", async () => {
    const page = 'docs/guides/testing.md';
    const files = ['src/greeter.ts', 'src/greeter.test.ts'];
    const run = await compiledWith(Object.fromEntries(files.map((name) => [name, fileOf(page, name)])));
    expect(await run('node', ['--test', 'dist/greeter.test.js'])).toMatch(/^(?:#|ℹ) pass 1$/m);
  });
});

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from '@jest/globals';

import { expectNone, ROOT } from './source.js';

const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const manifestOf = (folder: string) => JSON.parse(read(`${folder}/package.json`)) as Record<string, unknown>;

const foldersIn = (folder: string): string[] => readdirSync(join(ROOT, folder)).map((name) => `${folder}/${name}`);
const WORKSPACE = [
  '.',
  ...foldersIn('packages'),
  ...foldersIn('examples'),
  'bench',
  'test/auth',
  'test/cluster',
  'test/conformance',
  'test/interop',
  'test/packaging/jest',
  'test/packaging/next',
  'test/packaging/vitest',
];

describe('the lockfile', () => {
  it('contains no registry or machine names', () => {
    const lines = read('pnpm-lock.yaml').split('\n');
    expectNone(
      'Install with the default settings of pnpm. The lockfile must contain only names, versions and digests.',
      lines.filter((line) => /https?:\/\/|\btarball:|(?:^|[\s'"])\/(?:home|root|tmp|work)\//.test(line)),
    );
  });
});

/** Packages with a command are run, the others are imported. */
const isProgram = (folder: string) => 'bin' in manifestOf(folder);
const PROGRAMS = foldersIn('packages').filter(isProgram);
const LIBRARIES = foldersIn('packages').filter((folder) => !isProgram(folder));

describe('every package.json', () => {
  it.each(WORKSPACE)('%s is ESM under the same licence', (folder) => {
    // applications of Nest 11 are CommonJS
    const type = folder.endsWith('nest11') ? 'commonjs' : 'module';
    expect(manifestOf(folder)).toMatchObject({ type, license: 'MIT' });
  });

  it.each(['deploy', 'lambda', 'weather'])('examples/%s is compiled by one compiler, whoever runs it', (name) => {
    // `decorum build` takes `typescript`; another version would write the types of all packages again
    const { ts7, typescript } = manifestOf(`examples/${name}`)['devDependencies'] as Record<string, string>;
    expect(typescript).toBe(ts7);
  });

  it.each(LIBRARIES)('%s declares its Node version and its files, and gives Node one copy of each entry', (folder) => {
    const { engines, files, exports } = manifestOf(folder);
    // no maps without sources, and no build info of the compiler
    const shipped = ['CHANGELOG.md', 'dist', '!dist/.tsbuildinfo', '!dist/**/*.d.ts.map'];
    expect({ engines, files }).toEqual({ engines: manifestOf('.')['engines'], files: shipped });
    for (const entry of Object.values(exports as Record<string, Record<string, { types: string; default: string }>>)) {
      // the order matters: Node uses the first condition that it supports
      expect(Object.keys(entry)).toEqual(['module-sync', 'import', 'require']);
      expect(entry['module-sync']).toEqual(entry['import']);
      expect(entry['require']).toEqual({
        types: entry['import']?.types.replace(/\.d\.ts$/, '.d.cts'),
        default: entry['import']?.default.replace(/\.js$/, '.cjs'),
      });
    }
  });

  it.each(PROGRAMS)('%s declares its Node version and ships its command without maps of absent sources', (folder) => {
    const { engines, files } = manifestOf(folder);
    expect(engines).toEqual(manifestOf('.')['engines']);
    expect(files).toEqual(expect.arrayContaining(['bin', 'dist', '!dist/.tsbuildinfo', '!dist/**/*.map']));
  });
});

describe('the scripts that run some tests', () => {
  it.each(['scripts/check-node.js', 'scripts/mutants/targets.js'])('%s names only files that exist', (script) => {
    const named = [...read(script).matchAll(/'((?:packages|test)\/[^']+)'/g)].map(([, path]) => path as string);
    const exists = (path: string) =>
      ['', '.ts', '.test.ts'].some((end) => existsSync(join(ROOT, path.replace(/\.test$/, '') + end)));
    expect(named.length).toBeGreaterThan(5);
    expectNone(
      'A file was renamed or deleted. Name the one that holds its subject now.',
      named.filter((path) => !exists(path)),
    );
  });
});

import { readdirSync, readFileSync } from 'node:fs';
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
  'test/conformance',
  'test/interop',
  'test/packaging/jest',
  'test/packaging/next',
  'test/packaging/vitest',
];

describe('the lockfile', () => {
  it('names neither a registry nor a machine', () => {
    const lines = read('pnpm-lock.yaml').split('\n');
    expectNone(
      'Install with the default settings of pnpm, so that the lockfile holds names, versions and digests only.',
      lines.filter((line) => /https?:\/\/|\btarball:|(?:^|[\s'"])\/(?:home|root|tmp|work)\//.test(line)),
    );
  });
});

describe('every package.json', () => {
  it.each(WORKSPACE)('%s is ESM under the same licence', (folder) => {
    expect(manifestOf(folder)).toMatchObject({ type: 'module', license: 'MIT' });
  });

  it.each(foldersIn('packages'))(
    '%s says which Node it needs, what it ships, and gives Node one copy of each entry',
    (folder) => {
      const { engines, files, exports } = manifestOf(folder);
      // of maps those with their sources, and no notes of the compiler to itself
      const shipped = ['dist', '!dist/.tsbuildinfo', '!dist/**/*.d.ts.map'];
      expect({ engines, files }).toEqual({ engines: manifestOf('.')['engines'], files: shipped });
      for (const entry of Object.values(
        exports as Record<string, Record<string, { types: string; default: string }>>,
      )) {
        // in this order: Node takes the first that it knows
        expect(Object.keys(entry)).toEqual(['module-sync', 'import', 'require']);
        expect(entry['module-sync']).toEqual(entry['import']);
        expect(entry['require']).toEqual({
          types: entry['import']?.types.replace(/\.d\.ts$/, '.d.cts'),
          default: entry['import']?.default.replace(/\.js$/, '.cjs'),
        });
      }
    },
  );
});

import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { beforeAll, describe, expect, it } from '@jest/globals';

import { ROOT } from './source.js';

/** Caps on the files and functions of schema, core and http that one warm `tools/call` runs. Lower them when you can. */
const WAYS = [
  { transport: 'http', era: 'stateful', files: 17, functions: 63 },
  { transport: 'http', era: 'stateless', files: 19, functions: 74 },
  { transport: 'stdio', era: 'stateful', files: 12, functions: 41 },
  { transport: 'stdio', era: 'stateless', files: 13, functions: 44 },
] as const;

/** The files linked in the table of ARCHITECTURE.md about one call, or in the text beside it. */
function linkedFiles(part: 'table' | 'beside'): Set<string> {
  const page = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8');
  const section = page.slice(page.indexOf('## One `tools/call`'), page.indexOf('## Where a difference'));
  const lines = section.split('\n').filter((line) => line.startsWith('|') === (part === 'table'));
  return new Set([...lines.join('\n').matchAll(/\]\((packages\/[^)]+\.ts)\)/g)].map(([, file = '']) => file));
}

/** Cap on the files that a newcomer has to open to follow one call. */
const HOPS = 7;

describe('one warm tools/call', () => {
  beforeAll(() => {
    if (!existsSync(join(ROOT, 'packages/http/dist/index.js'))) throw new Error('Run `npm run build` first.');
  });

  it.each(WAYS)(
    'over $transport, $era, runs at most $files files and $functions functions, all listed in ARCHITECTURE.md',
    async (way) => {
      const { transport, era } = way;
      const probe = join(ROOT, 'test/architecture/path-probe.js');
      const { stdout } = await promisify(execFile)(process.execPath, [probe, transport, era]);
      const ran = Object.entries(JSON.parse(stdout) as Record<string, string[]>);
      const functions = ran.flatMap(([, names]) => names).length;
      const listing = ran.map(([file, names]) => `  ${file}: ${names.join(', ')}`).join('\n');
      process.stderr.write(`tools/call over ${transport}, ${era}: ${ran.length} files, ${functions} functions\n`);
      if (ran.length > way.files || functions > way.functions) {
        throw new Error(
          `A call runs too much code: ${ran.length} files (cap ${way.files}), ${functions} functions (cap ` +
            `${way.functions}). Move work to startup or drop it. Do not merge files.\n${listing}`,
        );
      }
      const files = ran.map(([file]) => file);
      const [table, beside] = [linkedFiles('table'), linkedFiles('beside')];
      const hops = [...table].filter((file) =>
        transport === 'http' ? !/transports/.test(file) : !/packages\/http/.test(file),
      );
      expect(hops.filter((file) => !files.includes(file))).toEqual([]);
      expect(files.filter((file) => !table.has(file) && !beside.has(file))).toEqual([]);
      expect(hops.length).toBeLessThanOrEqual(HOPS);
    },
  );
});

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { beforeAll, describe, expect, it } from '@jest/globals';

import { ROOT } from './source.js';

/** What one warm `tools/call` may run of packages/core and packages/http. Lower them when you can. */
const FILES = 12;
const FUNCTIONS = 45;

const WAYS = [
  ['http', 'stateful'],
  ['http', 'stateless'],
  ['stdio', 'stateful'],
  ['stdio', 'stateless'],
] as const;

describe('one warm tools/call', () => {
  beforeAll(() => {
    if (!existsSync(join(ROOT, 'packages/http/dist/index.js'))) throw new Error('Run `npm run build` first.');
  });

  it.each(WAYS)(`runs at most ${FILES} files and ${FUNCTIONS} functions over %s, %s`, async (transport, era) => {
    const probe = join(ROOT, 'test/architecture/path-probe.js');
    const { stdout } = await promisify(execFile)(process.execPath, [probe, transport, era]);
    const ran = Object.entries(JSON.parse(stdout) as Record<string, string[]>);
    const functions = ran.flatMap(([, names]) => names).length;
    const listing = ran.map(([file, names]) => `  ${file}: ${names.join(', ')}`).join('\n');
    process.stderr.write(`tools/call over ${transport}, ${era}: ${ran.length} files, ${functions} functions\n`);
    if (ran.length > FILES || functions > FUNCTIONS) {
      throw new Error(
        `Too much runs for each call: ${ran.length} files (at most ${FILES}), ${functions} functions (at most ` +
          `${FUNCTIONS}). Do it once at startup, or not at all; do not merge files.\n${listing}`,
      );
    }
    expect(ran.length).toBeGreaterThan(3);
  });
});

/**
 * `npm run docs`: builds the site of `docs/` into `.site`, which any static host can serve. `DOCS_BASE=/decorum/` sets the path
 * under which it is served.
 *
 * `--check` builds it elsewhere, under a path, and checks its links, and in Chromium its requests, its weight and its
 * accessibility. `--pictures FOLDER` keeps what Chromium has seen.
 *
 * `npm run docs:dev` serves the pages while they are written.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { checkSite } from './docs/check.js';
import { writeReference } from './docs/reference.js';
import { run } from './workspace.js';

const PROGRAM = 'docs/node_modules/vitepress/bin/vitepress.js';

/**
 * @param {'build' | 'dev'} command
 * @param {NodeJS.ProcessEnv} [env]
 */
const vitepress = (command, env = {}) =>
  run(process.execPath, [PROGRAM, command, 'docs'], { env: { ...process.env, ...env } });

/** @param {string | undefined} pictures */
async function check(pictures) {
  const folder = mkdtempSync(join(tmpdir(), 'decorum-site-'));
  const base = '/decorum/';
  try {
    const code = await vitepress('build', { DOCS_OUT: folder, DOCS_BASE: base });
    return code === 0 && (await checkSite({ folder, base, pictures })) ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const { values } = parseArgs({
  options: { check: { type: 'boolean' }, dev: { type: 'boolean' }, pictures: { type: 'string' } },
});
await writeReference();
process.exit(values.check ? await check(values.pictures) : await vitepress(values.dev ? 'dev' : 'build'));

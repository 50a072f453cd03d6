/**
 * `npm run -s example NAME`: runs an example that `npm run setup` has built. It listens on PORT, 3000 by default.
 * Most examples run in this process, so that signals reach them and npm gets their exit code. Examples with a
 * script `dev` run in a program of their own.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { ROOT, run } from './workspace.js';

const EXAMPLES = join(ROOT, 'examples');

/**
 * @param {string} message
 * @returns {never}
 */
function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

// their commands in `.bin` start another process, and don't pass signals on to it
const BINARIES = new Map([
  ['bun', 'bun/bin/bun.exe'],
  ['deno', 'deno/deno'],
]);

const [name = ''] = process.argv.splice(2, 1);
const names = readdirSync(EXAMPLES);
if (!names.includes(name)) fail(`There is no example "${name}". Choose one of: ${names.join(', ')}`);
const folder = join(EXAMPLES, name);
if (!existsSync(join(folder, 'node_modules'))) fail('The examples are not installed. Run `npm run setup` first.');

const { scripts = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
if (scripts.dev === undefined) {
  const main = join(folder, 'dist/main.js');
  if (!existsSync(main)) fail(`The example "${name}" is not built. Run \`npm run setup\` first.`);
  process.argv[1] = main;
  await import(pathToFileURL(main).href);
} else {
  const [program, ...args] = scripts.dev.split(' ');
  const env = { ...process.env, NEXT_TELEMETRY_DISABLED: '1' };
  process.exitCode = await run(join(folder, 'node_modules', BINARIES.get(program) ?? `.bin/${program}`), args, {
    cwd: folder,
    env,
  });
}

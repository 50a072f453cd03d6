/**
 * `npm run -s example NAME`: runs an example that `npm run setup` has built. It listens on PORT, 3000 by default.
 * Most examples run in this process, so that signals reach them and npm gets their exit code. Examples without a `dist`
 * have their own development server, which compiles them.
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
  process.exitCode = await run(join(folder, 'node_modules/.bin', program), args, { cwd: folder, env });
}

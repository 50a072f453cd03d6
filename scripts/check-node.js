/**
 * `npm run check:node`: runs `npm start` and a few tests with the other supported versions of Node.js. They come from the
 * registry, and the tests are those in which versions are most likely to differ.
 *
 * `npm run check:node -- npm test` runs another command with each version instead.
 */
import { execFileSync } from 'node:child_process';
import { delimiter, dirname } from 'node:path';

import { run } from './workspace.js';

/** All supported versions but the oldest, which develops and tests everything. */
const VERSIONS = ['22.23.3', '24.21.0'];

const TESTS = [
  'packages/core/test/transports/stdio-process',
  'packages/core/test/transports/watchdog',
  'packages/http/test/fetch-handler',
  'packages/http/test/http2',
  'packages/http/test/node-handler',
  'packages/http/test/resume',
  'test/http-contract/streams',
  'packages/cli/test/dev-program',
  'packages/cli/test/register',
  'test/packaging/commonjs',
];

const given = process.argv.slice(2);
const commands =
  given.length > 0
    ? [given]
    : [
        ['npm', 'run', '--silent', 'check:start', '--', '--here'],
        ['npm', 'run', '--silent', 'jest', '--', ...TESTS],
      ];

/**
 * The folder of a version's `node`. npx downloads it once. Its own environment isn't passed on: it would change what npx
 * does within the commands.
 * @param {string} version
 */
function folderOf(version) {
  const found = execFileSync(
    'npx',
    ['-y', '-p', `node@${version}`, '--', 'node', '-p', 'process.version + "," + process.execPath'],
    {
      encoding: 'utf8',
    },
  );
  const [name, path = ''] = found.trim().split(',');
  if (name !== `v${version}`) throw new Error(`npx runs Node.js ${name} instead of ${version}.`);
  return dirname(path);
}

for (const version of VERSIONS) {
  const env = { ...process.env, PATH: folderOf(version) + delimiter + process.env['PATH'] };
  for (const [program = '', ...args] of commands) {
    console.log(`Node.js ${version}: ${[program, ...args].join(' ')}`);
    const code = await run(program, args, { env });
    if (code === 0) continue;
    process.stderr.write(`\n${[program, ...args].join(' ')} failed with Node.js ${version}.\n`);
    process.exit(1);
  }
}

/**
 * `npm test [-- jest arguments]`: sets up the workspace, runs all tests and ends with jest's counts in one line.
 * Fails if a test fails, if jest itself fails, or if no test ran.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { build, install, ROOT, run } from './workspace.js';

await install();
await build();

// kept for `npm run requirements -- --json .test-results.json`
const outputFile = join(ROOT, '.test-results.json');
rmSync(outputFile, { force: true });
const code = await run(
  process.execPath,
  [join(ROOT, 'node_modules/jest/bin/jest.js'), ...process.argv.slice(2), '--json', `--outputFile=${outputFile}`],
  {
    // with --json, jest writes the JSON to stdout and the readable report to stderr
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --experimental-vm-modules`.trim() },
  },
);
const results = existsSync(outputFile) ? JSON.parse(readFileSync(outputFile, 'utf8')) : undefined;

const passed = results?.numPassedTests ?? 0;
const skipped = results?.numPendingTests ?? 0;
// a file that can't be loaded has no tests to count, but is a failure
const broken = results === undefined ? 1 : results.numRuntimeErrorTestSuites;
const failed = (results?.numFailedTests ?? 0) + broken;
if (passed + failed === 0) process.stdout.write('No test ran.\n');
process.stdout.write(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`);
process.exitCode = code === 0 && failed === 0 && passed === 0 ? 1 : code === 0 && failed > 0 ? 1 : code;

/**
 * `npm test [-- jest arguments]`: sets up the workspace, runs all tests and ends with jest's counts in one line.
 * Fails if a test fails, if jest itself fails, if no test ran, or if something keeps jest from exiting.
 */
import { relative } from 'node:path';

import { keep, runJest } from './jest.js';
import { build, install, ROOT } from './workspace.js';

await install();
await build();

keep(undefined);
const { code, results, lingered } = await runJest(process.argv.slice(2));
keep(results);

/** @param {import('./jest.js').TestFile & { startTime: number, endTime: number }} file */
const secondsOf = ({ startTime, endTime }) => (endTime - startTime) / 1000;
const files = /** @type {Parameters<typeof secondsOf>[0][]} */ (results?.testResults ?? []);
const slowest = files.sort((a, b) => secondsOf(b) - secondsOf(a)).slice(0, 10);
if (files.length > 10) {
  const lines = slowest.map((file) => `${secondsOf(file).toFixed(1).padStart(6)} s  ${relative(ROOT, file.name)}\n`);
  process.stdout.write(`The ten slowest of ${files.length} files:\n${lines.join('')}`);
}

const passed = results?.numPassedTests ?? 0;
const skipped = results?.numPendingTests ?? 0;
// a file that can't be loaded has no tests to count, but is a failure
const broken = results === undefined ? 1 : results.numRuntimeErrorTestSuites;
const failed = (results?.numFailedTests ?? 0) + broken + (lingered === undefined ? 0 : 1);
if (lingered !== undefined) process.stdout.write(`All tests are done, but jest did not exit. It holds:\n${lingered}\n`);
if (passed + failed === 0) process.stdout.write('No test ran.\n');
process.stdout.write(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`);
process.exitCode = code === 0 && failed === 0 && passed === 0 ? 1 : code === 0 && failed > 0 ? 1 : code;

/**
 * `npm test [-- jest arguments]`: sets up the workspace, runs all tests and ends with jest's counts in one line.
 * Fails if a test fails, if jest itself fails, if no test ran, or if something keeps jest from exiting.
 */
import { keep, runJest } from './jest.js';
import { build, install } from './workspace.js';

await install();
await build();

keep(undefined);
const { code, results, lingered } = await runJest(process.argv.slice(2));
keep(results);

const passed = results?.numPassedTests ?? 0;
const skipped = results?.numPendingTests ?? 0;
// a file that can't be loaded has no tests to count, but is a failure
const broken = results === undefined ? 1 : results.numRuntimeErrorTestSuites;
const failed = (results?.numFailedTests ?? 0) + broken + (lingered === undefined ? 0 : 1);
if (lingered !== undefined) process.stdout.write(`All tests are done, but jest did not exit. It holds:\n${lingered}\n`);
if (passed + failed === 0) process.stdout.write('No test ran.\n');
process.stdout.write(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`);
process.exitCode = code === 0 && failed === 0 && passed === 0 ? 1 : code === 0 && failed > 0 ? 1 : code;

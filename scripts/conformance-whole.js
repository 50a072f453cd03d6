/** Runs all scenarios for servers of the official conformance suite: some belong to no requirement set. */
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';

import { exitIssue, report } from './conformance-report.js';
import { COMMAND, readResults, RESULTS } from './conformance-suite.js';
import { run } from './workspace.js';

/** The name of the run. */
export const WHOLE = 'suite';

/**
 * Runs the scenarios. None may fail or warn.
 * @param {string} url
 */
export async function examineAll(url) {
  const folder = join(RESULTS, WHOLE);
  rmSync(folder, { recursive: true, force: true });
  const { stdout } = spawnSync(process.execPath, [...COMMAND, 'list', '--server'], { encoding: 'utf8' });
  const scenarios = [...stdout.matchAll(/^ {2}- (\S+)/gm)].map(([, scenario = '']) => scenario);
  if (scenarios.length === 0) throw new Error('The suite lists no scenarios for servers.');
  const code = await run(process.execPath, [...COMMAND, 'server', '--url', url, '--suite', 'all', '-o', folder], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const unscored = scenarios.map((scenario) => ({ scenario, leg: 'server' }));
  const { issues, summary } = report(WHOLE, { server: [], not_scored: unscored }, readResults(folder, 'server'));
  console.log(summary);
  return [...issues, ...exitIssue(WHOLE, issues, code)];
}

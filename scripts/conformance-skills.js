/** Runs the scenarios of the official conformance suite about skills (SEP-2640). */
import { rmSync } from 'node:fs';
import { join } from 'node:path';

import { exitIssue, report } from './conformance-report.js';
import { COMMAND, readResults, RESULTS } from './conformance-suite.js';
import { run } from './workspace.js';

/** The name of the run. The requirement sets of revisions have no scenarios of this extension. */
export const SKILLS = 'skills';

const SCENARIOS = ['sep-2640-skills-enumeration', 'sep-2640-skills-directory', 'sep-2640-skills-manifest'];

/**
 * Runs the scenarios. A skipped check is an issue: the suite skips what a server doesn't have.
 * @param {string} url
 * @returns {Promise<import('./conformance-report.js').Issue[]>}
 */
export async function examineSkills(url) {
  const folder = join(RESULTS, SKILLS);
  rmSync(folder, { recursive: true, force: true });
  let failed = 0;
  for (const scenario of SCENARIOS) {
    const options = ['--url', url, '--scenario', scenario, '-o', folder];
    failed ||= (await run(process.execPath, [...COMMAND, 'server', ...options], { stdio: 'ignore' })) ?? 1;
  }
  const requirements = { server: SCENARIOS, not_scored: [], no_skips: true };
  const { issues, summary } = report(SKILLS, requirements, readResults(folder, 'server'));
  console.log(summary);
  return [...issues, ...exitIssue(SKILLS, issues, failed)];
}

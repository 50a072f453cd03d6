/** Evaluates the results of the official conformance suite against the list of known gaps. Does no I/O. */

/**
 * @typedef {{ id: string, status: string, errorMessage?: string }} Check one check of the suite
 * @typedef {{ server: string[], not_scored: { scenario: string, leg: string }[], no_skips?: boolean }} Requirements the
 *   suite's, with `no_skips` if skipped checks count as issues
 * @typedef {{ revision: string, scenario: string, check?: string, reason: string }} Gap
 * @typedef {{ revision: string, scenario: string, check: string, status: string, message: string }} Issue
 * @typedef {{ issues: Issue[], summary: string }} Report
 */

// Succeeds even for a server that never responds, because it only checks that no message was invalid.
const ALWAYS_SUCCEEDS = 'wire-schema-valid';

/**
 * The issues of one scenario. The suite passes a scenario if no check failed. Here at least one check must also have
 * succeeded, and warnings count as issues.
 * @param {string} revision
 * @param {string} scenario
 * @param {{ checks: Check[] | undefined, scored: boolean, faults: string[] }} outcome
 * @returns {Issue[]}
 */
function issuesOf(revision, scenario, { checks, scored, faults }) {
  /** @type {(check: string, status: string, message: string) => Issue} */
  const issue = (check, status, message) => ({ revision, scenario, check, status, message });
  if (checks === undefined) return [issue('did-not-run', 'MISSING', 'The suite wrote no result for it.')];
  const issues = checks
    .filter(({ status }) => faults.includes(status))
    .map(({ id, status, errorMessage }) => issue(id, status, (errorMessage ?? '').replace(/\s+/g, ' ')));
  const proved = checks.some(({ id, status }) => status === 'SUCCESS' && id !== ALWAYS_SUCCEEDS);
  if (scored && !proved && !issues.some(({ status }) => status === 'FAILURE')) {
    issues.push(issue('hollow-pass', 'HOLLOW', 'It passes without a single successful check.'));
  }
  return issues;
}

/**
 * Reports on one requirement set.
 * @param {string} revision
 * @param {Requirements} requirements
 * @param {ReadonlyMap<string, Check[]>} results by scenario
 * @returns {Report}
 */
export function report(revision, requirements, results) {
  const faults = ['FAILURE', 'WARNING', ...(requirements.no_skips === true ? ['SKIPPED'] : [])];
  const unscored = requirements.not_scored.filter(({ leg }) => leg === 'server').map(({ scenario }) => scenario);
  /** @type {(scenarios: string[], scored: boolean) => Issue[][]} */
  const examine = (scenarios, scored) =>
    scenarios.map((scenario) => issuesOf(revision, scenario, { checks: results.get(scenario), scored, faults }));
  /** @type {(examined: Issue[][]) => string} */
  const ratio = (examined) => {
    const passed = examined.filter((issues) => issues.every(({ status }) => status === 'WARNING'));
    return `${passed.length}/${examined.length}`;
  };
  const [must, may] = [examine(requirements.server, true), examine(unscored, false)];
  const issues = [...must, ...may].flat();
  const count = (/** @type {string} */ status) => issues.filter((issue) => issue.status === status).length;
  const counts = `${count('WARNING')} warnings, ${count('HOLLOW')} hollow, ${count('MISSING')} did not run`;
  return { issues, summary: `${revision}: ${ratio(must)} scored, ${ratio(may)} not scored, ${counts}` };
}

/**
 * An issue if the suite exits with an error, although its results show none.
 * @param {string} revision
 * @param {readonly Issue[]} issues
 * @param {number | null} code
 * @returns {Issue[]}
 */
export function exitIssue(revision, issues, code) {
  if (code === 0 || issues.length > 0) return [];
  const message = `The suite exited with code ${code} although nothing failed.`;
  return [{ revision, scenario: 'suite', check: 'exit-code', status: 'FAILURE', message }];
}

/**
 * Compares the issues with the known gaps.
 * @param {readonly Issue[]} issues
 * @param {readonly Gap[]} gaps
 * @returns {{ unexpected: Issue[], known: { issue: Issue, gap: Gap }[], stale: Gap[] }}
 */
export function compare(issues, gaps) {
  const unexpected = [];
  const known = [];
  const stale = new Set(gaps);
  for (const issue of issues) {
    const { revision, scenario, check } = issue;
    const gap = gaps.find(
      (each) => each.revision === revision && each.scenario === scenario && (each.check ?? check) === check,
    );
    if (gap === undefined) unexpected.push(issue);
    else {
      known.push({ issue, gap });
      stale.delete(gap);
    }
  }
  return { unexpected, known, stale: [...stale] };
}

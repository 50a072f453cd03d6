import { describe, expect, it } from '@jest/globals';

import { type Check, compare, type Gap, report, type Requirements } from '../../scripts/conformance-report.js';

const REQUIRED: Requirements = { server: ['ping', 'tools'], not_scored: [{ scenario: 'tasks', leg: 'server' }] };
const ok: Check = { id: 'it-works', status: 'SUCCESS' };
const nothingWrong: Check = { id: 'wire-schema-valid', status: 'SUCCESS' };
const skipped: Check = { id: 'it-works', status: 'SKIPPED' };
const wrong: Check = { id: 'it-works', status: 'FAILURE', errorMessage: 'it does not' };

const examine = (results: Record<string, Check[]>) => report('r', REQUIRED, new Map(Object.entries(results)));

describe('the report on a requirement set', () => {
  it('finds nothing where everything was proved', () => {
    const { issues, summary } = examine({ ping: [ok], tools: [ok, nothingWrong], tasks: [skipped] });
    expect(issues).toEqual([]);
    expect(summary).toBe('r: 2/2 scored, 1/1 not scored, 0 warnings, 0 hollow, 0 did not run');
  });

  it('counts failures, also of what is not scored', () => {
    const { issues, summary } = examine({ ping: [ok], tools: [ok, wrong], tasks: [wrong] });
    expect(issues.map(({ scenario, check, status }) => [scenario, check, status])).toEqual([
      ['tools', 'it-works', 'FAILURE'],
      ['tasks', 'it-works', 'FAILURE'],
    ]);
    expect(summary).toContain('1/2 scored, 0/1 not scored');
  });

  it('is not content with a warning', () => {
    const { issues, summary } = examine({ ping: [ok, { ...wrong, status: 'WARNING' }], tools: [ok], tasks: [ok] });
    expect(issues).toMatchObject([{ scenario: 'ping', status: 'WARNING', message: 'it does not' }]);
    expect(summary).toBe('r: 2/2 scored, 1/1 not scored, 1 warnings, 0 hollow, 0 did not run');
  });

  it('takes a scored scenario without a success for hollow, though no message was wrong', () => {
    const { issues } = examine({ ping: [nothingWrong], tools: [skipped], tasks: [skipped] });
    expect(issues.map(({ scenario, status }) => [scenario, status])).toEqual([
      ['ping', 'HOLLOW'],
      ['tools', 'HOLLOW'],
    ]);
  });

  it('misses scenarios that did not run', () => {
    expect(examine({ ping: [ok] }).issues).toMatchObject([
      { scenario: 'tools', status: 'MISSING' },
      { scenario: 'tasks', status: 'MISSING' },
    ]);
  });
});

describe('the list of known gaps', () => {
  const { issues } = examine({ ping: [wrong], tools: [ok], tasks: [wrong] });
  const gap = (scenario: string, more: Partial<Gap> = {}): Gap => ({ revision: 'r', scenario, reason: '', ...more });

  it('covers a scenario, or one check of it', () => {
    const { unexpected, known, stale } = compare(issues, [gap('ping', { check: 'it-works' }), gap('tasks')]);
    expect({ unexpected, known: known.length, stale }).toEqual({ unexpected: [], known: 2, stale: [] });
  });

  it('covers neither another check nor another revision', () => {
    const gaps = [gap('ping', { check: 'another' }), gap('tasks', { revision: 'other' })];
    const { unexpected, stale } = compare(issues, gaps);
    expect(unexpected).toHaveLength(2);
    expect(stale).toEqual(gaps);
  });
});

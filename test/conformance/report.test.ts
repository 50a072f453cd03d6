import { describe, expect, it } from '@jest/globals';

import { type Check, compare, type Gap, report, type Requirements } from '../../scripts/conformance-report.js';

const REQUIRED: Requirements = { server: ['ping', 'tools'], not_scored: [{ scenario: 'tasks', leg: 'server' }] };
const ok: Check = { id: 'it-works', status: 'SUCCESS' };
const nothingWrong: Check = { id: 'wire-schema-valid', status: 'SUCCESS' };
const skipped: Check = { id: 'it-works', status: 'SKIPPED' };
const wrong: Check = { id: 'it-works', status: 'FAILURE', errorMessage: 'it does not' };

const examine = (results: Record<string, Check[]>) => report('r', REQUIRED, new Map(Object.entries(results)));

describe('the report on a requirement set', () => {
  it('finds no issues if everything was proved', () => {
    const { issues, summary } = examine({ ping: [ok], tools: [ok, nothingWrong], tasks: [skipped] });
    expect(issues).toEqual([]);
    expect(summary).toBe('r: 2/2 scored, 1/1 not scored, 0 warnings, 0 hollow, 0 did not run');
  });

  it('counts failures, even of unscored scenarios', () => {
    const { issues, summary } = examine({ ping: [ok], tools: [ok, wrong], tasks: [wrong] });
    expect(issues.map(({ scenario, check, status }) => [scenario, check, status])).toEqual([
      ['tools', 'it-works', 'FAILURE'],
      ['tasks', 'it-works', 'FAILURE'],
    ]);
    expect(summary).toContain('1/2 scored, 0/1 not scored');
  });

  it('counts warnings as issues', () => {
    const { issues, summary } = examine({ ping: [ok, { ...wrong, status: 'WARNING' }], tools: [ok], tasks: [ok] });
    expect(issues).toMatchObject([{ scenario: 'ping', status: 'WARNING', message: 'it does not' }]);
    expect(summary).toBe('r: 2/2 scored, 1/1 not scored, 1 warnings, 0 hollow, 0 did not run');
  });

  it('reports a scored scenario without a success as hollow, even if no message was invalid', () => {
    const { issues } = examine({ ping: [nothingWrong], tools: [skipped], tasks: [skipped] });
    expect(issues.map(({ scenario, status }) => [scenario, status])).toEqual([
      ['ping', 'HOLLOW'],
      ['tools', 'HOLLOW'],
    ]);
  });

  it('counts skipped checks as issues where nothing may be skipped', () => {
    const results = new Map(Object.entries({ ping: [ok, skipped], tools: [ok], tasks: [ok] }));
    const { issues } = report('r', { ...REQUIRED, no_skips: true }, results);
    expect(issues).toMatchObject([{ scenario: 'ping', check: 'it-works', status: 'SKIPPED' }]);
  });

  it('reports scenarios that did not run', () => {
    expect(examine({ ping: [ok] }).issues).toMatchObject([
      { scenario: 'tools', status: 'MISSING' },
      { scenario: 'tasks', status: 'MISSING' },
    ]);
  });
});

describe('the list of known gaps', () => {
  const { issues } = examine({ ping: [wrong], tools: [ok], tasks: [wrong] });
  const gap = (scenario: string, more: Partial<Gap> = {}): Gap => ({ revision: 'r', scenario, reason: '', ...more });

  it('covers a scenario or a single check', () => {
    const { unexpected, known, stale } = compare(issues, [gap('ping', { check: 'it-works' }), gap('tasks')]);
    expect({ unexpected, known: known.length, stale }).toEqual({ unexpected: [], known: 2, stale: [] });
  });

  it('covers no other check or revision', () => {
    const gaps = [gap('ping', { check: 'another' }), gap('tasks', { revision: 'other' })];
    const { unexpected, stale } = compare(issues, gaps);
    expect(unexpected).toHaveLength(2);
    expect(stale).toEqual(gaps);
  });
});

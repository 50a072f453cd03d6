import { describe, expect, it } from '@jest/globals';

import {
  type Assertion,
  cellsOf,
  coverage,
  inconsistencies,
  parseTable,
  type TestFile,
} from '../../scripts/requirements-report.js';

const ROW = 'TOOL-20 2025-06-18';
const passed: Assertion = {
  fullName: `something holds [${ROW}]`,
  status: 'passed',
  failing: false,
  numPassingAsserts: 1,
  rows: [ROW],
};
const other: Assertion = { ...passed, fullName: 'something else', rows: [] };
const fileOf = (...assertionResults: Assertion[]): TestFile => ({
  name: 'a.test.ts',
  status: assertionResults.every(({ status }) => status === 'passed') ? 'passed' : 'failed',
  assertionResults,
});
const covered = (...files: TestFile[]) => [...coverage(files).shown];

describe('A requirement', () => {
  it('is covered by a test that passed', () => {
    expect(coverage([fileOf(passed, other)])).toEqual({ shown: new Set([ROW]), flaws: [] });
  });

  it.each([
    ['asserted nothing', { numPassingAsserts: 0 }],
    ['is marked as failing', { failing: true }],
    ['failed', { status: 'failed' }],
    ['was skipped', { status: 'pending' }],
    ['is still to be written', { status: 'todo' }],
    ['spells its tag itself', { rows: [] }],
    ['spells one more tag itself', { fullName: `something holds [${ROW}] [TOOL-21 2025-06-18]` }],
  ])('is not covered by a test that %s', (_how, change) => {
    const { shown, flaws } = coverage([fileOf({ ...passed, ...change })]);
    expect([...shown]).toEqual([]);
    expect(flaws).toHaveLength(1);
  });

  it('is not covered if another of its tests failed', () => {
    expect(covered(fileOf(passed), fileOf({ ...passed, status: 'failed' }))).toEqual([]);
  });

  it.each(['failed', 'pending'])('is not covered by a file with another test that is %s', (status) => {
    const partial = fileOf(passed, { ...other, status });
    expect(covered(partial)).toEqual([]);
    expect(coverage([partial]).flaws).toEqual([expect.stringContaining('as a whole')]);
    expect(covered(partial, fileOf(passed))).toEqual([ROW]);
  });

  it('is not covered by a file that failed outside its tests', () => {
    expect(covered({ ...fileOf(passed), status: 'failed' })).toEqual([]);
  });

  it('is not covered by a file that could not be loaded', () => {
    expect(coverage([fileOf()]).flaws).toEqual(['a.test.ts has no results, so it covers no rows.']);
  });
});

describe('A name', () => {
  it('belongs to one test of a file', () => {
    expect(coverage([fileOf(passed), fileOf(passed)]).flaws).toEqual([]);
    expect(coverage([fileOf(passed, other, other)]).flaws).toEqual([
      'a.test.ts has several tests named "something else".',
    ]);
  });
});

describe('A reason for an open requirement', () => {
  const csv = 'id,group,strength,revisions,statement\nA-01,A,MUST,"2025-06-18, 2025-11-25","Say ""hello"", then go."\n';
  const table = parseTable(csv);
  const problems = (rows: string[], shown: string[] = [], revision?: string) => {
    const covers = new Set(shown);
    const exemptions = [{ rows, reason: 'because', ...(revision !== undefined && { revision }) }];
    return inconsistencies(cellsOf(table, covers), exemptions, covers);
  };

  it('names a row of the table', () => {
    expect(table).toMatchObject([{ id: 'A-01', strength: 'MUST', statement: 'Say "hello", then go.' }]);
    expect(problems(['A-01'])).toEqual([]);
    expect(problems(['A-01'], [], '2025-11-25')).toEqual([]);
  });

  it('names neither a group nor a revision that the row does not apply to', () => {
    for (const id of ['A*', 'A', 'A-02']) expect(problems([id])).toEqual([expect.stringContaining('not a row')]);
    expect(problems(['A-01'], [], '2026-07-28')).toEqual([expect.stringContaining('not a row')]);
  });

  it('is not for a row that is covered', () => {
    expect(problems(['A-01'], ['A-01 2025-06-18'])).toEqual([expect.stringContaining('Remove its reason')]);
    expect(problems(['A-01'], ['A-01 2025-06-18'], '2025-11-25')).toEqual([]);
  });

  it('is of no use to a tag without a row', () => {
    expect(problems([], ['A-09 2025-06-18'])).toEqual(['A test covers A-09 2025-06-18, which is not a row.']);
  });
});

import { describe, expect, test } from '@jest/globals';

import { BARS, judge } from '../src/bars.js';
import { CASES } from '../src/cases.js';
import { readOptions } from '../src/options.js';
import { table } from '../src/report.js';
import { firstQuartile, median } from '../src/slices.js';

describe('options', () => {
  test('that make no sense are refused', () => {
    expect(() => readOptions(['--starts', 'many'])).toThrow('--starts is "many"');
    expect(() => readOptions(['--connections', '0'])).toThrow('--connections is "0"');
    expect(() => readOptions(['--cases', 'add,subtract'])).toThrow('unknown case "subtract"');
    expect(() => readOptions(['--only', 'nobody'])).toThrow('unknown entrant "nobody"');
    expect(() => readOptions(['--rounds', '3'])).toThrow("Unknown option '--rounds'");
  });

  test('choose cases', () => {
    expect(readOptions(['--cases', 'cold,add']).cases.map(({ name }) => name)).toEqual(['cold', 'add']);
    expect(readOptions([]).cases).toEqual(CASES);
  });
});

describe('bars', () => {
  test('are about lines that exist', () => {
    const lines = new Map(
      CASES.map((one) => [one.name, one.kind === 'slices' ? one.lines.map(({ name }) => name) : []]),
    );
    for (const [name, bars] of Object.entries(BARS)) {
      if (['sessions', 'cold'].includes(name)) continue;
      for (const line of Object.keys(bars)) expect(lines.get(name)).toContain(line);
    }
  });

  test('are missed beyond the margin only', () => {
    expect(judge([0.98, 0.97, 0.97], { atLeast: 1 })).toBe('reached');
    expect(judge([0.96, 0.97, 0.96], { atLeast: 1 })).toBe('missed');
    expect(judge([1040, 1050, 1054], { atMost: 1024 })).toBe('reached');
    expect(judge([1060, 1055, 1058], { atMost: 1024 })).toBe('missed');
  });

  test('cannot be judged when starts disagree, when the limit differs from itself, or without a start', () => {
    expect(judge([0.9, 1, 1.1], { atLeast: 1 })).toBe('noisy');
    expect(judge([0.9, 1, 1.1], { atLeast: 0.5 })).toBe('reached');
    expect(judge([0.9, 1, 1.1], { atLeast: 2 })).toBe('missed');
    expect(judge([1.05, 1.04, 1.05], { equal: 1 })).toBe('noisy');
    expect(judge([], { atLeast: 1 })).toBe('noisy');
  });

  test('are judged more surely with more starts', () => {
    expect(judge([0.8, 1.02, 1.2], { atLeast: 1 })).toBe('noisy');
    expect(judge([0.8, 0.9, 1.01, 1.02, 1.02, 1.03, 1.04, 1.1, 1.2], { atLeast: 1 })).toBe('reached');
    expect(judge([0.8, 0.9, 0.92, 0.93, 0.94, 0.95, 0.96, 1.1, 1.2], { atLeast: 1 })).toBe('missed');
    expect(judge([0.8, 0.85, 0.9, 0.95, 1, 1.05, 1.1, 1.15, 1.2], { atLeast: 1 })).toBe('noisy');
  });
});

describe('the report', () => {
  test('gives the median of the starts, and the cheap quarter of the slices', () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(firstQuartile([5, 1, 2, 3, 4])).toBe(2);
    const samples = [20, 25, 40].map((cost) => ({ cost, limit: 20, sameBytes: 22 }));
    const [, , row] = table([{ caseName: 'add', line: 'session', samples }]).split('\n');
    expect(row?.split('|').map((cell) => cell.trim())).toEqual([
      '',
      'add',
      'session',
      '20.0 µs',
      '25.0 µs',
      '0.80',
      '0.50 – 1.00',
      '0.88',
      '≥ 1.00, too noisy to tell',
      '',
    ]);
  });
});

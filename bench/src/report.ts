import { type Bar, BARS, judge, type Verdict } from './bars.js';
import type { Sample } from './entrant.js';
import { median } from './slices.js';

/** A line of the result with the samples of all starts. */
export interface Result {
  readonly caseName: string;
  readonly line: string;
  readonly samples: readonly Sample[];
}

const UNITS: Readonly<Record<string, string>> = { cold: 'ms', sessions: 'B' };

/** Limit ÷ server, or the cost itself if there is no limit. */
const valueOf = ({ cost, limit }: Sample): number => (limit === undefined ? cost : limit / cost);

const barOf = ({ caseName, line }: Result): Bar | undefined => BARS[caseName]?.[line];

/** The verdict on a line, or undefined if it has no bar. */
export function verdictOf(result: Result): Verdict | undefined {
  const bar = barOf(result);
  return bar && judge(result.samples.map(valueOf), bar);
}

const HEAD = ['case', 'server', 'limit', 'costs', 'limit ÷ server', 'starts', 'on the same bytes', 'bar'];

function cellsOf(result: Result): string[] {
  const { caseName, line, samples } = result;
  const unit = UNITS[caseName] ?? 'µs';
  const cost = (values: readonly (number | undefined)[]) => {
    const known = values.filter((value) => value !== undefined);
    if (known.length === 0) return '';
    const value = median(known);
    return `${value.toFixed(value < 100 ? 1 : 0)} ${unit}`;
  };
  const values = samples.filter(({ limit }) => limit !== undefined).map(valueOf);
  const same = samples.flatMap((sample) => (sample.sameBytes === undefined ? [] : [sample.sameBytes / sample.cost]));
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return [
    caseName,
    line,
    cost(samples.map(({ limit }) => limit)),
    cost(samples.map((sample) => sample.cost)),
    values.length === 0 ? '' : median(values).toFixed(2),
    values.length === 0 ? '' : `${least.toFixed(2)} – ${most.toFixed(2)}`,
    same.length === 0 ? '' : median(same).toFixed(2),
    barText(result),
  ];
}

const VERDICTS: Readonly<Record<Verdict, string>> = { reached: '', missed: ', missed', noisy: ', too noisy to tell' };

function barText(result: Result): string {
  const bar = barOf(result);
  const verdict = verdictOf(result);
  if (bar === undefined || verdict === undefined) return '';
  if ('atMost' in bar) return `≤ ${bar.atMost} B${VERDICTS[verdict]}`;
  if ('equal' in bar) return `= ${bar.equal.toFixed(2)}${VERDICTS[verdict]}`;
  return `≥ ${bar.atLeast.toFixed(2)}${VERDICTS[verdict]}`;
}

/** The results as a Markdown table. */
export function table(results: readonly Result[]): string {
  const rows = [HEAD, ...results.map(cellsOf)];
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const written = rows.map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`);
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [written[0], rule, ...written.slice(1)].join('\n');
}

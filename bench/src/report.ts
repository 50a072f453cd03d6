import type { Growth, Round } from './measure.js';
import type { Era } from './requests.js';

/** One line of the result: a server in one case. */
export interface Line {
  readonly name: string;
  readonly who: 'bare route' | Era;
  readonly rounds: readonly Round[];
  /** Of the same case, round by round. */
  readonly limit: readonly Round[];
}

/** What is left in memory, in one era. */
export interface GrowthLine extends Growth {
  readonly era: Era;
}

/** The least that `limit ÷ server` may be: the bare route costs 1, the server at most 1.4. */
const RATIO_BAR = 0.7;
/** Two collections never leave exactly the same heap: a call that kept anything at all would keep more than this. */
const HEAP_BAR = 16;

const micros = (rounds: readonly Round[]) => rounds.map(({ microsPerCall }) => microsPerCall);
const best = (values: readonly number[]) => Math.min(...values);

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? NaN) + (sorted[Math.floor(middle)] ?? NaN)) / 2;
}

/** Limit ÷ server, of the best rounds. */
const bestRatio = ({ rounds, limit }: Line) => best(micros(limit)) / best(micros(rounds));

/** The median of limit ÷ server in each round, so that noise that lasts longer than a round cancels out. */
const medianRatio = ({ rounds, limit }: Line) =>
  median(micros(rounds).map((value, index) => (limit[index]?.microsPerCall ?? NaN) / value));

const HEAD = ['case', 'server', 'CPU µs best', 'median', 'ratio best', 'median', 'request B', 'answer B'];

function cells(line: Line): string[] {
  const { name, who, rounds } = line;
  const [first] = rounds;
  return [
    name,
    who,
    best(micros(rounds)).toFixed(1),
    median(micros(rounds)).toFixed(1),
    bestRatio(line).toFixed(2),
    medianRatio(line).toFixed(2),
    String(first?.requestBytes),
    String(first?.answerBytes),
  ];
}

/** The result as a Markdown table. */
export function table(lines: readonly Line[]): string {
  const rows = [HEAD, ...lines.map(cells)];
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const written = rows.map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`);
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [written[0], rule, ...written.slice(1)].join('\n');
}

/** What the process kept, a line for each era. */
export function growthText(growth: readonly GrowthLine[]): string {
  return growth
    .map(
      ({ era, heapBytesPerCall, rssBytesPerCall }) =>
        `memory kept per call, ${era}: heap ${heapBytesPerCall.toFixed(2)} B, resident ${rssBytesPerCall.toFixed(2)} B`,
    )
    .join('\n');
}

/** Where a bar is missed. By best rounds: on a machine that does other things too, they are the steadiest. */
export function shortfalls(lines: readonly Line[], growth: readonly GrowthLine[]): string[] {
  const slow = lines
    .filter((line) => bestRatio(line) < RATIO_BAR)
    .map((line) => `${line.name}, ${line.who}: limit ÷ server is ${bestRatio(line).toFixed(2)}, below ${RATIO_BAR}`);
  const fat = growth
    .filter(({ heapBytesPerCall }) => heapBytesPerCall > HEAP_BAR)
    .map(({ era, heapBytesPerCall }) => `${era}: a call leaves ${heapBytesPerCall.toFixed(1)} B on the heap`);
  return [...slow, ...fat];
}

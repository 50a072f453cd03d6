import { type Census, growth } from './census.js';
import type { Ledger } from './ledger.js';
import type { Figures } from './measured.js';

/** Bytes of heap that a call may leave behind. */
const MAX_SLOPE = 8;
/** Bytes by which the heap of an idle process varies, whatever the number of calls. */
const HEAP_NOISE = 512 * 1024;
/** Fraction by which the memory of the process may grow from the first half to the second. */
const MAX_RSS_GROWTH = 0.1;
/** Bytes by which that memory varies in runs of a few minutes, on a machine that does other things too. */
const RSS_NOISE = 24 * 1024 * 1024;
/** Additional objects of one class, compared with a process that has done everything a few times. */
const MAX_OBJECTS = 200;

/** The outcome of a run. */
export interface Outcome {
  /** Before the first client. */
  readonly fresh: Figures;
  /** After the first half. */
  readonly between: Figures;
  /** After the second half, which repeats the first. */
  readonly last: Figures;
  readonly ledgers: readonly [first: Ledger, second: Ledger];
  /** Objects of a process that has done everything a few times. */
  readonly before: Census;
  /** Objects of the process at the end. */
  readonly after: Census;
}

/** A line of the table. */
interface Line {
  readonly what: string;
  readonly first: number | string;
  readonly second: number | string;
  readonly bar?: string;
  readonly missed?: boolean;
}

const MIB = 1024 * 1024;
const mib = (bytes: number) => `${(bytes / MIB).toFixed(1)} MiB`;

/** Prints the outcome. Returns the number of failures. */
export function report(outcome: Outcome): number {
  const lines = [...ledgerLines(outcome), ...memoryLines(outcome), ...leakLines(outcome)];
  console.log(`\n${table(lines)}\n`);
  console.log(`acts: ${actsOf(outcome)}\n`);
  const missed = lines.filter((line) => line.missed);
  const failures = outcome.ledgers.flatMap((ledger) => ledger.failures);
  for (const line of missed) console.error(`missed: ${line.what} is ${line.second}, bar ${line.bar}`);
  for (const failure of failures) console.error(failure);
  return missed.length + failures.length;
}

function actsOf({ ledgers: [first, second] }: Outcome): string {
  const names = new Set([...first.acts.keys(), ...second.acts.keys()]);
  return [...names].map((name) => `${name} ${(first.acts.get(name) ?? 0) + (second.acts.get(name) ?? 0)}`).join(', ');
}

function ledgerLines({ ledgers: [first, second] }: Outcome): Line[] {
  const line = (what: string, of: (ledger: Ledger) => number, bar?: number): Line => ({
    what,
    first: of(first),
    second: of(second),
    ...(bar !== undefined && { bar: String(bar), missed: of(first) + of(second) > bar }),
  });
  return [
    line('requests', ({ calls }) => calls),
    line('answered once', ({ answered }) => answered),
    line('cancelled or cut by the client', ({ abandoned }) => abandoned),
    line('failures', ({ failed }) => failed, 0),
  ];
}

function memoryLines({ between, last, ledgers: [, second] }: Outcome): Line[] {
  const heapGrowth = last.heap - between.heap;
  const slope = heapGrowth / second.calls;
  const grown = last.rss / between.rss - 1;
  return [
    { what: 'heap after collection', first: mib(between.heap), second: mib(last.heap) },
    {
      what: 'heap slope',
      first: '',
      second: `${slope.toFixed(2)} bytes a call`,
      bar: `below ${MAX_SLOPE}`,
      missed: !(slope < MAX_SLOPE) && heapGrowth > HEAP_NOISE,
    },
    { what: 'memory of the process', first: mib(between.rss), second: mib(last.rss) },
    {
      what: 'its growth',
      first: '',
      second: `${(grown * 100).toFixed(1)} %`,
      bar: `at most ${MAX_RSS_GROWTH * 100} %`,
      missed: !(grown <= MAX_RSS_GROWTH) && last.rss - between.rss > RSS_NOISE,
    },
  ];
}

function leakLines({ fresh, between, last, before, after }: Outcome): Line[] {
  const line = (what: string, of: (figures: Figures) => number): Line => {
    const [first, second, bar] = [of(between), of(last), of(fresh)];
    return { what, first, second, bar: String(bar), missed: first > bar || second > bar };
  };
  const kinds = new Set([fresh, between, last].flatMap(({ resources }) => Object.keys(resources)));
  const events = new Set([fresh, between, last].flatMap(({ listeners }) => Object.keys(listeners)));
  const classes = growth(before, after, MAX_OBJECTS);
  return [
    line('open sessions', ({ sessions }) => sessions),
    line('running handlers', ({ running }) => running),
    ...[...kinds].map((kind) => line(`resource ${kind}`, ({ resources }) => resources[kind] ?? 0)),
    ...[...events].map((event) => line(`listeners of ${event}`, ({ listeners }) => listeners[event] ?? 0)),
    ...classes.map((each) => ({
      what: `objects of ${each.name}`,
      first: '',
      second: each.after,
      bar: `${each.before} + ${MAX_OBJECTS}`,
      missed: true,
    })),
  ];
}

function table(lines: readonly Line[]): string {
  const rows = lines.map(({ what, first, second, bar = '', missed = false }) =>
    [what, String(first), String(second), bar, missed ? 'MISSED' : ''].map((cell) => cell),
  );
  const all = [['', 'first half', 'second half', 'bar', ''], ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  const pad = (cell: string, column: number) =>
    column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
  return all.map((row) => row.map(pad).join('  ').trimEnd()).join('\n');
}

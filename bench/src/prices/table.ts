import type { Measurement } from './measure.js';

const HEAD = [
  'message',
  'bytes',
  'dearest over',
  'CPU, µs per KiB',
  '÷ bare route',
  'at most',
  'kept, bytes per KiB',
  'at most',
];

const ratioOf = ({ micros, bare }: Measurement): number => micros / bare;

/** The prices as a Markdown table: for each kind, the most expensive way to send it. */
export function priceTable(measured: readonly Measurement[]): string {
  const kinds = new Map(measured.map((each) => [each.kind, measured.filter(({ kind }) => kind === each.kind)]));
  const rows = [...kinds].map(([kind, ways]) => {
    const dearest = ways.reduce((a, b) => (ratioOf(b) > ratioOf(a) ? b : a));
    const { bytes, way, micros } = dearest;
    return [
      kind.name,
      bytes.toLocaleString('en'),
      way,
      ((micros * 1024) / bytes).toFixed(0),
      ratioOf(dearest).toFixed(1),
      String(kind.cpu),
      Math.max(...ways.map(({ kept }) => kept)).toLocaleString('en', { maximumFractionDigits: 0 }),
      kind.kept.toLocaleString('en'),
    ];
  });
  const lines = [HEAD, HEAD.map((_, column) => ([0, 2].includes(column) ? '---' : '--:')), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** Describes how a measurement exceeds the price of its kind; undefined if it doesn't. */
export function excess({ kind, way, kept, ...spent }: Measurement): string | undefined {
  const ratio = spent.micros / spent.bare;
  if (ratio > kind.cpu) return `${kind.name} over ${way}: ${ratio.toFixed(1)} times the bare route, not ${kind.cpu}`;
  return kept > kind.kept
    ? `${kind.name} over ${way}: keeps ${kept.toFixed(0)} bytes per KiB, not ${kind.kept}`
    : undefined;
}

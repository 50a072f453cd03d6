import { plainLine } from 'create-decorum';

/** Lines of a table, with a row of titles. Cells are cut so that a line fits the width. */
export function tableOf(titles: readonly string[], cells: readonly (readonly unknown[])[], width = Infinity): string {
  const rows = [titles, ...cells.map((row) => row.map(plainLine))];
  const widths = titles.map((_title, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  const lines = rows.map((row) => {
    const padded = row.map((cell, at) => cell.padEnd(widths[at] ?? 0));
    return cut(padded.join('  ').trimEnd(), width);
  });
  return lines.join('\n');
}

/** Cuts a text to a number of characters. */
export const cut = (line: string, width: number): string =>
  line.length > width ? `${line.slice(0, width - 1)}…` : line;

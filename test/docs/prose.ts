// The inline code in the documentation.
import { textOf } from './blocks.js';

/** A piece of inline code. */
export interface Span {
  readonly page: string;
  readonly line: number;
  readonly text: string;
  /** In a table, the heading of its column. */
  readonly column: string | undefined;
}

const cellsOf = (row: string): string[] => row.split(/(?<!\\)\|/).slice(1, -1);

/** The inline code of a page, in order. */
export function spansOf(page: string): Span[] {
  const spans: Span[] = [];
  let inBlock = false;
  let columns: string[] | undefined;
  for (const [index, line] of textOf(page).split('\n').entries()) {
    if (/^ *```/.test(line)) inBlock = !inBlock;
    if (inBlock) continue;
    const isRow = line.startsWith('|');
    if (!isRow) columns = undefined;
    columns ??= isRow ? cellsOf(line).map((cell) => cell.trim()) : undefined;
    for (const [position, cell] of (isRow ? cellsOf(line) : [line]).entries()) {
      for (const [, text = ''] of cell.matchAll(/`([^`]+)`/g)) {
        spans.push({ page, line: index + 1, text, column: isRow ? columns?.[position] : undefined });
      }
    }
  }
  return spans;
}

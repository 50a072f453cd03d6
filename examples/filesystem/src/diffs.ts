import { formatPatch, structuredPatch } from 'diff';

const CONTEXT = 3;

/** Cap on the lines that are compared, times the lines that differ: a tenth of a second of CPU. */
const MAX_WORK = 5_000_000;
const MAX_CHANGES = 1000;
const MAX_LINES = 20_000;

/**
 * The changes of a file in the unified format. If too many lines differ, all lines between the first and the last one
 * that differ count as replaced.
 */
export function diffOf(path: string, before: string, after: string): string {
  const [from, to] = [linesOf(before), linesOf(after)];
  const least = Math.min(from.length, to.length);
  let start = 0;
  while (start < least && from[start] === to[start]) start += 1;
  let end = 0;
  while (end < least - start && from.at(-1 - end) === to.at(-1 - end)) end += 1;
  const [above, below] = [Math.min(start, CONTEXT), Math.min(end, CONTEXT)];
  const cut = (lines: readonly string[]) => lines.slice(start - above, lines.length - end + below);
  const [old, young] = [cut(from), cut(to)];
  const count = old.length + young.length;
  const options = { context: CONTEXT, maxEditLength: Math.min(MAX_CHANGES, Math.ceil(MAX_WORK / (count + 1))) };
  const texts = [old.join(''), young.join('')] as const;
  const precise =
    count > MAX_LINES ? undefined : structuredPatch(path, path, ...texts, 'original', 'modified', options);
  // without lines, only the names
  const patch = precise ?? structuredPatch(path, path, '', '', 'original', 'modified');
  if (precise === undefined) {
    const lines = [
      ...marked(' ', old.slice(0, above)),
      ...marked('-', old.slice(above, old.length - below)),
      ...marked('+', young.slice(above, young.length - below)),
      ...marked(' ', old.slice(old.length - below)),
    ];
    patch.hunks = [{ oldStart: 1, oldLines: old.length, newStart: 1, newLines: young.length, lines }];
  }
  const skipped = start - above;
  for (const hunk of patch.hunks) {
    hunk.oldStart += skipped;
    hunk.newStart += skipped;
  }
  return formatPatch(patch);
}

/** The lines of a text, with their line ends. */
const linesOf = (text: string) => (text === '' ? [] : text.split(/(?<=\n)/));

const marked = (mark: string, lines: readonly string[]) =>
  lines.flatMap((line) =>
    line.endsWith('\n') ? [mark + line.slice(0, -1)] : [mark + line, '\\ No newline at end of file'],
  );

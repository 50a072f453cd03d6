/** Lines around a change. */
const CONTEXT = 3;

/** The lines of a text, with their line breaks. */
const linesOf = (text: string): readonly string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

function shared(a: readonly string[], b: readonly string[]): number {
  const max = Math.min(a.length, b.length);
  let count = 0;
  while (count < max && a[count] === b[count]) count++;
  return count;
}

const marked = (mark: string, lines: readonly string[]) =>
  lines.map((line) => `${mark}${line.endsWith('\n') ? line : `${line}\n\\ No newline at end of file\n`}`);

const range = (from: number, count: number) => (count === 0 ? `${from},0` : `${from + 1},${count}`);

/**
 * The difference of two texts with one change, as `patch` and `git apply` read it.
 * @param before undefined if the file is new
 * @param after undefined if the file is removed
 */
export function unifiedDiff(path: string, before: string | undefined, after: string | undefined): string {
  if (before === after) return '';
  const [old, now] = [linesOf(before ?? ''), linesOf(after ?? '')];
  const head = shared(old, now);
  const tail = shared(old.slice(head).toReversed(), now.slice(head).toReversed());
  const from = Math.max(0, head - CONTEXT);
  const to = Math.max(0, tail - CONTEXT);
  const [oldPart, newPart] = [old.slice(from, old.length - to), now.slice(from, now.length - to)];
  return [
    `--- ${before === undefined ? '/dev/null' : path}\n`,
    `+++ ${after === undefined ? '/dev/null' : path}\n`,
    `@@ -${range(from, oldPart.length)} +${range(from, newPart.length)} @@\n`,
    ...marked(' ', old.slice(from, head)),
    ...marked('-', old.slice(head, old.length - tail)),
    ...marked('+', now.slice(head, now.length - tail)),
    ...marked(' ', old.slice(old.length - tail, old.length - to)),
  ].join('');
}

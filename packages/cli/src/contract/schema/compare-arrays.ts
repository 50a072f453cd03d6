import type { Contains, Form } from './form.js';
import { counted, type Comparing, limit, type Problem } from './problem.js';
import type { Schemas } from './schemas.js';

type Path = readonly string[];

/** Why some arrays of `a` don't fit `b`. */
export function compareArrays(
  { schemas, comparing }: { readonly schemas: Schemas; readonly comparing: Comparing },
  { a, b }: { readonly a: Form; readonly b: Form },
  path: Path,
): readonly Problem[] {
  const problems: Problem[] = [];
  const prefix = Math.max(0, ...[...a.arrays, ...b.arrays].map((part) => part.prefix.length));
  // the item after the last prefix stands for all others
  const items = Array.from({ length: prefix + 1 }, (_item, index) => schemas.item(a, index));
  const never = items.findIndex((item) => schemas.isNever(item));
  const most = Math.min(a.maxItems, never === -1 ? Infinity : never);
  if (a.minItems > most) return [];
  for (const [index, item] of items.slice(0, most).entries()) {
    const step = index < prefix ? `[${index}]` : '[]';
    problems.push(...comparing.fits(item, schemas.item(b, index), [...path, step]));
  }
  if (b.minItems > a.minItems) problems.push(limit(path, `at least ${counted(b.minItems, 'item', 'items')} long`));
  if (b.maxItems < most) problems.push(limit(path, `at most ${counted(b.maxItems, 'item', 'items')} long`));
  if (b.isUnique && !a.isUnique && most > 1) problems.push(limit(path, 'without repeated items'));
  for (const searched of b.contains) {
    if (searched.min <= 0 && searched.max === Infinity) continue;
    if (a.contains.some((own) => isMore(own, searched, comparing))) continue;
    const isFull = a.minItems >= searched.min && most <= searched.max;
    const used = items.slice(0, most);
    if (isFull && used.every((item) => comparing.fits(item, searched.node, path).length === 0)) continue;
    problems.push(limit(path, 'with certain items (`contains`)'));
  }
  return problems;
}

/** Whether an array that contains one thing contains another too. */
function isMore(own: Contains, searched: Contains, { fits }: Comparing): boolean {
  if (own.min < searched.min || fits(own.node, searched.node, []).length > 0) return false;
  return searched.max === Infinity || (own.max <= searched.max && fits(searched.node, own.node, []).length === 0);
}

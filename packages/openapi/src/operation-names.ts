import type { Operation } from './operation.js';

/** Tools may have names of this length. */
const MAX_NAME = 128;

/** A name in the alphabet of tools. */
function cleaned(name: string, length: number): string {
  return name
    .replaceAll(/[^A-Za-z0-9_.-]+/g, '_')
    .slice(0, length)
    .replaceAll(/^_+|_+$/g, '');
}

/**
 * The names of operations: the `operationId`, or else the method and the path. If two would be the same, the later one
 * in the document gets a number: `list_2`.
 * @param prefix what is put before each name
 */
export function namesOf(operations: readonly Operation[], prefix: string): ReadonlyMap<Operation, string> {
  const length = MAX_NAME - prefix.length;
  const names = new Map<Operation, string>();
  const taken = new Set<string>();
  // where to go on counting, or a thousand equal names would take a million steps
  const counts = new Map<string, number>();
  for (const operation of operations) {
    const { operationId = '', method, path } = operation;
    const base = cleaned(operationId, length) || cleaned(method.toLowerCase() + path, length);
    let name = base;
    for (let count = counts.get(base) ?? 2; taken.has(name); count += 1) {
      counts.set(base, count);
      const suffix = `_${count}`;
      name = base.slice(0, length - suffix.length) + suffix;
    }
    taken.add(name);
    names.set(operation, name);
  }
  return names;
}

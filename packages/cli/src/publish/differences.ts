const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

const textOf = (value: unknown): string => (value === undefined ? 'nothing' : JSON.stringify(value));

/**
 * Where two JSON values differ, one line each. The order of members doesn't matter.
 * @param found what there is
 * @param wanted what there should be
 */
export function differencesBetween(found: unknown, wanted: unknown, path = ''): readonly string[] {
  if (!isObject(found) || !isObject(wanted) || Array.isArray(found) !== Array.isArray(wanted)) {
    return found === wanted ? [] : [`${path || 'all'}: ${textOf(found)} should be ${textOf(wanted)}`];
  }
  const [left, right] = [found as Record<string, unknown>, wanted as Record<string, unknown>];
  const names = new Set([...Object.keys(left), ...Object.keys(right)]);
  const pathOf = (name: string) => (Array.isArray(found) ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`);
  return [...names].flatMap((name) => differencesBetween(left[name], right[name], pathOf(name)));
}

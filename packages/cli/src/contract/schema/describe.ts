import type { Problem, Reason } from './problem.js';

/** What a schema is for. */
export type Side = 'input' | 'output';

/** What a difference means for clients: it breaks some, or it doesn't. */
type Effect = 'breaking' | 'widening';

type Phrases = { readonly [K in Reason['code']]: (reason: Extract<Reason, { code: K }>) => string };

const PLURALS: Readonly<Record<string, string>> = { null: 'null' };
const plural = (type: string): string => PLURALS[type] ?? `${type}s`;
const single = (type: string): string => {
  if (type === 'null') return 'null';
  return `${/^[aio]/.test(type) ? 'an' : 'a'} ${type}`;
};

/** Properties without a name. */
const isOther = (path: readonly string[]): boolean => path.at(-1) === '*';

const PHRASES: Readonly<Record<`${Side} ${Effect}`, Phrases>> = {
  'input breaking': {
    required: () => 'is now required',
    unexpected: () => 'is gone',
    new: () => 'is new',
    type: ({ type }) => `no longer accepts ${plural(type)}`,
    value: ({ value }) => `no longer accepts ${value}`,
    values: ({ values }) => `now accepts only ${values}`,
    limit: (each) => `must now be ${each.limit}`,
    unknown: ({ why }) => `may no longer accept what it did: ${why}`,
  },
  'input widening': {
    required: () => 'is no longer required',
    unexpected: () => 'is new',
    new: () => 'is new',
    type: ({ type }) => `also accepts ${plural(type)}`,
    value: ({ value }) => `also accepts ${value}`,
    values: ({ values }) => `accepts more than ${values}`,
    limit: (each) => `need no longer be ${each.limit}`,
    unknown: () => 'may accept more',
  },
  'output breaking': {
    required: () => 'may now be missing',
    unexpected: () => 'is new, but the schema that clients know allows no other fields',
    new: () => 'is new',
    type: ({ type }) => `may now be ${single(type)}`,
    value: ({ value }) => `may now be ${value}`,
    values: ({ values }) => `may now be something else than ${values}`,
    limit: (each) => `is no longer always ${each.limit}`,
    unknown: ({ why }) => `may no longer fit the schema that clients know: ${why}`,
  },
  'output widening': {
    required: () => 'is always there now',
    unexpected: () => 'is never there now',
    new: () => 'is new',
    type: ({ type }) => `is no longer ${single(type)}`,
    value: ({ value }) => `is no longer ${value}`,
    values: ({ values }) => `is now one of ${values}`,
    limit: (each) => `is now always ${each.limit}`,
    unknown: () => 'may be narrower',
  },
};

/** A path as people write it: `items[].price`. */
export const written = (path: readonly string[]): string =>
  path.reduce((text, step) => (text === '' || /^\[\d*\]$/.test(step) ? `${text}${step}` : `${text}.${step}`), '');

/** What a path is about: `argument "items[].price"`. */
export function subject(path: readonly string[], side: Side): string {
  if (path.length === 0) return side === 'input' ? 'the input' : 'the result';
  return `${side === 'input' ? 'argument' : 'result'} "${written(path)}"`;
}

/** Says what has changed. */
export function describe({ path, reason }: Problem, side: Side, effect: Effect): string {
  if (isOther(path) && reason.code === 'unexpected') {
    const verb = (side === 'input') === (effect === 'breaking') ? 'no longer has' : 'may now have';
    return `${subject(path.slice(0, -1), side)} ${verb} other properties`;
  }
  const phrase = PHRASES[`${side} ${effect}`][reason.code] as (reason: Reason) => string;
  return `${subject(path, side)} ${phrase(reason)}`;
}

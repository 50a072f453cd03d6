import { parseArgs } from 'node:util';

import { type Case, CASES } from './cases.js';

/** How to run the benchmark. */
export interface Options {
  /** How often everything is started anew: two processes that run the same code differ by a few percent. */
  readonly starts: number;
  readonly connections: number;
  readonly cases: readonly Case[];
  /** Entrants that run; by default all. */
  readonly only: readonly string[] | undefined;
  /** Fail when a bar is missed, or when it is too noisy to tell. */
  readonly check: boolean;
  /** Measure other frameworks instead. */
  readonly peers: boolean;
}

const count = (name: string, text: string): number => {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1) return value;
  throw new Error(`--${name} is "${text}", but must be a whole number from 1`);
};

const NAMES = CASES.map(({ name }) => name);

/**
 * Reads the command line.
 * @throws {Error} for options that do not exist or make no sense
 */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      starts: { type: 'string', default: '3' },
      connections: { type: 'string', default: '64' },
      cases: { type: 'string', default: NAMES.join(',') },
      only: { type: 'string' },
      check: { type: 'boolean', default: false },
      peers: { type: 'boolean', default: false },
    },
  });
  const cases = values.cases.split(',').map((wanted) => {
    const found = CASES.find(({ name }) => name === wanted);
    if (found === undefined) throw new Error(`--cases: there is no "${wanted}", only ${NAMES.join(', ')}`);
    return found;
  });
  const only = values.only?.split(',');
  const entrants = new Set(cases.flatMap((one) => (one.kind === 'slices' ? one.entrants.map(({ name }) => name) : [])));
  const stranger = only?.find((name) => !entrants.has(name));
  if (stranger !== undefined) throw new Error(`--only: there is no "${stranger}", only ${[...entrants].join('; ')}`);
  return {
    cases,
    starts: count('starts', values.starts),
    connections: count('connections', values.connections),
    only,
    check: values.check,
    peers: values.peers,
  };
}

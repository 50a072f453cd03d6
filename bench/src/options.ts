import { parseArgs } from 'node:util';

import { type Case, CASES } from './cases.js';

/** Options of the benchmark. */
export interface Options {
  /** Number of fresh starts. Two processes with the same code differ by a few percent. */
  readonly starts: number;
  readonly connections: number;
  readonly cases: readonly Case[];
  /** Entrants to run, by default all. */
  readonly only: readonly string[] | undefined;
  /** Fail if a bar is missed or the result is too noisy to tell. */
  readonly check: boolean;
  /** Measure other frameworks instead. */
  readonly peers: boolean;
}

const count = (name: string, text: string): number => {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1) return value;
  throw new Error(`--${name} is "${text}", but must be a whole number of at least 1.`);
};

const NAMES = CASES.map(({ name }) => name);

/**
 * Parses the command line.
 * @throws {Error} for unknown options and invalid values
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
    if (found === undefined) throw new Error(`--cases: unknown case "${wanted}". Use ${NAMES.join(', ')}.`);
    return found;
  });
  const only = values.only?.split(',');
  const entrants = new Set(cases.flatMap((one) => (one.kind === 'slices' ? one.entrants.map(({ name }) => name) : [])));
  const unknown = only?.find((name) => !entrants.has(name));
  if (unknown !== undefined) throw new Error(`--only: unknown entrant "${unknown}". Use ${[...entrants].join('; ')}.`);
  return {
    cases,
    starts: count('starts', values.starts),
    connections: count('connections', values.connections),
    only,
    check: values.check,
    peers: values.peers,
  };
}

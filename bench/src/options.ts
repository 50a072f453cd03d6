import { parseArgs } from 'node:util';

import type { ToolName } from './requests.js';

/** One thing to compare: a tool, on a server with so many others. */
export interface Case {
  readonly name: string;
  readonly tool: ToolName;
  readonly moreTools: number;
  /** Share of the calls of a round: an expensive call needs fewer for the same precision. */
  readonly share: number;
}

const CASES: readonly Case[] = [
  { name: 'add', tool: 'add', moreTools: 0, share: 1 },
  { name: 'echo', tool: 'echo', moreTools: 0, share: 0.25 },
  { name: 'add-1000', tool: 'add', moreTools: 1000, share: 1 },
];

/** How to run the benchmark. */
export interface Options {
  /** How often all servers are started anew: two processes that run the same code differ by a few percent. */
  readonly starts: number;
  /** Of each start. */
  readonly rounds: number;
  readonly calls: number;
  readonly connections: number;
  readonly cases: readonly Case[];
  /** Calls over which memory is watched; 0 leaves it out. */
  readonly memoryCalls: number;
  /** Fail when a bar is missed. */
  readonly check: boolean;
}

const count = (name: string, text: string, least: number): number => {
  const value = Number(text);
  if (Number.isInteger(value) && value >= least) return value;
  throw new Error(`--${name} is "${text}", but must be a whole number from ${least}`);
};

/**
 * Reads the command line.
 * @throws {Error} for options that do not exist or make no sense
 */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      starts: { type: 'string', default: '3' },
      rounds: { type: 'string', default: '4' },
      calls: { type: 'string', default: '15000' },
      connections: { type: 'string', default: '64' },
      cases: { type: 'string', default: CASES.map(({ name }) => name).join(',') },
      'memory-calls': { type: 'string', default: '200000' },
      check: { type: 'boolean', default: false },
    },
  });
  const cases = values.cases.split(',').map((wanted) => {
    const found = CASES.find(({ name }) => name === wanted);
    if (found === undefined)
      throw new Error(`--cases: there is no "${wanted}", only ${CASES.map(({ name }) => name).join(', ')}`);
    return found;
  });
  return {
    cases,
    starts: count('starts', values.starts, 1),
    rounds: count('rounds', values.rounds, 1),
    calls: count('calls', values.calls, 1),
    connections: count('connections', values.connections, 1),
    memoryCalls: count('memory-calls', values['memory-calls'], 0),
    check: values.check,
  };
}

import { parseArgs } from 'node:util';

/** Options of the soak. */
export interface Options {
  /** Length of the run, without the time that the server takes to start and to become idle. */
  readonly minutes: number;
  readonly seed: string;
  /** Prefixes of the names of the workers to run. Defaults to all workers. */
  readonly only: readonly string[];
  /** Number of processes that share a Redis. With 0, one process without Redis is measured. */
  readonly nodes: number;
}

/**
 * Parses the command line.
 * @throws {Error} for unknown options and invalid values
 */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: 'string', default: '10' },
      // a new seed each time, because CI would otherwise find the same things each day
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      only: { type: 'string', default: '' },
      nodes: { type: 'string', default: '0' },
    },
  });
  const minutes = Number(values.minutes);
  if (!(minutes > 0)) throw new Error(`--minutes is "${values.minutes}", but must be a number above 0.`);
  const nodes = Number(values.nodes);
  if (!(Number.isInteger(nodes) && nodes >= 0 && nodes !== 1))
    throw new Error(`--nodes is "${values.nodes}", but must be a whole number above 1.`);
  return { minutes, seed: values.seed, only: values.only.split(','), nodes };
}

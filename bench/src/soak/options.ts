import { parseArgs } from 'node:util';

/** Options of the soak. */
export interface Options {
  /** Length of the run, without the time that the server takes to start and to become idle. */
  readonly minutes: number;
  readonly seed: string;
  /** Prefixes of the names of the workers to run. Defaults to all workers. */
  readonly only: readonly string[];
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
    },
  });
  const minutes = Number(values.minutes);
  if (!(minutes > 0)) throw new Error(`--minutes is "${values.minutes}", but must be a number above 0.`);
  return { minutes, seed: values.seed, only: values.only.split(',') };
}

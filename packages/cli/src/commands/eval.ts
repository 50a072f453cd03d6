import { Command, InvalidArgumentError } from 'commander';

import { readEnv } from '../start/env-file.js';

interface Given {
  readonly repeat: number;
  readonly min: number;
  readonly concurrency: number;
  readonly timeout: number;
  readonly envFile?: string;
  readonly json?: true;
}

/** Reads a number from a range. */
const number =
  (range: { readonly min: number; readonly max: number; readonly isWhole: boolean }, expected: string) =>
  (text: string): number => {
    const value = Number(text);
    const isNumber = range.isWhole ? /^\d+$/.test(text) : /^\d+(?:\.\d+)?$/.test(text);
    if (isNumber && value >= range.min && value <= range.max) return value;
    throw new InvalidArgumentError(expected);
  };

const times = number({ min: 1, max: 1000, isWhole: true }, 'Pass a whole number from 1 to 1000.');
const atOnce = number({ min: 1, max: 100, isWhole: true }, 'Pass a whole number from 1 to 100.');
const share = number({ min: 0, max: 1, isWhole: false }, 'Pass a share from 0 to 1, such as 0.9.');
const seconds = number({ min: 0.001, max: 3600, isWhole: false }, 'Pass a number of seconds up to 3600.');

/** `decorum eval` */
export function evalCommand(): Command {
  return new Command('eval')
    .summary('Asks a model which tools it would call')
    .description('Asks a model a table of questions, and counts how often it chooses the right tool')
    .argument('<file>', 'exports `server`, `model` and `questions`')
    .option('--repeat <times>', 'how often to ask each question', times, 1)
    .option('--min <share>', 'share of right choices to pass', share, 0.9)
    .option('--concurrency <number>', 'how many questions to ask at the same time', atOnce, 4)
    .option('--timeout <seconds>', 'time for a choice', seconds, 60)
    .option('--env-file <file>', 'read variables from a file; those already set win')
    .option('--json', 'print the report as JSON')
    .action(async (file: string, { timeout, json, envFile, ...numbers }: Given) => {
      readEnv(envFile);
      const { evaluate } = await import('../eval/eval.js');
      const { repeat, min, concurrency } = numbers;
      await evaluate({ file, repeat, min, concurrency, timeoutMs: timeout * 1000, json: json === true });
    });
}

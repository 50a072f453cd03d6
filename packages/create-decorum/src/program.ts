import { inspect } from 'node:util';

import { type Command, CommanderError } from 'commander';

import { CommandFailure, EXIT } from './failure.js';
import { plainText } from './plain-text.js';

/** Whether to print the stack of an error. `--debug` may be anywhere before the arguments of another program. */
const isDebugging = (): boolean => OPTIONS.includes('--debug');

// read now, because a command may replace the arguments for a program that it runs
const OPTIONS = process.argv.includes('--') ? process.argv.slice(0, process.argv.indexOf('--')) : [...process.argv];

function exitCodeOf(error: unknown): number {
  if (error instanceof CommandFailure) return error.exitCode;
  // commander has printed what was wrong; 0 is for `--help` and `--version`
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  return EXIT.failed;
}

/**
 * Prints an error: its message or, with `--debug`, its stack and the stacks of its causes.
 * @param error a `CommandFailure`, or an unexpected error
 */
export function printFailure(error: unknown): void {
  process.stderr.write(`${plainText(isDebugging() ? inspect(error) : messageOf(error))}\n`);
}

function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return error instanceof CommandFailure ? message : `${message}\nAdd --debug to see where this comes from.`;
}

/**
 * Runs a program and sets the exit code of the process.
 * @param program its commands throw `CommandFailure` for failures that the user can fix
 */
export async function runProgram(program: Command): Promise<void> {
  try {
    await program.parseAsync();
  } catch (error) {
    process.exitCode = exitCodeOf(error);
    if (error instanceof CommanderError) return;
    printFailure(error);
  }
}

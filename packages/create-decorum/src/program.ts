import { inspect } from 'node:util';

import { type Command, CommanderError } from 'commander';

import { CommandFailure, EXIT } from './failure.js';

/** Whether to print the stack of an error: by `--debug`, anywhere before the arguments of another program. */
const isDebugging = (): boolean => OPTIONS.includes('--debug');

// read now: a command may run a program that sees other arguments
const OPTIONS = process.argv.includes('--') ? process.argv.slice(0, process.argv.indexOf('--')) : [...process.argv];

function exitCodeOf(error: unknown): number {
  if (error instanceof CommandFailure) return error.exitCode;
  // commander has printed what was wrong; 0 is for `--help` and `--version`
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  return EXIT.failed;
}

/**
 * Prints what went wrong: the message, or with `--debug` the stack and those of its causes.
 * @param error a `CommandFailure`, or an error that no command expects
 */
export function printFailure(error: unknown): void {
  process.stderr.write(`${isDebugging() ? inspect(error) : messageOf(error)}\n`);
}

function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return error instanceof CommandFailure ? message : `${message}\nAdd --debug to see where this comes from.`;
}

/**
 * Runs a program and sets the exit code of the process.
 * @param program its commands throw `CommandFailure` for whatever the user can mend
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

import { type Command, CommanderError } from 'commander';

import { CommandFailure, EXIT } from './failure.js';

/** Whether to print the stack of an error: by `--debug`, anywhere among the arguments. */
const isDebugging = (): boolean => process.argv.includes('--debug');

function exitCodeOf(error: unknown): number {
  if (error instanceof CommandFailure) return error.exitCode;
  // commander has printed what was wrong; 0 is for `--help` and `--version`
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  return EXIT.failed;
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
    const { message, stack } = error instanceof Error ? error : { message: String(error), stack: undefined };
    process.stderr.write(`${isDebugging() ? (stack ?? message) : message}\n`);
  }
}

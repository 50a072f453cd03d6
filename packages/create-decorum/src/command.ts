import { Command } from 'commander';

/**
 * The command that creates a project: `create-decorum` and `decorum new`.
 * @param name how its help calls it
 */
export function createCommand(name: string): Command {
  return new Command(name)
    .description('Creates a Decorum project')
    .option('--debug', 'print the stack of an error')
    .exitOverride();
}

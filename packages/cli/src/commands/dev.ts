import { Command } from 'commander';

/** `decorum dev` */
export function devCommand(): Command {
  return new Command('dev');
}

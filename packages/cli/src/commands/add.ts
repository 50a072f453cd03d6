import { Command } from 'commander';

/** `decorum add` */
export function addCommand(): Command {
  return new Command('add');
}

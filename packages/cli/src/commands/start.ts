import { Command } from 'commander';

/** `decorum start` */
export function startCommand(): Command {
  return new Command('start');
}

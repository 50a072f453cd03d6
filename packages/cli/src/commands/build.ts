import { Command } from 'commander';

/** `decorum build` */
export function buildCommand(): Command {
  return new Command('build');
}

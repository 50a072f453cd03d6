import { statSync } from 'node:fs';

import { Command } from 'commander';

import { build } from '../build/build.js';
import { shown } from '../entry.js';
import { bundle } from '../mcpb/bundle.js';

const megabytes = (path: string) => (statSync(path).size / 1_000_000).toFixed(1);

/** `decorum build` */
export function buildCommand(): Command {
  return new Command('build')
    .description('Compiles the project, and checks that its server can be created')
    .argument('[entry]', 'file to check; default: the first of src/{main,server,index}.ts')
    .option('--mcpb', 'write a bundle for desktop clients: NAME.mcpb')
    .action(async (entry: string | undefined, { mcpb }: { readonly mcpb?: true }) => {
      const built = await build(entry);
      if (!mcpb) return;
      const path = await bundle(built);
      process.stdout.write(`${shown(path)}   ${megabytes(path)} MB\n`);
    });
}

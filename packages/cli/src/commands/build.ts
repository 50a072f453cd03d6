import { Command } from 'commander';

/** `decorum build` */
export function buildCommand(): Command {
  return new Command('build')
    .summary('Compiles the project and checks its server')
    .description('Compiles the project, and checks that its server can be created')
    .argument('[entry]', 'file to check (default: first of src/{main,server,index}.ts)')
    .option('--mcpb', 'write a bundle that desktop clients install: NAME.mcpb')
    .action(async (entry: string | undefined, { mcpb }: { readonly mcpb?: true }) => {
      const { build } = await import('../build/build.js');
      const built = await build(entry);
      if (!mcpb) return;
      const { bundle } = await import('../mcpb/bundle.js');
      const { path, megabytes } = await bundle(built);
      process.stdout.write(`${path}   ${megabytes.toFixed(1)} MB\n`);
    });
}

import { Command } from 'commander';
import { CommandFailure, EXIT } from 'create-decorum';

import type { Built } from '../build/build.js';

interface Given {
  readonly bundle?: true;
  readonly external?: readonly string[];
  readonly mcpb?: true;
}

/** `decorum build` */
export function buildCommand(): Command {
  return new Command('build')
    .summary('Compiles the project and checks its server')
    .description('Compiles the project, and checks that its server can be created')
    .argument('[entry]', 'file to check (default: first of src/{main,server,index}.ts)')
    .option('--bundle', 'write one file with all packages, which starts faster: dist/bundle/main.js (needs rolldown)')
    .option('--external <names...>', 'packages that stay beside the bundle')
    .option('--mcpb', 'write a bundle that desktop clients install: NAME.mcpb')
    .action(run);
}

async function run(entry: string | undefined, { bundle: isBundled, external, mcpb }: Given): Promise<void> {
  if (external && !isBundled) throw new CommandFailure('--external needs --bundle. Pass both.', EXIT.usage);
  // imported here, because other commands don't need it
  const { build } = await import('../build/build.js');
  const built = await build(entry);
  if (isBundled) await writeBundle(built, external);
  if (!mcpb) return;
  const { bundle } = await import('../mcpb/bundle.js');
  const { path, megabytes } = await bundle(built);
  process.stdout.write(`${path}   ${megabytes.toFixed(1)} MB\n`);
}

async function writeBundle(built: Built, external: readonly string[] | undefined): Promise<void> {
  const { bundle } = await import('../bundle/bundle.js');
  const { reportOf } = await import('../bundle/report.js');
  const bundled = await bundle({ built, ...(external && { external }) });
  for (const line of reportOf(bundled)) process.stdout.write(`${line}\n`);
}

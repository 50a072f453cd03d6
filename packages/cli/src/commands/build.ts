import { realpathSync } from 'node:fs';
import { dirname, relative } from 'node:path';

import { Command } from 'commander';
import { CommandFailure, EXIT } from 'create-decorum';

import type { Built } from '../build/build.js';
import type { Bundled } from '../bundle/bundle.js';
import { closest } from '../entry.js';

interface Given {
  readonly bundle?: true;
  readonly external?: readonly string[];
  readonly docker?: true;
  readonly force?: true;
  readonly mcpb?: true;
}

/** `decorum build` */
export function buildCommand(): Command {
  return new Command('build')
    .summary('Compiles the project and checks its server')
    .description('Compiles the project, and checks that its server can be created')
    .argument('[entry]', 'file to check (default: first of src/{main,server,index}.ts)')
    .option('--bundle', 'write dist/bundle/main.js, one file with all packages (needs rolldown)')
    .option('--external <names...>', 'packages that stay beside the bundle')
    .option('--docker', 'write a Dockerfile and a .dockerignore')
    .option('--force', 'replace a Dockerfile or .dockerignore that is different')
    .option('--mcpb', 'write a bundle that desktop clients install: NAME.mcpb')
    .action(run);
}

async function run(entry: string | undefined, given: Given): Promise<void> {
  if (given.external && !given.bundle) throw new CommandFailure('--external needs --bundle. Pass both.', EXIT.usage);
  if (given.force && !given.docker) throw new CommandFailure('--force needs --docker. Pass both.', EXIT.usage);
  // imported here, because other commands don't need it
  const { build } = await import('../build/build.js');
  const built = await build(entry);
  const bundled = given.bundle && (await writeBundle(built, given.external));
  if (given.docker) await writeDocker(built, { entry, given, bundled });
  if (!given.mcpb) return;
  const { bundle } = await import('../mcpb/bundle.js');
  const { path, megabytes } = await bundle(built, given.bundle);
  process.stdout.write(`${path}   ${megabytes.toFixed(1)} MB\n`);
}

async function writeBundle(built: Built, external: readonly string[] | undefined): Promise<Bundled> {
  const { bundle } = await import('../bundle/bundle.js');
  const { reportOf } = await import('../bundle/report.js');
  const bundled = await bundle({ built, ...(external && { external }) });
  for (const line of reportOf(bundled)) process.stdout.write(`${line}\n`);
  return bundled;
}

interface DockerCall {
  readonly entry: string | undefined;
  readonly given: Given;
  readonly bundled: Bundled | undefined;
}

async function writeDocker({ file, server }: Built, { entry, given, bundled }: DockerCall): Promise<void> {
  const { writeDockerFiles } = await import('../docker/write-files.js');
  const project = closest(dirname(realpathSync(file)), 'package.json');
  if (project === undefined) throw new CommandFailure('An image needs a package.json, and there is none.');
  const external = given.external ? ['--external', ...given.external] : [];
  // as the image has it
  const source = entry === undefined ? [] : [relative(project, realpathSync(entry)).replaceAll('\\', '/')];
  const args = [...source, ...(bundled ? ['--bundle', ...external] : [])];
  const bundle = bundled && { bundle: bundled };
  const image = { project, file: bundled?.file ?? realpathSync(file), args, ...bundle };
  const written = writeDockerFiles({ ...image, server, force: given.force ?? false });
  process.stdout.write(`${written.length > 0 ? written.join(', ') : 'Dockerfile, .dockerignore: nothing changed'}\n`);
}

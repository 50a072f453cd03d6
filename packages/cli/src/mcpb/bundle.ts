/** `decorum build --mcpb`: an MCP Bundle (github.com/anthropics/mcpb), which desktop clients install with a click. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

import { CommandFailure } from 'create-decorum';

import type { Built } from '../build/build.js';
import { bundle as bundleProgram, bundleFolder, isBundle } from '../bundle/bundle.js';
import { closest, type Exported, EXPORT_A_SERVER, shown, takesStdio } from '../entry.js';
import { type Format, formatOf } from '../loader/format.js';
import { isFile, isOwn } from '../loader/resolve.js';
import { plainName } from '../publish/project.js';
import { placeDependencies, readManifest } from './dependencies.js';
import { copy, newFolder, zip } from './files.js';
import { ICON, manifestOf } from './manifest.js';
import { published } from './published.js';
import { tryProgram } from './try.js';

/** The file in a bundle that serves the program's exported server. */
const MAIN = 'main.mjs';

const MAKE: Readonly<Record<Exported['as'], (value: string) => string>> = {
  instance: (value) => value,
  class: (value) => `new ${value}()`,
  function: (value) => `await ${value}()`,
};

/** Code that serves a program's exported server without this package. */
function mainOf(program: string, { name, as }: Exported, format: Format): string {
  const imported = format === 'commonjs' ? 'program' : '* as program';
  return [
    `import { serveStdio } from '@decorum/core';`,
    ``,
    `import ${imported} from ${JSON.stringify(program)};`,
    ``,
    `await serveStdio(${MAKE[as](`(await program.${name})`)});`,
    ``,
  ].join('\n');
}

/** Copies the files that a package publishes, and `more`. */
function copyPublished(from: string, to: string, more: readonly string[]): void {
  const { paths, isExcluded } = published(from, readManifest(from).files ?? []);
  for (const path of new Set([...more, ...paths])) {
    copy(join(from, path), join(to, path), (each) => isExcluded(relative(from, each).replaceAll('\\', '/')));
  }
}

/** Copies a package. In the same workspace, its folder also has sources and tests, which aren't copied. */
function copyPackage(from: string, to: string): void {
  if (isOwn(from) && readManifest(from).files !== undefined) copyPublished(from, to, ['package.json']);
  else copy(from, to);
}

/** The project's icon, if it has one. */
const iconOf = (project: string): readonly string[] => (isFile(join(project, ICON)) ? [ICON] : []);

/** Collects the files. Returns the file to start, and its arguments. */
function collect(project: string, folder: string, { file, server }: Built): readonly string[] {
  const source = readFileSync(file, 'utf8');
  const program = relative(project, file).replaceAll('\\', '/');
  const [outDir = program] = program.split('/');
  copyPublished(project, folder, [outDir, ...iconOf(project)]);
  // of `decorum build --bundle`
  const unused = join(folder, outDir, 'bundle');
  if (isBundle(unused)) rmSync(unused, { recursive: true });
  const { name, version, type } = readManifest(project);
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify({ name, version, type, private: true }, null, 2)}\n`);
  for (const [path, from] of placeDependencies(project)) copyPackage(from, join(folder, path));
  if (server?.exported === undefined) return takesStdio(source) ? [program, '--stdio'] : [program];
  writeFileSync(join(folder, MAIN), mainOf(`./${program}`, server.exported, formatOf(file, source)));
  return [MAIN];
}

/** Collects the files of a program that becomes one file, and those that it reads. */
async function collectBundled(project: string, folder: string, built: Built): Promise<readonly string[]> {
  const { file, server } = built;
  const source = readFileSync(file, 'utf8');
  const exported = server?.exported;
  copyPublished(project, folder, iconOf(project));
  const target = join(folder, relative(project, bundleFolder(project, file)));
  rmSync(dirname(target), { recursive: true, force: true });
  const serving = exported && mainOf(file, exported, formatOf(file, source));
  const { reads } = await bundleProgram({ built, target, ...(serving && { serving }) });
  for (const path of reads) copy(join(project, path), join(folder, path));
  const main = relative(folder, join(target, 'main.js')).replaceAll('\\', '/');
  return exported === undefined && takesStdio(source) ? [main, '--stdio'] : [main];
}

/** A bundle that was written. */
export interface Bundle {
  readonly path: string;
  readonly megabytes: number;
}

/**
 * Writes a bundle of a built program.
 * @param isOneFile whether to write the program and its packages into one file, with rolldown
 * @throws {CommandFailure} if the program doesn't serve over stdio, which is how clients start it
 */
export async function bundle(built: Built, isOneFile = false): Promise<Bundle> {
  const project = closest(dirname(built.file), 'package.json');
  if (project === undefined) {
    throw new CommandFailure(`A bundle needs the name, version and dependencies of a package.json, and there is none.`);
  }
  const folder = newFolder();
  try {
    const command = isOneFile ? await collectBundled(project, folder, built) : collect(project, folder, built);
    const listed = await tryProgram({ folder, args: command });
    if (listed === undefined) {
      const problem = `The bundled ${shown(built.file)} doesn't answer over stdio, which is how clients start it.`;
      const folders = 'Clients start it in another folder: read files relative to `import.meta.url`.';
      throw new CommandFailure(`${problem} ${EXPORT_A_SERVER} List what it imports in \`dependencies\`. ${folders}`);
    }
    writeFileSync(join(folder, 'manifest.json'), `${JSON.stringify(manifestOf(project, command, listed), null, 2)}\n`);
    const target = join(project, `${plainName(readManifest(project))}.mcpb`);
    const content = zip(folder);
    writeFileSync(target, content);
    return { path: shown(target), megabytes: content.length / 1_000_000 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

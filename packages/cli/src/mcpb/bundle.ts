/** `decorum build --mcpb`: an MCP Bundle (github.com/anthropics/mcpb), which desktop clients install with a click. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

import { CommandFailure } from 'create-decorum';

import type { Built } from '../build/build.js';
import { closest, type Exported, EXPORT_A_SERVER, shown } from '../entry.js';
import { type Format, formatOf } from '../loader/format.js';
import { isFile, isOwn } from '../loader/resolve.js';
import { placeDependencies, readManifest } from './dependencies.js';
import { copy, newFolder, zip } from './files.js';
import { ICON, manifestOf, nameOf } from './manifest.js';
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
    `import ${imported} from './${program}';`,
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

/** Collects the files. Returns the file to start, and its arguments. */
function collect(project: string, folder: string, { file, server }: Built): readonly string[] {
  const source = readFileSync(file, 'utf8');
  const program = relative(project, file).replaceAll('\\', '/');
  const [outDir = program] = program.split('/');
  copyPublished(project, folder, [outDir, ...(isFile(join(project, ICON)) ? [ICON] : [])]);
  const { name, version, type } = readManifest(project);
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify({ name, version, type, private: true }, null, 2)}\n`);
  for (const [path, from] of placeDependencies(project)) copyPackage(from, join(folder, path));
  // programs that support both transports take this flag
  if (server?.exported === undefined) return /['"`]--stdio['"`]/.test(source) ? [program, '--stdio'] : [program];
  writeFileSync(join(folder, MAIN), mainOf(program, server.exported, formatOf(file, source)));
  return [MAIN];
}

/** A bundle that was written. */
export interface Bundle {
  readonly path: string;
  readonly megabytes: number;
}

/**
 * Writes a bundle of a built program.
 * @throws {CommandFailure} if the program doesn't serve over stdio, which is how clients start it
 */
export async function bundle(built: Built): Promise<Bundle> {
  const project = closest(dirname(built.file), 'package.json');
  if (project === undefined) {
    throw new CommandFailure(`A bundle needs the name, version and dependencies of a package.json, and there is none.`);
  }
  const folder = newFolder();
  try {
    const command = collect(project, folder, built);
    const listed = await tryProgram({ folder, args: command });
    if (listed === undefined) {
      const problem = `The bundled ${shown(built.file)} doesn't answer over stdio, which is how clients start it.`;
      const folders = 'Clients start it in another folder: read files relative to `import.meta.url`.';
      throw new CommandFailure(`${problem} ${EXPORT_A_SERVER} List what it imports in \`dependencies\`. ${folders}`);
    }
    writeFileSync(join(folder, 'manifest.json'), `${JSON.stringify(manifestOf(project, command, listed), null, 2)}\n`);
    const target = join(project, `${nameOf(readManifest(project))}.mcpb`);
    const content = zip(folder);
    writeFileSync(target, content);
    return { path: shown(target), megabytes: content.length / 1_000_000 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

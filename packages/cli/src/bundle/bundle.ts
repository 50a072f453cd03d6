/** `decorum build --bundle`: one file with the program and the packages that it needs. */
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, sep } from 'node:path';

import { CommandFailure, EXIT } from 'create-decorum';

import type { Built } from '../build/build.js';
import { construct } from '../build/construct.js';
import { closest, shown } from '../entry.js';
import { formatOf } from '../loader/format.js';
import { isFile } from '../loader/resolve.js';
import { placePackages, readManifest } from '../mcpb/dependencies.js';
import { copy } from '../mcpb/files.js';
import { loadRolldown } from './load-rolldown.js';
import { type Pass, type PassOptions, runPass } from './pass.js';

/** What to bundle. */
export interface BundleOptions {
  /** The built program. */
  readonly built: Built;
  /** Names of packages that must not be in the bundle, besides those that can't be. */
  readonly external?: readonly string[];
  /** Code that serves the program, if the program doesn't do so itself. */
  readonly serving?: string;
  /** Folder to write to. Defaults to `dist/bundle` of the project. */
  readonly target?: string;
}

/** A bundle that was written. */
export interface Bundled {
  /** Absolute path of the program: `dist/bundle/main.js`. */
  readonly file: string;
  /** Names of the packages that are beside the bundle, in its `node_modules`. */
  readonly outside: readonly string[];
  /** Names of packages that aren't installed, so that neither the bundle nor its folder has them. */
  readonly missing: readonly string[];
  /** Files and folders of the project that the program reads, relative to the project. */
  readonly reads: readonly string[];
  /** Modules of the project that ask for their own path, for a reason that can't be seen. */
  readonly asking: readonly string[];
  /** Size of the program. */
  readonly bytes: number;
}

/** The file that starts the program. */
const MAIN = 'main.js';

/**
 * Bundles a built program. The folder of the bundle can be copied alone, unless the program reads other files.
 * @throws {CommandFailure} if rolldown is missing, or the program can't be bundled
 */
export async function bundle(options: BundleOptions): Promise<Bundled> {
  const { built, external = [] } = options;
  const plan = planOf(options);
  const { target = plan.folder } = options;
  requireOwn(target);
  const rolldown = await loadRolldown(plan.project);
  const { pass, outside, placed } = await settle(plan, (each) => runPass(rolldown, each));
  const unknown = external.find((name) => !outside.has(name) && !pass.missing.includes(name));
  if (unknown !== undefined) {
    const problem = `--external is ${unknown}, but the program loads no package of that name.`;
    throw new CommandFailure(`${problem} Leave it out, or write the name as the package.json of the package has it.`);
  }
  const draft = mkdtempSync(join(tmpdir(), 'decorum-bundle-'));
  try {
    writeFileSync(join(draft, MAIN), pass.code);
    writeFileSync(join(draft, 'package.json'), manifestOf(plan));
    for (const [path, from] of placed) copy(from, join(draft, path));
    const isAlone = pass.reads.length + pass.asking.length === 0;
    // in another folder, it finds nothing of the project
    if (isAlone) await check(built, draft);
    rmSync(target, { recursive: true, force: true });
    // made here, because a temporary folder is only for its owner, and an image has another user
    mkdirSync(target, { recursive: true });
    cpSync(draft, target, { recursive: true });
    if (!isAlone && target === plan.folder) await check(built, target);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  const { code, missing, reads, asking } = pass;
  const names = [...outside.keys()].toSorted();
  return { file: join(target, MAIN), outside: names, missing, reads, asking, bytes: Buffer.byteLength(code) };
}

/** @throws {CommandFailure} if the program belongs to no package */
function planOf({ built, external = [], serving }: BundleOptions): Omit<PassOptions, 'needed'> {
  const file = realpathSync(built.file);
  const project = closest(dirname(file), 'package.json');
  if (project === undefined) {
    throw new CommandFailure('A bundle needs the dependencies of a package.json, and there is none.');
  }
  const { dependencies = {}, optionalDependencies = {} } = readManifest(project);
  return {
    file,
    project,
    // code that serves a program awaits
    format: serving === undefined ? formatOf(file, readFileSync(file, 'utf8')) : 'module',
    folder: bundleFolder(project, file),
    uses: new Set([...Object.keys(dependencies), ...Object.keys(optionalDependencies)]),
    external: new Set(external),
    ...(serving !== undefined && { serving }),
  };
}

/** The folder of a bundle: below the one of the built files, unless that is where the sources are. */
export function bundleFolder(project: string, file: string): string {
  const [first = '', ...rest] = relative(project, file).split(sep);
  return join(project, rest.length === 0 || first === 'src' ? 'dist' : first, 'bundle');
}

/** Whether a folder has a bundle: tsc writes no package.json. */
export const isBundle = (folder: string): boolean => isFile(join(folder, 'package.json'));

/** @throws {CommandFailure} if a folder has other files, such as those that tsc wrote for `src/bundle` */
function requireOwn(folder: string): void {
  if (!existsSync(folder) || isBundle(folder) || readdirSync(folder).length === 0) return;
  const problem = `The bundle would replace the files in ${shown(folder)}, and nothing was written.`;
  throw new CommandFailure(`${problem} Rename the folder of their sources, and remove this one.`);
}

interface Settled {
  readonly pass: Pass;
  readonly outside: ReadonlyMap<string, string>;
  readonly placed: ReadonlyMap<string, string>;
}

/**
 * Repeats passes until they find no more packages that can't be in the bundle. What these packages need can't be in it,
 * either: there would be two copies of each class.
 */
async function settle(
  plan: Omit<PassOptions, 'needed'>,
  run: (options: PassOptions) => Promise<Pass>,
): Promise<Settled> {
  const outside = new Map<string, string>();
  for (;;) {
    const placed = placePackages(outside, plan.uses);
    const known = [...placed].filter(([path]) => path.lastIndexOf('node_modules') === 0);
    const pass = await run({ ...plan, needed: new Set(known.map(([, folder]) => folder)) });
    const found = [...pass.outside].filter(([name]) => !outside.has(name));
    if (found.length === 0) return { pass, outside, placed };
    for (const [name, folder] of found) outside.set(name, folder);
  }
}

/** What Node.js needs to know of the bundle. */
function manifestOf({ project, format }: Pick<PassOptions, 'project' | 'format'>): string {
  const { name, version } = readManifest(project);
  return `${JSON.stringify({ name, version, private: true, type: format }, null, 2)}\n`;
}

/** @throws {CommandFailure} if the bundled program doesn't create its server, although it did before */
async function check({ file, server }: Built, folder: string): Promise<void> {
  if (server === undefined) return;
  try {
    await construct(join(folder, MAIN), []);
  } catch (error) {
    const problem = `The bundle of ${shown(file)} doesn't start, although the program does. ${(error as Error).message}`;
    const remedy = 'If a package needs its own files, leave it out of the bundle: --external NAME.';
    throw new CommandFailure(`${problem}\n${remedy}`, EXIT.failed, error);
  }
}

import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';

import { CommandFailure, EXIT } from './failure.js';

/** A package in a tarball, as `npm pack` writes it. */
export interface Tarball {
  readonly path: string;
  readonly file: string;
  readonly name: string;
  /** The names of the packages that it needs at run time. */
  readonly needs: readonly string[];
}

interface Manifest {
  readonly name?: string;
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

const BLOCK = 512;

/** Reads the package.json of a tarball: 512-byte blocks, with a header before each file (POSIX.1-2017, pax: ustar). */
function manifestIn(path: string): Manifest | undefined {
  const tar = gunzipSync(readFileSync(path));
  const text = (from: number, length: number) => tar.toString('utf8', from, from + length).replace(/\0[^]*$/, '');
  for (let header = 0; header + BLOCK <= tar.length;) {
    const size = parseInt(text(header + 124, 12), 8) || 0;
    const start = header + BLOCK;
    if (/^[^/]+\/package\.json$/.test(text(header, 100))) return JSON.parse(text(start, size)) as Manifest;
    header = start + Math.ceil(size / BLOCK) * BLOCK;
  }
  return undefined;
}

function readTarball(folder: string, file: string): Tarball & { readonly version: string } {
  const path = join(folder, file);
  try {
    const { name, version = '0.0.0', dependencies = {} } = manifestIn(path) ?? {};
    if (name === undefined) throw new Error('it has no package.json');
    return { path, file, name, version, needs: Object.keys(dependencies) };
  } catch (error) {
    throw new CommandFailure(`${path} is not a package: ${(error as Error).message}. Pack it again.`, EXIT.environment);
  }
}

/**
 * Finds the packages in the tarballs of a folder. If there are several versions of a package, the newest one counts.
 * @throws {CommandFailure} if the folder or a tarball in it can't be read, or if there is none
 */
export function tarballsIn(given: string): ReadonlyMap<string, Tarball> {
  const folder = resolve(given);
  let files: string[];
  try {
    files = readdirSync(folder).filter((file) => /^(?:decorum-.+|create-decorum-\d.*)\.tgz$/.test(file));
  } catch (error) {
    throw new CommandFailure(`The folder of --packages can't be read: ${(error as Error).message}.`, EXIT.environment);
  }
  if (files.length === 0) {
    const remedy = 'Run `npm run pack:all` in a clone of Decorum, and pass its folder .packages.';
    throw new CommandFailure(`${folder} has no tarballs of Decorum. ${remedy}`, EXIT.environment);
  }
  const found = files
    .map((file) => readTarball(folder, file))
    .sort((a, b) => a.version.localeCompare(b.version, 'en', { numeric: true }));
  return new Map(found.map((tarball) => [tarball.name, tarball]));
}

/**
 * The tarballs of the packages with these names, and of all our packages that they need.
 * @throws {CommandFailure} if one is missing
 */
export function closureOf(names: readonly string[], tarballs: ReadonlyMap<string, Tarball>): readonly Tarball[] {
  const found = new Map<string, Tarball>();
  const add = (name: string) => {
    if (found.has(name)) return;
    const tarball = tarballs.get(name);
    if (!tarball) throw new CommandFailure(`The folder of --packages has no tarball of ${name}.`, EXIT.environment);
    found.set(name, tarball);
    for (const needed of tarball.needs) if (isOurs(needed)) add(needed);
  };
  for (const name of names) add(name);
  return [...found.values()].sort((a, b) => a.name.localeCompare(b.name));
}

/** Whether a package is one of Decorum's. */
export const isOurs = (name: string): boolean => name.startsWith('@decorum/') || name === 'create-decorum';

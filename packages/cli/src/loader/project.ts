import { readdirSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

import { createFilesMatcher, createPathsMatcher, getTsconfig, parseTsconfig, type TsConfigResult } from 'get-tsconfig';

/** The settings of the nearest tsconfig, or the defaults if there is none. */
export interface Project {
  /** Path of the tsconfig; undefined if there is none. */
  readonly file: string | undefined;
  readonly options: NonNullable<TsConfigResult['config']['compilerOptions']>;
  /** The paths that `paths` or `baseUrl` allow for a specifier, whether or not the files exist. */
  readonly candidates: (specifier: string) => readonly string[];
}

/** Without a tsconfig: the options that the documentation recommends. */
const DEFAULTS: Project = {
  file: undefined,
  options: { experimentalDecorators: true, emitDecoratorMetadata: true },
  candidates: () => [],
};

const files = new Map<string, unknown>();
const byFolder = new Map<string, TsConfigResult | undefined>();
const byConfig = new Map<string, Project>();

/** The project that a source file belongs to. */
export function projectOf(file: string): Project {
  const folder = dirname(file);
  if (!byFolder.has(folder)) byFolder.set(folder, nearestTo(folder));
  const nearest = byFolder.get(folder);
  return nearest === undefined ? DEFAULTS : projectFrom(including(file, nearest));
}

/** The project that a file belongs to, and those of the other tsconfigs in the same folder. */
export function projectsOf(file: string): readonly Project[] {
  const nearest = projectOf(file);
  if (nearest.file === undefined) return [];
  const folder = dirname(nearest.file);
  const others = readdirSync(folder).filter((name) => /^tsconfig\..+\.json$/.test(name));
  return [nearest, ...others.flatMap((name) => referenced(folder, name) ?? []).map(projectFrom)];
}

function nearestTo(folder: string): TsConfigResult | undefined {
  try {
    return getTsconfig(folder, 'tsconfig.json', files) ?? undefined;
  } catch (error) {
    // the message names only the missing file, such as one that the tsconfig extends
    throw new Error(`The tsconfig.json of ${folder} can't be read: ${(error as Error).message}`, { cause: error });
  }
}

/** If a tsconfig only lists references, the first of them that includes the file applies. */
function including(file: string, nearest: TsConfigResult): TsConfigResult {
  const { references = [], files: listed = [], include } = nearest.config;
  if (references.length === 0 || listed.length > 0 || (include?.length ?? 0) > 0) return nearest;
  for (const { path } of references) {
    const reference = referenced(dirname(nearest.path), path);
    if (reference !== undefined && createFilesMatcher(reference)(file)) return reference;
  }
  return nearest;
}

function referenced(folder: string, path: string): TsConfigResult | undefined {
  const target = `${folder}/${path}`;
  const file = target.endsWith('.json') ? target : `${target}/tsconfig.json`;
  try {
    return { path: file, config: parseTsconfig(file, files as Map<string, string>) };
  } catch {
    // TypeScript itself reports references that don't exist
    return undefined;
  }
}

function projectFrom(found: TsConfigResult): Project {
  const known = byConfig.get(found.path);
  if (known) return known;
  const project = {
    file: found.path,
    options: found.config.compilerOptions ?? {},
    candidates: createPathsMatcher(found) ?? (() => []),
  };
  byConfig.set(found.path, project);
  return project;
}

/** The folders that may be the root of the sources: from the tsconfig's folder down to the file's. */
export function rootsOf(file: string): readonly string[] {
  const { file: tsconfig, options } = projectOf(file);
  if (tsconfig === undefined) return [];
  const folder = dirname(tsconfig);
  // the default of `rootDir` depends on the compiler's version and on all other files
  if (options.rootDir !== undefined) return [resolve(folder, options.rootDir)];
  const roots = [folder];
  for (const name of relative(folder, dirname(file)).split(/[\\/]/)) {
    if (name !== '' && name !== '..') roots.push(join(roots.at(-1) ?? folder, name));
  }
  return roots;
}

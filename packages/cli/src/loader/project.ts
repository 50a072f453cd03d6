import { dirname } from 'node:path';

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

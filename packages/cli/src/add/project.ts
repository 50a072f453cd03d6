import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

import { CommandFailure, EXIT } from 'create-decorum';
import { getTsconfig, parseTsconfig } from 'get-tsconfig';

import { shown } from './source.js';

/** What of a package.json matters here. */
export interface PackageJson {
  readonly type?: string;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly jest?: object;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** The user's project. */
export interface Project {
  /** The folder of the package.json. */
  readonly root: string;
  /** The folder with the code. */
  readonly src: string;
  readonly packageJson: PackageJson;
  /** Direct dependencies of all kinds, with their ranges. */
  readonly dependencies: Readonly<Record<string, string>>;
}

/**
 * Finds the project of a folder: the closest package.json at or above it.
 * @throws {CommandFailure} if the package.json is not JSON
 */
export function findProject(folder: string): Project {
  let root = folder;
  while (!existsSync(join(root, 'package.json')) && dirname(root) !== root) root = dirname(root);
  const path = join(root, 'package.json');
  if (!existsSync(path)) return { root: folder, src: srcOf(folder), packageJson: {}, dependencies: {} };
  const packageJson = readJson(path);
  const { dependencies, devDependencies, peerDependencies } = packageJson;
  return {
    root,
    src: srcOf(root),
    packageJson,
    dependencies: { ...peerDependencies, ...devDependencies, ...dependencies },
  };
}

const srcOf = (root: string): string => (existsSync(join(root, 'src')) ? join(root, 'src') : root);

function readJson(path: string): PackageJson {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as PackageJson;
  } catch (error) {
    throw new CommandFailure(`${shown(path)} is not valid JSON: ${(error as Error).message}`, EXIT.failed);
  }
}

/** Whether the code of a file can import a package. */
export function hasPackage({ root, dependencies }: Project, name: string): boolean {
  if (name in dependencies) return true;
  try {
    createRequire(join(root, 'package.json')).resolve(name);
    return true;
  } catch {
    return false;
  }
}

/** What the compiler makes of decorators. */
export interface Dialect {
  /** Whether decorators are those of `experimentalDecorators`, as class-validator needs them. */
  readonly isLegacy: boolean;
  /** Whether the types of parameters are emitted. */
  readonly emitsTypes: boolean;
  /** Whether imports of files need an extension. */
  readonly needsExtension: boolean;
}

type CompilerOptions = NonNullable<ReturnType<typeof parseTsconfig>['compilerOptions']>;

/**
 * Reads the dialect from the tsconfig, as the loader does: legacy with types where there is none.
 * @throws {CommandFailure} if the tsconfig can't be read
 */
export function dialectOf(file: string, project: Project): Dialect {
  const options = compilerOptionsOf(file);
  const isModule = project.packageJson.type === 'module' || file.endsWith('.mts');
  if (options === undefined) return { isLegacy: true, emitsTypes: true, needsExtension: isModule };
  const isLegacy = options.experimentalDecorators === true;
  const { module = '', moduleResolution = module } = options;
  const followsNode = /^node(?:16|18|20|next)$/i.test(moduleResolution);
  return {
    isLegacy,
    emitsTypes: isLegacy && options.emitDecoratorMetadata === true,
    needsExtension: followsNode && isModule,
  };
}

function compilerOptionsOf(file: string): CompilerOptions | undefined {
  try {
    const found = getTsconfig(dirname(file));
    if (found === null) return undefined;
    const { compilerOptions = {}, references = [] } = found.config;
    if (compilerOptions.experimentalDecorators !== undefined) return compilerOptions;
    // a tsconfig that only lists other ones, as many templates have it
    for (const { path } of references) {
      const target = join(dirname(found.path), path);
      const referenced = parseTsconfig(
        target.endsWith('.json') ? target : join(target, 'tsconfig.json'),
      ).compilerOptions;
      if (referenced?.experimentalDecorators !== undefined) return referenced;
    }
    return compilerOptions;
  } catch (error) {
    throw new CommandFailure(
      `The tsconfig.json of ${shown(file)} can't be read: ${(error as Error).message}`,
      EXIT.failed,
    );
  }
}

/** Tools that run TypeScript without emitting the types of parameters. */
const WITHOUT_TYPES = ['tsx', 'tsup', 'esbuild', 'esbuild-register'];

/** Whether the project runs its code with a tool that emits no types, whatever the tsconfig says. */
export function losesTypes({ dependencies }: Project): boolean {
  const major = Number(/\d+/.exec(dependencies['vitest'] ?? '')?.[0] ?? Number.POSITIVE_INFINITY);
  return WITHOUT_TYPES.some((tool) => tool in dependencies) || major < 4;
}

/** All test files in the project, and the folders that hold them. */
export function testFiles({ root }: Project): string[] {
  const visit = (folder: string): string[] =>
    readdirSync(folder, { withFileTypes: true })
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .flatMap((entry) => {
        const path = join(folder, entry.name);
        if (entry.isDirectory())
          return /^(?:node_modules|dist|build|coverage|\..*)$/.test(entry.name) ? [] : visit(path);
        return /\.(?:test|spec)\.[cm]?tsx?$/.test(entry.name) ? [path] : [];
      });
  return visit(root);
}

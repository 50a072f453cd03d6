import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, sep } from 'node:path';

import { CommandFailure, EXIT } from 'create-decorum';
import { getTsconfig, parseTsconfig } from 'get-tsconfig';

import { closest } from '../entry.js';
import { readJsonObject } from '../json-file.js';
import { shown } from './source.js';

/** The part of package.json that is read. */
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
  /** All direct dependencies with their ranges, including those of enclosing workspaces. */
  readonly dependencies: Readonly<Record<string, string>>;
}

/**
 * Finds the project of a folder: the closest package.json at or above it, else the closest tsconfig.json.
 * @throws {CommandFailure} if the package.json is not JSON
 */
export function findProject(folder: string): Project {
  const home = closest(folder, 'package.json');
  const root = home ?? closest(folder, 'tsconfig.json') ?? process.cwd();
  const packageJson = home === undefined ? {} : readJsonObject(join(home, 'package.json'));
  return { root, src: srcOf(root), packageJson, dependencies: dependenciesOf(home, packageJson) };
}

/** Direct dependencies, and those of enclosing workspaces, which share their tools with the package. */
function dependenciesOf(home: string | undefined, packageJson: PackageJson): Project['dependencies'] {
  const above = home === undefined || dirname(home) === home ? undefined : closest(dirname(home), 'package.json');
  const shared = above === undefined ? {} : dependenciesOf(above, readJsonObject(join(above, 'package.json')));
  const { dependencies, devDependencies, peerDependencies } = packageJson;
  return { ...shared, ...peerDependencies, ...devDependencies, ...dependencies };
}

const srcOf = (root: string): string => (existsSync(join(root, 'src')) ? join(root, 'src') : root);

/** Whether the project can import a package. */
export function hasPackage({ root, dependencies }: Project, name: string): boolean {
  const folders = createRequire(join(root, 'package.json')).resolve.paths(name) ?? [];
  return name in dependencies || folders.some((folder) => existsSync(join(folder, name)));
}

/** Whether Vitest can compile standard decorators: with Vite 7 or older, or with the swc plugin. */
export function hasOldVite({ dependencies }: Project): boolean {
  return majorOf(dependencies['vite']) < 8 || 'unplugin-swc' in dependencies;
}

/** The major version of a range such as `^7.1.0`. */
const majorOf = (range = ''): number => Number(/\d+/.exec(range)?.[0] ?? Number.POSITIVE_INFINITY);

/** The compiler settings that affect the new code. */
export interface Dialect {
  /** Whether decorators are legacy ones (`experimentalDecorators`), which class-validator needs. */
  readonly isLegacy: boolean;
  /** Whether parameter types are emitted. */
  readonly emitsTypes: boolean;
  /** Whether imports of files need an extension. */
  readonly needsExtension: boolean;
}

type CompilerOptions = NonNullable<ReturnType<typeof parseTsconfig>['compilerOptions']>;

/**
 * Reads the dialect from the tsconfig. Without one, decorators are legacy ones with types, as in the loader.
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
    // in many templates, tsconfig.json only lists references
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

/** Tools that run TypeScript without emitting parameter types. */
const WITHOUT_TYPES = ['tsx', 'tsup', 'esbuild', 'esbuild-register'];

/** Whether the project runs its code with a tool that emits no types, whatever the tsconfig says. */
export function losesTypes({ dependencies }: Project): boolean {
  return WITHOUT_TYPES.some((tool) => tool in dependencies) || majorOf(dependencies['vitest']) < 4;
}

const TYPESCRIPT = /(?<!\.d)\.(?:[cm]?ts|tsx)$/;
const TEST = /\.(?:test|spec)\.[cm]?tsx?$/;
const NO_CODE = /^(?:node_modules|dist|build|coverage|\..*)$/;
const TEST_FOLDERS = ['test', 'tests', '__tests__'];

/** Whether a path names a TypeScript file that isn't a declaration file. */
export const isTypeScript = (path: string): boolean => TYPESCRIPT.test(path);

/** All TypeScript files under a folder, without dependencies and build output. */
const filesUnder = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return NO_CODE.test(entry.name) ? [] : filesUnder(path);
      return isTypeScript(path) ? [path] : [];
    });

/** Whether `src` certainly holds only code. Without a package.json, the folder may hold anything. */
const isCertain = ({ root, src }: Project): boolean => src !== root || existsSync(join(root, 'package.json'));

/** All source files of the project, without tests. */
export function sourceFiles(project: Project): string[] {
  const { src } = project;
  if (!isCertain(project)) return [];
  return filesUnder(src).filter(
    (path) => !TEST.test(path) && !TEST_FOLDERS.some((name) => path.slice(src.length).split(sep).includes(name)),
  );
}

/** All test files of the project. */
export function testFiles(project: Project): string[] {
  const { root, src } = project;
  const folders = [src, ...TEST_FOLDERS.map((name) => join(root, name))].filter((each) => existsSync(each));
  const isWhole = existsSync(join(root, 'package.json'));
  const files = isWhole ? filesUnder(root) : folders.filter((each) => each !== root).flatMap(filesUnder);
  return files.filter((path) => TEST.test(path));
}

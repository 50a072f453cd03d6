/** One pass of rolldown over a program. It learns which packages can't be in the bundle. */
import { existsSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

import { CommandFailure, EXIT } from 'create-decorum';
import type { OutputChunk, Plugin, RolldownPluginOption } from 'rolldown';

import { shown } from '../entry.js';
import type { Format } from '../loader/format.js';
import type { Rolldown } from './load-rolldown.js';
import { isNative, type Package, packageOf, readsFiles } from './outside.js';
import { BUNDLE_PATH, BUNDLE_PATH_CODE, placesOf, rewritePlaces } from './places.js';

/** What a pass bundles. */
export interface PassOptions {
  /** The program. */
  readonly file: string;
  readonly format: Format;
  /** Folder of the project. */
  readonly project: string;
  /** Folder that the bundle will be in. */
  readonly folder: string;
  /** Names of packages that the project depends on. */
  readonly uses: ReadonlySet<string>;
  /** Names of packages that must not be in the bundle. */
  readonly external: ReadonlySet<string>;
  /** Folders of packages that are needed by those that aren't in the bundle. */
  readonly needed: ReadonlySet<string>;
  /** Code that serves the program, if the program doesn't do so itself. */
  readonly serving?: string;
}

/** The result of a pass. */
export interface Pass {
  readonly code: string;
  /** Folders of packages that can't be in the bundle, by name. */
  readonly outside: ReadonlyMap<string, string>;
  /** Names of packages that aren't installed. Their importers may do without. */
  readonly missing: readonly string[];
  /** Files and folders beside the project's own modules that these read, relative to the project. */
  readonly reads: readonly string[];
  /** Modules of the project that ask for their own path, for a reason that can't be seen. */
  readonly asking: readonly string[];
}

const SERVING = 'decorum:serving.js';
const MISSING = '\0decorum:missing:';

const nameIn = (specifier: string) => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier;
const isBare = (specifier: string) => /^[\w@~]/.test(specifier) && !/^(?:\w{2,}:|[A-Za-z]:[\\/])/.test(specifier);

/** What is noticed while rolldown reads modules. */
class Noticed {
  readonly outside = new Map<string, string>();
  readonly missing = new Set<string>();
  readonly reads = new Set<string>();
  readonly asking = new Set<string>();

  constructor(private readonly options: PassOptions) {}

  /** Whether a package stays outside of the bundle. */
  isOutside(found: Package): boolean {
    if (this.options.needed.has(found.folder)) return true;
    if (!this.options.external.has(found.name) && !isNative(found)) return false;
    this.leave(found);
    return true;
  }

  leave({ name, folder }: Package): void {
    const known = this.outside.get(name);
    if (known !== undefined && known !== folder) {
      const problem = `The program needs two copies of ${name}, ${shown(known)} and ${shown(folder)}, and none can be in a bundle.`;
      throw new CommandFailure(
        `${problem} Let all packages use one version of it, with \`overrides\` in package.json.`,
      );
    }
    this.outside.set(name, folder);
  }

  /** Code to use for a module; undefined to leave it as it is. */
  read(file: string, code: string): string | undefined {
    const { project, folder, uses, file: entry } = this.options;
    const owner = packageOf(file);
    if (owner !== undefined && owner.folder !== project) {
      if (readsFiles({ file, code }, owner, uses)) this.leave(owner);
      return undefined;
    }
    const shortened = (path: string) => relative(project, path).replaceAll('\\', '/');
    for (const { beside } of placesOf({ file, code })) {
      const path = beside === undefined ? undefined : join(dirname(file), beside);
      if (path !== undefined && existsSync(path)) this.reads.add(shortened(path));
      else this.asking.add(shortened(file));
    }
    return rewritePlaces({ file, code }, { folder, isEntry: file === entry });
  }
}

/** The plugin of a pass. */
function pluginOf(noticed: Noticed, options: PassOptions): Plugin {
  return {
    name: 'decorum',
    async resolveId(source, importer, { kind }) {
      if (source === SERVING || source === BUNDLE_PATH) return source;
      if (!isBare(source) || isBuiltin(source)) return null;
      const from = importer === undefined || importer === SERVING ? options.file : importer;
      const found = await this.resolve(source, from, { kind, skipSelf: true });
      if (found === null) {
        noticed.missing.add(nameIn(source));
        // as an import of the bundle, it would be loaded at once, even if its importer is loaded later or never
        return kind === 'import-statement' ? `${MISSING}${source}` : { id: source, external: true };
      }
      if (found.external) return found;
      const owner = packageOf(found.id);
      if (owner !== undefined && owner.folder !== options.project && noticed.isOutside(owner)) {
        return { id: source, external: true };
      }
      return source === 'class-validator' ? (modulesOf(owner) ?? found) : found;
    },
    load(id) {
      if (id === SERVING) return options.serving ?? '';
      if (id === BUNDLE_PATH) return BUNDLE_PATH_CODE;
      return id.startsWith(MISSING) ? missingCode(id.slice(MISSING.length)) : null;
    },
    transform: (code, id) => (/^[\0]|^(?:decorum|rolldown):|^rolldown\//.test(id) ? null : noticed.read(id, code)),
  };
}

/**
 * The ES modules of class-validator: those that no class uses are left out, which halves the time that a bundle takes
 * to start. All copies of it share one store of rules.
 */
function modulesOf(owner: Package | undefined): string | undefined {
  const file = owner && join(owner.folder, 'esm5/index.js');
  return file !== undefined && existsSync(file) ? file : undefined;
}

/** Throws what Node.js throws for a package that isn't installed. */
function missingCode(name: string): string {
  const message = JSON.stringify(`Cannot find package '${name}': it was not installed when this bundle was written`);
  return `module.exports = {}; throw Object.assign(new Error(${message}), { code: 'ERR_MODULE_NOT_FOUND' });`;
}

/**
 * Runs rolldown once.
 * @throws {CommandFailure} if it can't bundle the program
 */
export async function runPass({ rolldown }: Rolldown, options: PassOptions): Promise<Pass> {
  const noticed = new Noticed(options);
  const plugins: RolldownPluginOption = [pluginOf(noticed, options)];
  const format = options.format === 'module' ? 'esm' : 'cjs';
  const build = await rolldown({
    input: { main: options.serving === undefined ? options.file : SERVING },
    cwd: options.project,
    platform: 'node',
    tsconfig: false,
    // as in Node.js, `require` and `import` get the same copy of packages that have both formats
    resolve: { conditionNames: ['module-sync', 'node'] },
    onLog: () => {},
    plugins,
  });
  try {
    const { output } = await build.generate({ format, keepNames: true, codeSplitting: false });
    return {
      code: output.map((each) => (each as OutputChunk).code)[0] ?? '',
      outside: noticed.outside,
      missing: [...noticed.missing].toSorted(),
      reads: [...noticed.reads].toSorted(),
      asking: [...noticed.asking].toSorted(),
    };
  } catch (error) {
    if (error instanceof CommandFailure) throw error;
    const text = stripVTControlCharacters((error as Error).message);
    throw new CommandFailure(`rolldown can't bundle ${shown(options.file)}: ${text}`, EXIT.failed, error);
  } finally {
    await build.close();
  }
}

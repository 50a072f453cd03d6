import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { parseSync } from 'oxc-parser';

import { compilerFor } from '../../build/tsc.js';
import { isTypeScript, shown } from '../../entry.js';
import { type Project, projectOf } from '../../loader/project.js';
import { dependenciesOf, installedFrom, isPlugAndPlay, manifestIn, type Place } from '../place.js';
import { type Result, resultsOf } from '../result.js';

const results = resultsOf('tsconfig');

/** The tsconfig that decides about the program, or about `src`. Throws if it can't be read. */
export const tsconfigOf = ({ root, entry }: Place): Project => projectOf(entry ?? join(root, 'src/main.ts'));

/** Whether TypeScript compiles the program. Without one, only a folder `src` promises that there is code. */
export const isTyped = ({ root, entry }: Place): boolean =>
  entry === undefined ? existsSync(join(root, 'src')) : isTypeScript(entry);

function decoratorProblem({ options }: Project, place: Place): Result | undefined {
  const { experimentalDecorators: isLegacy = false, emitDecoratorMetadata: emits = false } = options;
  if (isLegacy && emits) return undefined;
  if (emits) {
    const problem = '`emitDecoratorMetadata` does nothing without `experimentalDecorators`';
    return results.problem(problem, 'set both to true');
  }
  if (isLegacy) {
    const problem = 'types of parameters are not emitted, because `emitDecoratorMetadata` is not set';
    return results.warning(problem, 'set it to true, or name each class: `@Tool({ input: Query })`');
  }
  if (!('class-validator' in dependenciesOf(place.manifest))) return undefined;
  const problem = "decorators are standard ones, and class-validator's rules don't work with them";
  return results.problem(
    problem,
    'set `experimentalDecorators` and `emitDecoratorMetadata`, or describe inputs by schemas',
  );
}

/** TypeScript before version 6 doesn't read `exports` of packages unless it is told how to resolve modules. */
function resolutionProblem({ file = '', options }: Project): Result | undefined {
  const { module = 'commonjs', moduleResolution } = options;
  const isOld = moduleResolution !== undefined && /^(?:node|node10|classic)$/i.test(moduleResolution);
  const installed = installedFrom(dirname(file), 'typescript');
  const major = Number.parseInt((installed && manifestIn(installed)?.version) ?? '6', 10);
  const isLeftOut = moduleResolution === undefined && !/^(?:node|preserve)/i.test(module) && major < 6;
  if (!isOld && !isLeftOut) return undefined;
  const problem = "with this `moduleResolution`, TypeScript doesn't find the types of Decorum";
  return results.problem(problem, 'set `module` to "NodeNext", or `moduleResolution` to "bundler"');
}

function pathsProblem({ options }: Project): Result | undefined {
  if (Object.keys(options.paths ?? {}).length === 0) return undefined;
  const problem = "`paths` work in `decorum dev`, but not in the built program: tsc doesn't change imports";
  return results.warning(problem, 'use `imports` in package.json, unless a bundler builds the program');
}

function compilerProblem(place: Place): Result | undefined {
  if (compilerFor(place.root) !== undefined || isPlugAndPlay(place)) return undefined;
  return results.warning(
    'TypeScript is not installed, so nothing checks or builds the project',
    'run `npm install -D typescript`',
  );
}

/** What reads a tsconfig skips what it doesn't understand. Then options are missing, and the other checks would mislead. */
function syntaxProblem(file: string): Result | undefined {
  const text = readFileSync(file, 'utf8');
  // JSON with comments and commas at the end is an expression of JavaScript
  const [error] = text.trim() === '' ? [] : parseSync('tsconfig.js', `(${text}\n)`).errors;
  if (error === undefined) return undefined;
  const line = text.slice(0, (error.labels[0]?.start ?? 1) - 1).split('\n').length;
  return results.problem(`${shown(file)}:${line} has a syntax error: ${error.message}`, 'correct it');
}

/** Checks the compiler and its options. */
export function checkTsconfig(place: Place): Result[] {
  if (!isTyped(place)) return [];
  let project: Project;
  try {
    project = tsconfigOf(place);
  } catch (error) {
    return [results.problem((error as Error).message, 'correct it: nothing can be compiled without it')];
  }
  const { file } = project;
  if (file === undefined) {
    const problem = 'there is no tsconfig.json, so types are checked nowhere';
    return [results.warning(problem, 'add one: https://www.typescriptlang.org/docs/handbook/tsconfig-json.html')];
  }
  const syntax = syntaxProblem(file);
  if (syntax !== undefined) return [syntax];
  const found = [
    decoratorProblem(project, place),
    resolutionProblem(project),
    pathsProblem(project),
    compilerProblem(place),
  ];
  const problems = found.filter((each) => each !== undefined);
  const kind = project.options.experimentalDecorators ? 'legacy decorators with their types' : 'standard decorators';
  return problems.length > 0 ? problems : [results.ok(`${shown(file)}: ${kind}`)];
}

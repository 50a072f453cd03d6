import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { builtFile } from '../../build/built.js';
import { shown } from '../../entry.js';
import { isFile } from '../../loader/resolve.js';
import { installedFrom, manifestIn, type Place } from '../place.js';
import { type Result, resultsOf } from '../result.js';
import { isTyped, tsconfigOf } from './tsconfig.js';

const results = resultsOf('types');

/** Tools that compile TypeScript without emitting types, if they aren't given the output of another compiler. */
const WITHOUT_TYPES =
  /(?:^|[\s/=])(tsx|tsup|esbuild|esbuild-register)(?=\s|\/(?:esm|cjs|register)\b|$)(?!.*(?<!--outfile[\s=])\bdist\/\S+\.[cm]?js\b)/;

/** Node.js with a TypeScript file, and without a loader. */
const BARE_NODE = /(?<![\w-])node\b(?![^&|;]*(?:--import|--loader|--require|\s-r)\b)[^&|;]*\.[cm]?ts\b/;

const NAME_THEM = 'name the classes, as in `@Tool({ input: Query })`';

function scriptResults({ manifest }: Place): Result[] {
  return Object.entries(manifest?.scripts ?? {}).flatMap(([name, script]) => {
    const tool = WITHOUT_TYPES.exec(script)?.[1];
    if (tool !== undefined) {
      const fix = `use \`decorum dev\` or \`node --import @decorum/cli/register\`, or ${NAME_THEM}`;
      return [results.warning(`the script "${name}" uses ${tool}, which emits no types of parameters`, fix)];
    }
    if (!BARE_NODE.test(script)) return [];
    const fix = 'compile first, or add `--import @decorum/cli/register`';
    return [results.problem(`the script "${name}" runs TypeScript with Node.js, which doesn't run decorators`, fix)];
  });
}

/** What `.swcrc` says, unless it can't be read. */
function swcResults({ root }: Place): Result[] {
  const file = join(root, '.swcrc');
  if (!isFile(file)) return [];
  try {
    const { jsc } = JSON.parse(readFileSync(file, 'utf8')) as { jsc?: { transform?: Record<string, unknown> } };
    const { legacyDecorator, decoratorMetadata } = jsc?.transform ?? {};
    if (legacyDecorator === true && decoratorMetadata === true) return [];
  } catch {
    return [results.warning('.swcrc could not be read as JSON, so it was not checked', 'correct it, or ignore this')];
  }
  const fix = 'set `jsc.transform.legacyDecorator` and `jsc.transform.decoratorMetadata` to true';
  return [results.warning('.swcrc emits no types of parameters', fix)];
}

function vitestResults({ root }: Place): Result[] {
  const folder = installedFrom(root, 'vitest');
  const version = folder === undefined ? undefined : manifestIn(folder)?.version;
  if (version === undefined || Number.parseInt(version, 10) >= 4) return [];
  return [
    results.warning(`Vitest ${version} emits no types of parameters in tests`, `update to Vitest 4, or ${NAME_THEM}`),
  ];
}

/** How many files of the output are looked at. */
const MAX_FILES = 1000;

/** What the compiler has really written: legacy decorators that stand without types. */
function outputResults({ entry }: Place): Result[] {
  const built = entry === undefined ? undefined : builtFile(entry);
  if (built === undefined) return [];
  const names = readdirSync(dirname(built), { recursive: true }).map((name) => join(dirname(built), String(name)));
  const files = names.filter((name) => /(?<!node_modules.*)\.[cm]?js$/.test(name) && statSync(name).isFile());
  const texts = files.slice(0, MAX_FILES).map((file) => readFileSync(file, 'utf8'));
  const isDecorated = texts.some((text) => /\b(?:__decorate(?:Class)?|_ts_decorate)\(/.test(text));
  if (!isDecorated || texts.some((text) => text.includes('design:paramtypes'))) return [];
  const fix = `build with tsc or swc and both decorator flags, or ${NAME_THEM}`;
  return [results.warning(`${shown(dirname(built))} was built without the types of parameters`, fix)];
}

/** Checks that what compiles the program, runs it and tests it emits the types of parameters, as the tsconfig asks for. */
export function checkEmission(place: Place): Result[] {
  if (!isTyped(place) || place.manifest === undefined) return [];
  try {
    if (tsconfigOf(place).options.emitDecoratorMetadata !== true) return [];
  } catch {
    return [];
  }
  const found = [scriptResults, swcResults, vitestResults, outputResults].flatMap((check) => check(place));
  return found.length > 0 ? found : [results.ok('nothing here leaves out the types of parameters')];
}

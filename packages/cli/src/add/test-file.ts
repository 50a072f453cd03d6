import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, extname, join, relative, sep } from 'node:path';

import { type Dialect, type Project, testFiles } from './project.js';
import { shown, type Source } from './source.js';
import type { Style } from './style.js';
import { NOTHING, type Subject } from './subject.js';
import type { Exchange } from './write.js';

/** The programs that run tests. */
type Runner = 'vitest' | 'jest' | 'node';

/** How a project writes its tests. */
export interface Tests {
  readonly runner: Runner;
  /** Whether jest's functions are globals. */
  readonly hasGlobals: boolean;
  /** Absolute path of the folder for a new test. */
  readonly folder: string;
  /** `test` or `spec`. */
  readonly word: string;
  /** The specifier of a relative import in another test. */
  readonly sample: string | undefined;
}

/** Detects how a project writes its tests. The default is vitest in `test/`. */
export function testsOf(project: Project, source: Source): Tests {
  const files = testFiles(project).slice(0, 50);
  const texts = files.map((file) => readFileSync(file, 'utf8'));
  const { dependencies } = project;
  const hasGlobals =
    '@types/jest' in dependencies &&
    !('@jest/globals' in dependencies) &&
    !texts.some((text) => text.includes('@jest/globals'));
  const isSpec = files.filter((file) => /\.spec\.[^.]+$/.test(file)).length * 2 > files.length;
  return {
    runner: runnerOf(project, texts),
    hasGlobals,
    folder: folderOf(project, files, source),
    word: isSpec ? 'spec' : 'test',
    sample: texts.map((text) => /from ['"](\.[^'"]+)['"]/.exec(text)?.[1]).find((each) => each !== undefined),
  };
}

function runnerOf({ packageJson, dependencies, root }: Project, texts: readonly string[]): Runner {
  const script = packageJson.scripts?.['test'] ?? '';
  const counts = (pattern: RegExp) => texts.filter((text) => pattern.test(text)).length;
  if (/\bvitest\b/.test(script) || counts(/from ['"]vitest['"]/) > 0) return 'vitest';
  if (/\bjest\b/.test(script) || counts(/from ['"]@jest\/globals['"]/) > 0) return 'jest';
  if (/\bnode\b.*--test\b/.test(script) || counts(/from ['"]node:test['"]/) > 0) return 'node';
  if ('vitest' in dependencies) return 'vitest';
  const hasConfig = ['js', 'ts', 'mjs', 'cjs', 'json'].some((end) => existsSync(join(root, `jest.config.${end}`)));
  return 'jest' in dependencies || packageJson.jest !== undefined || hasConfig ? 'jest' : 'vitest';
}

/** Beside the code if most tests are there; otherwise the folder that has the tests, or `test`. */
function folderOf({ root, src }: Project, files: readonly string[], { path }: Source): string {
  const isBeside = (file: string) => src !== root && file.startsWith(src + sep);
  const beside = files.filter(isBeside);
  if (beside.length > files.length / 2) {
    const inner = basename(dirname(beside[0] ?? ''));
    return inner === '__tests__' ? join(dirname(path), inner) : dirname(path);
  }
  const outer = files.filter((file) => !isBeside(file)).map((file) => relative(root, file).split(sep));
  const folders = outer.flatMap(([first = '', ...rest]) => (rest.length > 0 ? [first] : []));
  const existing = ['test', 'tests', '__tests__'].find((name) => existsSync(join(root, name)));
  const found = existing ?? folders[0];
  return join(root, found ?? 'test');
}

/**
 * Paths for a new test, in order of preference: the second one is used if the first is taken.
 * @param extension the extension of the file with the class
 */
export function testPaths({ folder, word }: Tests, names: { file: string; kind: string }, extension: string): string[] {
  const { file, kind } = names;
  return [file, `${file}-${kind}`].map((name) => join(folder, `${name}.${word}${extension}`));
}

/** How a test imports a file: in the style of the project's relative imports, or as the compiler needs it. */
export function specifierFor(test: { path: string } & Tests, { path, program }: Source, dialect: Dialect): string {
  const relativePath = relative(dirname(test.path), path).split(sep).join('/');
  const dotted = relativePath.startsWith('.') ? relativePath : `./${relativePath}`;
  const end = extname(path);
  const written = program.body
    .flatMap((each) => (each.type === 'ImportDeclaration' ? [each.source.value] : []))
    .concat(test.sample ?? [])
    .find((each) => each.startsWith('.'));
  const bare = dotted.slice(0, -end.length);
  const compiled = `${bare}${end.replace(/tsx?$/, 'js')}`;
  if (written === undefined) return dialect.needsExtension || end !== '.ts' ? compiled : bare;
  if (/\.[cm]?tsx?$/.test(written)) return dotted;
  return /\.[cm]?js$/.test(written) ? compiled : bare;
}

/** The command that runs one test. */
export function commandOf({ runner }: Tests, { packageJson, root }: Project, path: string): string {
  const file = relative(root, path).split(sep).join('/');
  const enter = root === process.cwd() ? '' : `cd ${shown(root)} && `;
  if (runner === 'node') return `${enter}npm test`;
  if (packageJson.scripts?.['test']?.includes(runner)) return `${enter}npm test -- ${file}`;
  return `${enter}npx ${runner === 'vitest' ? 'vitest run' : 'jest'} ${file}`;
}

/** The parts of a generated test. */
export interface NewTest {
  readonly subject: Subject;
  readonly exchange: Exchange;
  readonly specifier: string;
}

/** The text of a test. */
export function testText(
  { subject, exchange, specifier }: NewTest,
  { runner, hasGlobals }: Tests,
  style: Style,
): string {
  const { quote, semi, unit, eol } = style;
  const from = (names: string, module: string) => `import ${names} from ${quote}${module}${quote}${semi}`;
  const { imported, local } = subject;
  const named = imported === local ? imported : `${imported} as ${local}`;
  const core = subject.needsServer ? [from('{ McpServer }', '@decorum/core')] : [];
  const { result, call, expected, title } = exchange;
  const isNode = runner === 'node';
  const framework = {
    vitest: [from('{ expect, it }', 'vitest')],
    jest: hasGlobals ? [] : [from('{ expect, it }', '@jest/globals')],
    node: [from('assert', 'node:assert/strict'), from('test', 'node:test')],
  }[runner];
  const packages = [...core, from('{ connect }', '@decorum/testing')];
  const head = isNode
    ? [...framework, '', ...packages]
    : runner === 'jest'
      ? [...framework, ...packages]
      : [...packages, ...framework];
  const server = subject.server(quote);
  const serverLines = server.startsWith('new ')
    ? [`const server = ${server}`, 'const client = await connect(server)']
    : [`const client = await connect(${server})`];
  const lines = [
    ...head,
    '',
    ...(local === undefined ? [] : [from(imported === 'default' ? local : `{ ${named} }`, specifier), '']),
    `${isNode ? 'test' : 'it'}(${quote}${title}${quote}, async () => {`,
    ...(server.includes(NOTHING)
      ? [`${unit}// ${NOTHING} stands for what it needs: replace it when the code uses it`]
      : []),
    ...(server.includes('Object.create')
      ? [`${unit}// an instance that was never constructed: replace it when the code needs more`]
      : []),
    ...serverLines.map((line) => `${unit}${line}${semi}`),
    `${unit}const { ${result} } = await client.${call}${semi}`,
    isNode
      ? `${unit}assert.deepEqual(${result}, ${expected})${semi}`
      : `${unit}expect(${result}).toEqual(${expected})${semi}`,
    `${unit}await client.close()${semi}`,
    `})${semi}`,
  ];
  return lines.map((line) => line + eol).join('');
}

// One program of every TypeScript block in the documentation, compiled as the README says.
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

import ts from 'typescript';

import { ROOT } from '../architecture/source.js';
import { blocksOf, PAGES } from './blocks.js';
import { type Fragment, fragmentsOf, SETUP_FOLDER } from './fragments.js';

/** Every TypeScript block of the documentation. */
export const FRAGMENTS: readonly Fragment[] = PAGES.flatMap(fragmentsOf);

const TSCONFIG = blocksOf('README.md').find(({ language }) => language === 'json')?.text ?? '';

/** The options of the tsconfig that the README shows. */
function options(): ts.CompilerOptions {
  const { compilerOptions } = JSON.parse(TSCONFIG) as { readonly compilerOptions: object };
  const { options: shown, errors } = ts.convertCompilerOptionsFromJson(compilerOptions, ROOT);
  if (errors.length > 0) throw new Error(messageOf(errors[0] as ts.Diagnostic));
  return { ...shown, rootDir: ROOT, outDir: '/out', skipLibCheck: true };
}

/** What a problem says, without its place. */
export const messageOf = ({ messageText }: ts.Diagnostic): string => ts.flattenDiagnosticMessageText(messageText, '\n');

/** The compiler, which sees the fragments as files. */
function programOf(fragments: readonly Fragment[]): ts.Program {
  const texts = new Map(fragments.map(({ file, text }) => [file, text]));
  const folders = new Set(fragments.map(({ file }) => dirname(file)));
  const settings = options();
  const host = ts.createCompilerHost(settings, true);
  const { fileExists, readFile, directoryExists } = host;
  host.fileExists = (file) => texts.has(file) || fileExists(file);
  host.readFile = (file) => texts.get(file) ?? readFile(file);
  host.directoryExists = (folder) => folders.has(folder) || (directoryExists?.(folder) ?? false);
  return ts.createProgram([...texts.keys()], settings, host);
}

/** Everything that is compiled, once. */
export const PROGRAM = programOf(FRAGMENTS);

/** What is wrong with a fragment, as `page:line: message`. */
export function problemsOf({ block, file }: Fragment): string[] {
  const source = PROGRAM.getSourceFile(file);
  if (source === undefined) throw new Error(`${file} is no part of the program.`);
  const found = [...PROGRAM.getSyntacticDiagnostics(source), ...PROGRAM.getSemanticDiagnostics(source)];
  return found.map((problem) => {
    const { line } = source.getLineAndCharacterOfPosition(problem.start ?? 0);
    return `${block.page}:${block.line + line - 1}: ${messageOf(problem)}`;
  });
}

/** What is wrong with the setups of the pages. */
export function setupProblems(): string[] {
  const setups = PROGRAM.getSourceFiles().filter(({ fileName }) => fileName.startsWith(`${SETUP_FOLDER}/`));
  return setups.flatMap((file) =>
    PROGRAM.getSemanticDiagnostics(file).map((it) => `${file.fileName}: ${messageOf(it)}`),
  );
}

/** Writes what the fragments compile to into a new folder, and returns the folder. */
export function emit(): string {
  const folder = mkdtempSync(join(ROOT, 'test/docs/node_modules/.pages-'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  PROGRAM.emit(undefined, (file, text) => {
    const path = join(folder, relative('/out', file));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  });
  return folder;
}

/** The path of a fragment's program, within the folder that it was emitted to. */
export const emitted = (folder: string, { file }: Fragment): string =>
  join(folder, relative(ROOT, file).replace(/\.ts$/, '.js'));

// Compiles modules that exist only in memory, with the settings from docs/operate/running.md.
import { dirname } from 'node:path';

import ts from 'typescript';

import { ROOT } from '../architecture/source.js';
import { blocksOf } from './blocks.js';

/** A module without a file on disk. Its path determines which packages it finds. */
export interface VirtualFile {
  /** Absolute. */
  readonly file: string;
  readonly text: string;
}

/** The message of a diagnostic, without its position. */
export const messageOf = ({ messageText }: ts.Diagnostic): string => ts.flattenDiagnosticMessageText(messageText, '\n');

/** The options of the tsconfig that readers copy. */
function options(): ts.CompilerOptions {
  const tsconfig = blocksOf('docs/operate/running.md').find(({ file }) => file === 'tsconfig.json')?.text ?? '';
  const { compilerOptions } = JSON.parse(tsconfig) as { readonly compilerOptions: object };
  const { options: shown, errors } = ts.convertCompilerOptionsFromJson(compilerOptions, ROOT);
  if (errors.length > 0) throw new Error(messageOf(errors[0] as ts.Diagnostic));
  return { ...shown, rootDir: ROOT, noEmit: true, skipLibCheck: true };
}

/** Creates one program from all files. */
export function programOf(files: readonly VirtualFile[]): ts.Program {
  const texts = new Map(files.map(({ file, text }) => [file, text]));
  const folders = new Set(files.map(({ file }) => dirname(file)));
  const settings = options();
  const host = ts.createCompilerHost(settings, true);
  const { fileExists, readFile, directoryExists } = host;
  host.fileExists = (file) => texts.has(file) || fileExists(file);
  host.readFile = (file) => texts.get(file) ?? readFile(file);
  host.directoryExists = (folder) => folders.has(folder) || (directoryExists?.(folder) ?? false);
  return ts.createProgram([...texts.keys()], settings, host);
}

/** The problems in a file of a program, with their lines, counted from 0. */
export function problemsIn(program: ts.Program, file: string): { readonly line: number; readonly message: string }[] {
  const source = program.getSourceFile(file);
  if (source === undefined) throw new Error(`${file} is no part of the program.`);
  const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
  return found.map((problem) => ({
    line: source.getLineAndCharacterOfPosition(problem.start ?? 0).line,
    message: messageOf(problem),
  }));
}

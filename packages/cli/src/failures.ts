import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { CommandFailure, EXIT } from 'create-decorum';

import { advised } from './advice.js';
import { shown } from './entry.js';
import { syntaxErrorIn } from './loader/compile.js';
import { TYPESCRIPT } from './loader/resolve.js';
import { isSourceError, printable, type SourceError } from './loader/source-error.js';
import { memberPlace } from './member.js';

/** Where the project's own code, in the files that `isMeant` accepts, threw an error. */
function frameOf(
  error: Error,
  isMeant = (_file: string) => true,
): { readonly file: string; readonly at: string } | undefined {
  for (const [, path = '', line, column] of (error.stack ?? '').matchAll(
    /^ +at (?:async )?(?:.*\()?(.+?):(\d+):(\d+)\)?$/gm,
  )) {
    if (path.startsWith('node:') || /[\\/]node_modules[\\/]/.test(path)) continue;
    const file = path.startsWith('file:') ? fileURLToPath(path) : path;
    if (file.startsWith(OWN) || !isMeant(file)) continue;
    return { file, at: `:${line}:${column}` };
  }
  return undefined;
}

/** Where the project's own code threw an error: `src/main.ts:12:7`. */
function placeOf(error: Error, isMeant?: (file: string) => boolean): string | undefined {
  const frame = frameOf(error, isMeant);
  return frame && shown(frame.file) + frame.at;
}

const OWN = fileURLToPath(new URL('../', import.meta.url));

/** Error codes of `net.Server.listen` that the machine causes, not the program. */
const ENVIRONMENT: Readonly<Record<string, (address: string) => string>> = {
  EADDRINUSE: (address) =>
    `${address} is taken: another program listens there. Set PORT to another port, or to 0 for any that is free.`,
  EACCES: (address) => `${address} needs more privileges than this process has. Set PORT to 1024 or above.`,
  EADDRNOTAVAIL: (address) => `${address} is no address of this machine. Set HOST to one that is, such as 127.0.0.1.`,
};

/** Explains an error of `listen`; undefined for any other. */
export function listenFailure(error: unknown): CommandFailure | undefined {
  const {
    code = '',
    syscall,
    port,
    address,
  } = (error ?? {}) as NodeJS.ErrnoException & { port?: number; address?: string };
  if (syscall === 'getaddrinfo')
    return new CommandFailure(`HOST can't be resolved: ${(error as Error).message}.`, EXIT.environment);
  // workers of node:cluster get the errors of their primary as those of `bind`
  const explain = syscall === 'listen' || syscall === 'bind' ? ENVIRONMENT[code] : undefined;
  if (explain === undefined) return undefined;
  const where = code === 'EADDRNOTAVAIL' ? String(address) : `Port ${port ?? address}`;
  return new CommandFailure(explain(where), EXIT.environment, error);
}

/** A program, and where to locate its errors. */
export interface Program {
  readonly file: string;
  /** Its sources, which are searched for the members that errors are about. */
  readonly sources: Iterable<string>;
}

/**
 * Describes an error that a program threw while it loaded, with its position. `--debug` prints the stack as well.
 */
export function loadFailure(program: Program, error: unknown): CommandFailure {
  return listenFailure(error) ?? new CommandFailure(describe(program, error), EXIT.failed, error);
}

/** One line, or the frame of a syntax error. */
function describe(program: Program, error: unknown): string {
  if (!(error instanceof Error)) return `${shown(program.file)} threw ${String(error)}`;
  if (isSourceError(error)) return error.message;
  // a syntax error without a position is in a module: Node.js names the file only when it prints the error
  if (error.name === 'SyntaxError' && placeOf(error) === undefined) {
    const found = firstSyntaxError(program.sources);
    if (found) return found.message;
  }
  const name = /^(?:Error|DecorumError)$/.test(error.name) ? '' : `${error.name}: `;
  const message = advised(error.message, { file: frameOf(error)?.file, sources: program.sources });
  return `${placeIn(program, error)}  ${message.startsWith(name) ? '' : name}${message}`;
}

function firstSyntaxError(files: Iterable<string>): SourceError | undefined {
  for (const file of files) {
    const found = TYPESCRIPT.test(file) ? syntaxErrorIn(file, readFileSync(file, 'utf8')) : undefined;
    if (found) return found;
  }
  return undefined;
}

/** Whether a file is below the working directory. Decorum's own files, which throw startup errors, are elsewhere. */
const isInside = (file: string): boolean => shown(file) !== file;

function placeIn({ file, sources }: Program, error: Error): string {
  if (!isStartupError(error)) return placeOf(error) ?? shown(unlinkedFile(error) ?? file);
  const place = memberPlace(error, sources);
  return place === undefined ? (placeOf(error, isInside) ?? shown(file)) : printable(place);
}

/** Whether an error is about decorators or options. Works with any copy of @decorum/core. */
export const isStartupError = (error: unknown): boolean =>
  error instanceof Error && String((error as NodeJS.ErrnoException).code).startsWith('DECORUM_');

/** The file with an import that can't be linked: Node.js puts its URL before the stack. */
function unlinkedFile({ stack = '' }: Error): string | undefined {
  const [, url] = /^(file:.+):\d+\n/.exec(stack) ?? [];
  return url === undefined ? undefined : fileURLToPath(url);
}

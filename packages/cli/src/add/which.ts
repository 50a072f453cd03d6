import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { CommandFailure, EXIT } from 'create-decorum';

import { importsOf, isCore } from './bindings.js';
import { type ClassInfo, titleOf } from './classes.js';
import { isTypeScript, type Project, sourceFiles } from './project.js';
import { lineOf, placeOf, shown, type Source, walk } from './source.js';
import { providedIn, type World } from './world.js';

/** A class that members can be added to. */
export interface Candidate {
  readonly cls: ClassInfo;
  /** Whether a server adds a prefix to the names of its members. */
  readonly isPrefixed: boolean;
}

/**
 * Parses the files of a project. With `to`, skips other files that have syntax errors.
 * @param to the file with the class, optionally as `file:line`
 * @throws {CommandFailure} for a syntax error in that file. Without `to`, for one in any file, because each may contain
 * the class
 */
export function readable(world: World, project: Project, to: string | undefined): Source[] {
  const { path: named } = to === undefined ? { path: undefined } : targetOf(to);
  const others = sourceFiles(project).filter((path) => path !== named);
  const isThere = named !== undefined && isTypeScript(named) && existsSync(named);
  return [...(isThere ? [named] : []), ...others].flatMap((path) => {
    try {
      return [world.source(path)];
    } catch (error) {
      if (error instanceof CommandFailure && to !== undefined && path !== named) return [];
      throw error;
    }
  });
}

/** The classes with decorated members, the subclasses of `McpServer`, and the providers of servers. */
export function candidatesIn(world: World, sources: readonly Source[]): Candidate[] {
  const found = new Map<ClassInfo['node'], Candidate>();
  for (const source of sources) {
    for (const { name, isPrefixed } of providedIn(source)) {
      const cls = world.resolve(source, name);
      if (cls) found.set(cls.node, { cls, isPrefixed: isPrefixed || found.get(cls.node)?.isPrefixed === true });
    }
    for (const cls of world.classes(source)) {
      const serves = cls.members.some(({ kind }) => kind !== undefined) || world.isServer(cls);
      if (serves && !found.has(cls.node)) found.set(cls.node, { cls, isPrefixed: false });
    }
  }
  return [...found.values()].sort((a, b) => compare(keyOf(a), keyOf(b)));
}

/** How many servers the files construct or declare. */
export function countServers(world: World, sources: readonly Source[]): number {
  let count = 0;
  for (const source of sources) {
    const imports = importsOf(source);
    count += world.classes(source).filter((cls) => world.isServer(cls)).length;
    walk(source.program, (node) => {
      if (node.type === 'NewExpression' && isCore(imports, node.callee, 'McpServer')) count += 1;
    });
  }
  return count;
}

const keyOf = ({ cls }: Candidate): string => `${cls.source.path}:${String(cls.node.start).padStart(9, '0')}`;
const compare = (a: string, b: string): number => (a < b ? -1 : 1);

const listed = (classes: readonly ClassInfo[]): string =>
  classes.map((cls) => `  ${placeOf(cls.source, startOf(cls))}  ${titleOf(cls)}`).join('\n');

/** The offset of a class's name, or of `class` if it has no name. */
export const startOf = ({ node, source }: ClassInfo): number =>
  node.id?.start ?? source.text.indexOf('class', node.decorators.at(-1)?.end ?? node.start);

const usage = (message: string): CommandFailure => new CommandFailure(message, EXIT.usage);

function several(classes: readonly ClassInfo[], where: string): CommandFailure {
  const [first] = classes;
  const example = first ? `For example: --to ${placeOf(first.source, startOf(first))}` : '';
  return usage(`There are several classes in ${where}. Name one with --to:\n${listed(classes)}\n${example}`);
}

/** The file of `--to`, and the line if it has one. */
function targetOf(to: string): { path: string; line: number | undefined } {
  if (existsSync(to)) return { path: resolve(to), line: undefined };
  const [, file = to, line] = /^(.+?):(\d+)(?::\d+)?$/.exec(to) ?? [];
  return { path: resolve(file), line: line === undefined ? undefined : Number(line) };
}

function requireFile(path: string, to: string): void {
  if (!existsSync(path)) throw usage(`--to ${to}: there is no such file.`);
  if (!statSync(path).isFile()) throw usage(`--to ${to} is a folder. Name the file of the class.`);
  if (!isTypeScript(path)) throw usage(`--to ${to} is not a TypeScript file. Name the file of the class.`);
}

/**
 * Finds the class to add a member to.
 * @param to file or file:line; without it, the only class in the project
 * @throws {CommandFailure} with the candidates if there are several
 */
export function chooseClass(
  world: World,
  candidates: readonly Candidate[],
  to: { given: string | undefined; project: Project },
): ClassInfo {
  if (to.given !== undefined) return chosen(world, candidates, to.given);
  const classes = candidates.map(({ cls }) => cls);
  const [only] = classes;
  const where = shown(to.project.src);
  if (classes.length > 1) throw several(classes, where);
  if (only) return only;
  throw usage(
    `No class in ${where} has decorated members, extends McpServer or is a provider. Name a file: --to ${join(where, 'FILE.ts')}`,
  );
}

function chosen(world: World, candidates: readonly Candidate[], to: string): ClassInfo {
  const { path, line } = targetOf(to);
  requireFile(path, to);
  const source = world.source(path);
  const all = world.classes(source);
  if (all.length === 0) throw usage(`${shown(path)} has no class. Declare one, or name another file.`);
  if (line !== undefined) return atLine(all, line, to);
  const serving = candidates.filter(({ cls }) => cls.source === source).map(({ cls }) => cls);
  const plain = all.filter((cls) => !isData(cls));
  const classes = serving.length > 0 ? serving : plain.length > 0 ? plain : all;
  const [only] = classes;
  if (only && classes.length === 1) return only;
  throw several(classes, shown(path));
}

/** Whether a class is a DTO or an error. */
const isData = ({ node }: ClassInfo): boolean =>
  node.body.body.some((each) => each.type === 'PropertyDefinition' && each.decorators.length > 0) ||
  (node.superClass?.type === 'Identifier' && node.superClass.name.endsWith('Error'));

/** The innermost class around a line. */
function atLine(classes: readonly ClassInfo[], line: number, to: string): ClassInfo {
  const around = classes.findLast(({ node, source: { text } }) => {
    const start = node.decorators[0]?.start ?? node.start;
    return lineOf(text, start) <= line && line <= lineOf(text, node.end);
  });
  if (around) return around;
  throw usage(`--to ${to}: there is no class at this line. The classes are:\n${listed(classes)}`);
}

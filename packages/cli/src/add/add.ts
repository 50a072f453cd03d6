import { existsSync } from 'node:fs';
import { extname, resolve } from 'node:path';

import { CommandFailure, EXIT } from 'create-decorum';

import { topLevelNames } from './bindings.js';
import { type ClassInfo, type MemberInfo, optionOf, servedName, titleOf, uriOf } from './classes.js';
import { type Completed, findCompleted } from './completion.js';
import { insert } from './insert.js';
import { kebabCase, type Kind, type ListedKind, type Names, namesFor } from './names.js';
import { hasImported, type Need, spell } from './needs.js';
import { type Dialect, dialectOf, findProject, hasPackage, losesTypes, type Project } from './project.js';
import { lineOf, placeOf, shown, type Source } from './source.js';
import { type Style, styleOf } from './style.js';
import { subjectOf } from './subject.js';
import { commandOf, specifierFor, testPaths, testsOf, testText } from './test-file.js';
import { type Candidate, candidatesIn, chooseClass, countServers, readable } from './which.js';
import { World } from './world.js';
import {
  completionLines,
  dtoLines,
  exchangeOf,
  memberLines,
  needsOf,
  type NewCompletion,
  type NewMember,
  templateOf,
} from './write.js';

/** What the user asked for. */
export interface Request {
  readonly kind: Kind;
  readonly name: string;
  readonly to: string | undefined;
}

/** A file to write. */
export interface Change {
  readonly path: string;
  readonly text: string;
  readonly isNew: boolean;
}

/** What to write, and what to tell the user. */
export interface Addition {
  readonly changes: readonly Change[];
  readonly report: readonly string[];
}

/** Everything that is known about the place of a new member. */
interface Place {
  readonly world: World;
  readonly cls: ClassInfo;
  readonly candidates: readonly Candidate[];
  /** How many servers the project constructs. */
  readonly serverCount: number;
  readonly project: Project;
  readonly dialect: Dialect;
  readonly style: Style;
}

/**
 * Plans the addition of a member, without writing anything.
 * @throws {CommandFailure} for a name that exists, an unclear class, or a syntax error
 */
export async function planAddition({ kind, name, to }: Request): Promise<Addition> {
  const place = findPlace(to);
  if (kind !== 'completion') return addListed(place, kind, await namesIn(place, kind, name));
  return addCompletion(place, findCompleted(place.world, place.cls, name));
}

function findPlace(to: string | undefined): Place {
  const given = to === undefined ? process.cwd() : resolve(to, '..');
  const project = findProject(given);
  const world = new World();
  const sources = readable(world, project.src);
  const candidates = candidatesIn(world, sources);
  const cls = chooseClass(world, candidates, { given: to, folder: project.src });
  const dialect = dialectOf(cls.source.path, project);
  if (dialect.isLegacy && cls.node.type === 'ClassExpression') {
    const problem = 'is a class expression, whose members experimentalDecorators cannot decorate';
    throw new CommandFailure(
      `${placeOf(cls.source, cls.node.start)}  ${titleOf(cls)} ${problem}. Declare it with a statement: class ${cls.name ?? 'Name'} { … }`,
    );
  }
  const serverCount = countServers(world, sources);
  return { world, cls, candidates, serverCount, project, dialect, style: styleOf(cls.source) };
}

async function namesIn({ world, cls }: Place, kind: ListedKind, name: string): Promise<Names> {
  // loaded only where it is needed: it takes longer than everything else
  const server = world.isServer(cls) ? (await import('@decorum/core')).McpServer : undefined;
  return namesFor(kind, name, (method) => server !== undefined && method in server.prototype);
}

const exists = (source: Source, offset: number, what: string): CommandFailure =>
  new CommandFailure(`${placeOf(source, offset)}  ${what}. Nothing was written.`, EXIT.failed);

/** @throws {CommandFailure} if the class or the server has such a member, or the file has such a DTO */
function requireNew({ world, cls, candidates, serverCount }: Place, kind: ListedKind, names: Names): void {
  for (const owner of world.lineage(cls)) {
    const member = owner.members.find((each) => each.key === names.method || isSame(each, kind, names));
    if (member) throw exists(owner.source, member.start, `${titleOf(owner)}.${member.key} exists already`);
  }
  const dto = topLevelNames(cls.source).get(names.dto);
  if (dto !== undefined)
    throw exists(cls.source, dto, `${names.dto} exists already. Rename it, or choose another name`);
  const isPrefixed = candidates.some((each) => each.cls === cls && each.isPrefixed);
  // members of two servers, and those with a prefix, may have the same names
  if (isPrefixed || serverCount > 1) return;
  for (const { cls: other } of candidates.filter((each) => !each.isPrefixed && each.cls !== cls)) {
    const member = other.members.find((each) => isSame(each, kind, names));
    if (member)
      throw exists(other.source, member.start, `The ${kind} ${names.name} exists already in ${titleOf(other)}`);
  }
}

/** Whether clients would see two members under one name or URI. */
function isSame(member: MemberInfo, kind: ListedKind, names: Names): boolean {
  if (member.kind !== kind) return false;
  return servedName(member) === names.name || (kind === 'resource' && uriOf(member) === templateOf(names));
}

function addListed(place: Place, kind: ListedKind, names: Names): Addition {
  requireNew(place, kind, names);
  const { cls, dialect, project } = place;
  const namesInput = !dialect.emitsTypes || losesTypes(project) || cls.members.some((each) => optionOf(each, 'input'));
  const isImported = (name: string) => hasImported(cls.source, { module: '@decorum/core', name });
  const described = { kind, names, namesInput, hasValidators: dialect.isLegacy, isDescribed: true };
  // a description is not worth a second import of the same package
  const isDescribed = isImported('Describe') || !needsOf({ ...described, isDescribed: false }).core.every(isImported);
  const member: NewMember = { ...described, isDescribed };
  return compose(place, member, { file: kebabCase(names.name), reference: '' });
}

function addCompletion(place: Place, completed: Completed): Addition {
  const { argument, method, first } = completed;
  const { quote } = place.style;
  const member: NewCompletion = { kind: 'completion', method, argument, for: completed.for };
  const target = first.kind === 'prompt' ? `prompt: ${quote}${servedName(first)}` : `resource: ${quote}${uriOf(first)}`;
  return compose(place, member, { file: kebabCase(`${first.key}-${argument}`), reference: `{ ${target}${quote} }` });
}

/** Puts the new code and its test together. */
function compose(
  place: Place,
  member: NewMember | NewCompletion,
  about: { file: string; reference: string },
): Addition {
  const { world, cls, project, dialect, style } = place;
  const { source } = cls;
  const { core, validator } = needsOf(member);
  const needs: Need[] = [
    ...core.map((name) => ({ module: '@decorum/core', name }) as const),
    ...validator.map((name) => ({ module: 'class-validator', name }) as const),
  ];
  const { as, missing } = spell(source, needs);
  const writing = { style, as };
  const isCompletion = member.kind === 'completion';
  const subject = subjectOf(world, cls);
  const exported = 'reason' in subject ? undefined : subject.toExport;
  const text = insert(
    cls,
    {
      missing,
      dto: isCompletion ? [] : dtoLines(member, writing),
      member: isCompletion ? completionLines(member, writing) : memberLines(member, writing),
      exported,
    },
    style,
  );
  const change = { path: source.path, text, isNew: false };
  const method = isCompletion ? member.method : member.names.method;
  const added = [`${shown(source.path)}:${lineOfMember(text, method)}  ${titleOf(cls)}.${method}`];
  if ('reason' in subject) {
    return {
      changes: [change],
      report: [...added, `No test: ${subject.reason}.`, ...missingPackages(project, undefined)],
    };
  }
  const tests = testsOf(project, source);
  const paths = testPaths(tests, { file: about.file, kind: member.kind }, extname(source.path).replace('x', ''));
  const path = paths.find((each) => !existsSync(each));
  if (path === undefined) {
    const taken = paths[0] ?? '';
    throw new CommandFailure(
      `${shown(taken)}:1  The test exists already. Rename it, or choose another name. Nothing was written.`,
    );
  }
  const specifier = specifierFor(path, source, dialect);
  const exchange = exchangeOf(member, style, about.reference);
  const test = { path, text: testText({ subject, exchange, specifier }, tests, style), isNew: true };
  const report = [
    ...added,
    `${shown(path)}:1  its test: ${commandOf(tests, path)}`,
    ...missingPackages(project, tests.runner),
  ];
  return { changes: [change, test], report };
}

/** The line of the new member, which is the last one with its name. */
function lineOfMember(text: string, method: string): number {
  const found = [...text.matchAll(new RegExp(`^[ \\t]*${method}\\(`, 'gm'))].at(-1);
  return lineOf(text, found ? found.index : 0);
}

/** What to install before the new code runs. */
function missingPackages(project: Project, runner: string | undefined): string[] {
  const lacks = (name: string) => !hasPackage(project, name);
  const forCode = ['@decorum/core', 'class-validator', 'class-transformer'].filter(lacks);
  const forTests = [
    ...(runner === 'vitest' || runner === 'jest' ? [runner] : []),
    ...(runner ? ['@decorum/testing'] : []),
  ].filter(lacks);
  return [
    ...(forCode.length > 0 ? [`To install: npm install ${forCode.join(' ')}`] : []),
    ...(forTests.length > 0 ? [`To install: npm install -D ${forTests.join(' ')}`] : []),
  ];
}

import { existsSync } from 'node:fs';
import { extname } from 'node:path';

import { CommandFailure } from 'create-decorum';

import { type ClassInfo, memberTitle } from './classes.js';
import { insert } from './insert.js';
import { spell } from './needs.js';
import { type Dialect, hasOldVite, hasPackage, type Project } from './project.js';
import { lineOf, shown } from './source.js';
import type { Style } from './style.js';
import { type Subject, subjectOf } from './subject.js';
import { commandOf, specifierFor, testPaths, testsOf, testText } from './test-file.js';
import type { Candidate } from './which.js';
import type { World } from './world.js';
import {
  completionLines,
  dtoLines,
  exchangeOf,
  memberLines,
  needsOf,
  type NewCompletion,
  type NewMember,
} from './write.js';

/** A file to write. */
export interface Change {
  readonly path: string;
  readonly text: string;
  readonly isNew: boolean;
}

/** The files to write, and the lines to print. */
export interface Addition {
  readonly changes: readonly Change[];
  readonly report: readonly string[];
}

/** Everything that is known about the place of a new member. */
export interface Place {
  readonly world: World;
  readonly cls: ClassInfo;
  readonly candidates: readonly Candidate[];
  /** How many servers the project constructs. */
  readonly serverCount: number;
  readonly project: Project;
  readonly dialect: Dialect;
  readonly style: Style;
}

/** A new member, and what its test needs to know about it. */
export interface Wanted {
  readonly member: NewMember | NewCompletion;
  /** The name of the test file, without its extension. */
  readonly file: string;
  /** Code that refers to the completed prompt or template. */
  readonly reference: string;
}

/**
 * Composes the new code and its test.
 * @throws {CommandFailure} if both names for the test are taken
 */
export function compose(place: Place, wanted: Wanted): Addition {
  const { world, cls, project } = place;
  const subject = subjectOf(world, cls, project.root);
  if ('reason' in subject) {
    const { change, report } = changeOf(place, wanted.member, undefined);
    return {
      changes: [change],
      report: [report, `No test: ${subject.reason}.`, ...missingPackages(project, wanted.member, [])],
    };
  }
  const { change, report } = changeOf(place, wanted.member, subject.toExport);
  const test = testOf(place, wanted, subject);
  return { changes: [change, test.change], report: [report, ...test.report] };
}

interface Part<R> {
  readonly change: Change;
  readonly report: R;
}

/** The file of the class, with the new code. */
function changeOf(
  { cls, style }: Place,
  member: NewMember | NewCompletion,
  exported: string | undefined,
): Part<string> {
  const { source } = cls;
  const { as, missing } = spell(source, needsOf(member));
  const writing = { style, as };
  const isCompletion = member.kind === 'completion';
  const dto = isCompletion ? [] : dtoLines(member, writing);
  const lines = isCompletion ? completionLines(member, writing) : memberLines(member, writing);
  const method = isCompletion ? member.method : member.names.method;
  const { text, offset } = insert(cls, { missing, dto, member: lines, method, exported }, style);
  const completed = isCompletion ? `, which completes ${member.argument} of ${member.for.join(', ')}` : '';
  const report = `${shown(source.path)}:${lineOf(text, offset)}  ${memberTitle(cls, method)}${completed}`;
  return { change: { path: source.path, text, isNew: false }, report };
}

/** @throws {CommandFailure} if tests with these names already exist */
function testOf(place: Place, { member, file, reference }: Wanted, subject: Subject): Part<string[]> {
  const { cls, project, dialect, style } = place;
  const tests = testsOf(project, cls.source);
  const paths = testPaths(tests, { file, kind: member.kind }, extname(cls.source.path).replace('x', ''));
  const path = paths.find((each) => !existsSync(each));
  if (path === undefined) {
    const taken = paths.map((each) => `${shown(each)}:1`).join(' and ');
    throw new CommandFailure(
      `${taken}  The test exists already. Rename it, or choose another name. Nothing was written.`,
    );
  }
  const specifier = specifierFor({ ...tests, path }, cls.source, dialect);
  const exchange = exchangeOf(member, style, reference);
  const text = testText({ subject, exchange, specifier }, tests, style);
  const report = [
    `${shown(path)}:1  its test: ${commandOf(tests, project, path)}`,
    ...missingPackages(project, member, [tests.runner, '@decorum/testing', subject.needs]),
    ...(tests.runner === 'vitest' && !dialect.isLegacy && !hasOldVite(project) ? [OLD_VITE] : []),
  ];
  return { change: { path, text, isNew: true }, report };
}

const OLD_VITE = 'Vite 8 cannot compile standard decorators. Vite 7 can: npm install -D vite@7';

/** Lines that tell the user which packages to install. */
function missingPackages(
  project: Project,
  member: NewMember | NewCompletion,
  forTests: readonly (string | undefined)[],
): string[] {
  const lacks = (name: string | undefined) => name !== undefined && name !== 'node' && !hasPackage(project, name);
  const isZod = member.kind !== 'completion' && member.rules === 'zod';
  const libraries = isZod ? ['zod'] : ['class-validator', 'class-transformer'];
  const forCode = ['@decorum/core', ...libraries].filter(lacks);
  const missing = forTests.filter(lacks);
  return [
    ...(forCode.length > 0 ? [`To install: npm install ${forCode.join(' ')}`] : []),
    ...(missing.length > 0 ? [`To install: npm install -D ${missing.join(' ')}`] : []),
  ];
}

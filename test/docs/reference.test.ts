// Tables of members name their type in the paragraph before them: "Type: `ToolOptions`". "All of `PromptOptions`, plus
// these. Type: `ToolOptions`" leaves out the members of another table.
import { existsSync, readFileSync } from 'node:fs';
import * as nodeHttp from 'node:http';
import { join } from 'node:path';

import * as auth from '@decorum/auth';
import * as core from '@decorum/core';
import * as plugin from '@decorum/core/plugin';
import * as http from '@decorum/http';
import * as fetchEntry from '@decorum/http/fetch';
import * as nodeEntry from '@decorum/http/node';
import * as testing from '@decorum/testing';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';

import { expectNone, filesUnder, ROOT } from '../architecture/source.js';

const PAGES = filesUnder('docs', '.md').map((page) => ({ page, text: readFileSync(join(ROOT, page), 'utf8') }));

const ENTRIES = [
  'core/src/index',
  'core/src/plugin',
  'http/src/index',
  'http/src/node',
  'http/src/fetch',
  'testing/src/index',
  'testing/src/jest',
  'auth/src/index',
  'opentelemetry/src/index',
  'prometheus/src/index',
]
  .map((entry) => join(ROOT, `packages/${entry}.ts`))
  .filter((file) => existsSync(file));

const program = ts.createProgram(ENTRIES, {
  module: ts.ModuleKind.NodeNext,
  target: ts.ScriptTarget.ES2022,
  experimentalDecorators: true,
  types: ['node'],
});
const checker = program.getTypeChecker();

/** The exported types of all packages, by name. */
const types = new Map(
  ENTRIES.flatMap((entry) => {
    const file = program.getSourceFile(entry);
    const module = file && checker.getSymbolAtLocation(file);
    return module ? checker.getExportsOfModule(module) : [];
  }).map((symbol) => {
    const isAlias = (symbol.flags & ts.SymbolFlags.Alias) !== 0;
    return [symbol.name, isAlias ? checker.getAliasedSymbol(symbol) : symbol] as const;
  }),
);

const isForFramework = (member: ts.Symbol): boolean =>
  ts.displayPartsToString(member.getDocumentationComment(checker)).startsWith('Internal');

const isPublic = (member: ts.Symbol): boolean =>
  !/^(?:__|#)/.test(member.name) &&
  !isForFramework(member) &&
  (member.declarations ?? []).every(
    (node) => (ts.getCombinedModifierFlags(node) & (ts.ModifierFlags.Private | ts.ModifierFlags.Protected)) === 0,
  );

/** The public members of a type; of a union those of each part. */
function symbolsOf(name: string): ts.Symbol[] {
  const symbol = types.get(name);
  if (symbol === undefined) throw new Error(`No package exports a type "${name}".`);
  const type = checker.getDeclaredTypeOfSymbol(symbol);
  const parts = type.isUnion() ? type.types : [type];
  return parts.flatMap((part) => checker.getPropertiesOfType(part).filter(isPublic));
}

const membersOf = (name: string): string[] => symbolsOf(name).map((member) => member.name);

const isOptional = (member: ts.Symbol): boolean => (member.flags & ts.SymbolFlags.Optional) !== 0;

const unique = (names: readonly string[]): string[] => [...new Set(names)].sort();

/** A table whose rows are the members of types. */
interface MemberTable {
  readonly where: string;
  readonly types: readonly string[];
  /** Types whose members are in another table. */
  readonly besides: readonly string[];
  readonly names: readonly string[];
  /** The names of rows that say "required"; undefined for a table without a column for defaults. */
  readonly required: readonly string[] | undefined;
}

const namesIn = (text: string): string[] => [...text.matchAll(/`@?(\w+)[^`]*`/g)].map(([, name = '']) => name);

/** The name of each row is in its first cell, as code. */
function tablesOf({ page, text }: { readonly page: string; readonly text: string }): MemberTable[] {
  const found = text.matchAll(/((?:^[^|\n].*\n)+)\n(\|.*\n\|[-| :]+\n(?:\|.*\n?)+)/gm);
  return [...found].flatMap(([whole, paragraph = '', table = '']) => {
    const named = /\b(?:types?|class):((?:\s+`\w+`,?)+)/i.exec(paragraph)?.[1];
    if (named === undefined) return [];
    const besides = namesIn(/\ball\s+of\s+`\w+`/i.exec(paragraph)?.[0] ?? '');
    const [head = '', , ...rows] = table.trimEnd().split('\n');
    const line = text.slice(0, text.indexOf(whole)).split('\n').length;
    const where = `${page}:${line} (${namesIn(named).join(', ')})`;
    const firstNames = (chosen: readonly string[]) => chosen.flatMap((row) => namesIn(row.split('|')[1] ?? ''));
    const required = firstNames(rows.filter((row) => /\| required +\|/.test(row)));
    const hasDefaults = /\| default +\|/.test(head);
    return [
      { where, types: namesIn(named), besides, names: firstNames(rows), required: hasDefaults ? required : undefined },
    ];
  });
}

const TABLES = PAGES.flatMap(tablesOf);

describe('the tables of options and members', () => {
  it.each(TABLES.map((table) => [table.where, table] as const))('have what the type has: %s', (_where, table) => {
    const members = table.types.flatMap(membersOf);
    const elsewhere = new Set(table.besides.flatMap(membersOf));
    // a difference? a row is missing, or names what the code doesn't have
    expect([...table.names].sort()).toEqual(unique(members.filter((member) => !elsewhere.has(member))));
  });

  it.each(TABLES.filter(({ required }) => required).map((table) => [table.where, table] as const))(
    'say what is required: %s',
    (_where, { types: named, names, required }) => {
      const members = named.flatMap(symbolsOf).filter((member) => names.includes(member.name));
      const optional = new Set(members.filter(isOptional).map((member) => member.name));
      expect([...(required ?? [])].sort()).toEqual(
        unique(members.map((member) => member.name)).filter((name) => !optional.has(name)),
      );
    },
  );

  it('are there for every exported type of options', () => {
    const documented = new Set(TABLES.flatMap((table) => table.types));
    const known = new Set([...documented].map((name) => unique(membersOf(name)).join()));
    const missing = [...types.keys()].filter(
      (name) => name.endsWith('Options') && !documented.has(name) && !known.has(unique(membersOf(name)).join()),
    );
    expectNone('Add a table to docs/reference with "Type: `…`" before it.', missing);
  });
});

describe('the documentation', () => {
  const reference = PAGES.filter(({ page }) => page.startsWith('docs/reference'));

  it('names only types in the reference that exist', () => {
    const named = reference.flatMap(({ text }) => [...text.matchAll(/(?<=`)[A-Z][A-Za-z]*(?=(?:<S>|\[\])?`)/g)]);
    const known = (name: string) => types.has(name) || name in globalThis || name in nodeHttp;
    expectNone(
      'Correct the name.',
      named.map(([name]) => name).filter((name) => !known(name)),
    );
  });

  const code = PAGES.flatMap(({ text }) => [...text.matchAll(/`[^`\n]+`|^```[^]*?^```/gm)].map(([found]) => found));
  const words = new Set(code.join(' ').match(/\w+/g));

  it.each([
    ['@decorum/core', core],
    ['@decorum/core/plugin', plugin],
    ['@decorum/http', http],
    ['@decorum/http/node', nodeEntry],
    ['@decorum/http/fetch', fetchEntry],
    ['@decorum/testing', testing],
    ['@decorum/auth', auth],
  ])('names everything that %s exports', (_name, entry) => {
    expectNone(
      'Say in docs/ what it is for.',
      Object.keys(entry).filter((name) => !words.has(name)),
    );
  });
});

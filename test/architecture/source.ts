import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

import ts from 'typescript';

/** The root of the repository. */
export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');

/** An import or re-export, including types. */
export interface Import {
  /** As written in the source. */
  readonly specifier: string;
  /** Relative to the root, with `.ts`; undefined for packages and Node's own modules. */
  readonly file: string | undefined;
  readonly typesOnly: boolean;
  readonly line: number;
}

/** A source file, parsed. */
export interface Source {
  /** Relative to the root, with `/`. */
  readonly file: string;
  readonly text: string;
  readonly tree: ts.SourceFile;
  readonly imports: readonly Import[];
}

const SKIPPED = new Set(['node_modules', 'dist', 'data']);
/** Folders of no source, and those that a test beside this one may just be removing. */
const isSkipped = (name: string) => SKIPPED.has(name) || name.startsWith('.tmp-');
/** Written by `npm run docs`. */
const GENERATED = 'docs/reference/packages';

/** All files under a folder (relative to the root) with this extension, without dependencies and build output. */
export function filesUnder(folder: string, extension: string): string[] {
  const found = readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return isSkipped(entry.name) || path === GENERATED ? [] : filesUnder(path, extension);
    return entry.name.endsWith(extension) ? [path] : [];
  });
  return found.sort();
}

/** The folders in `packages/`. */
export const PACKAGES: readonly string[] = readdirSync(join(ROOT, 'packages')).sort();

/** The line of a position, starting at 1. */
export function lineOf(tree: ts.SourceFile, position: number): number {
  return tree.getLineAndCharacterOfPosition(position).line + 1;
}

/** Visits a node and all its descendants. */
export function visit(node: ts.Node, see: (node: ts.Node) => void): void {
  see(node);
  ts.forEachChild(node, (child) => visit(child, see));
}

function specifierOf(node: ts.Node): { literal: ts.Expression | undefined; typesOnly: boolean } | undefined {
  if (ts.isImportDeclaration(node)) {
    const { importClause: clause } = node;
    const named = clause?.namedBindings;
    const elements = named !== undefined && ts.isNamedImports(named) ? named.elements : undefined;
    const each = elements !== undefined && clause?.name === undefined && elements.every(({ isTypeOnly }) => isTypeOnly);
    return { literal: node.moduleSpecifier, typesOnly: clause?.isTypeOnly === true || each };
  }
  if (ts.isExportDeclaration(node)) return { literal: node.moduleSpecifier, typesOnly: node.isTypeOnly };
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
    return { literal: node.argument.literal as ts.Expression, typesOnly: true };
  }
  const isImportCall = ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword;
  return isImportCall ? { literal: node.arguments[0], typesOnly: false } : undefined;
}

function importsOf(file: string, tree: ts.SourceFile): Import[] {
  const imports: Import[] = [];
  visit(tree, (node) => {
    const found = specifierOf(node);
    if (found?.literal === undefined || !ts.isStringLiteral(found.literal)) return;
    const specifier = found.literal.text;
    const target = join(dirname(file), specifier).split(sep).join('/').replace(/\.js$/, '.ts');
    imports.push({
      specifier,
      file: specifier.startsWith('.') ? target : undefined,
      typesOnly: found.typesOnly,
      line: lineOf(tree, node.getStart(tree)),
    });
  });
  return imports;
}

/** Parses one file. */
export function parse(file: string, text = readFileSync(join(ROOT, file), 'utf8')): Source {
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  return { file: relative(ROOT, join(ROOT, file)).split(sep).join('/'), text, tree, imports: importsOf(file, tree) };
}

const everySource = filesUnder('packages', '.ts').map((file) => parse(file));

/** The published sources: `packages/<name>/src`. */
export const SOURCES: readonly Source[] = everySource.filter(({ file }) => /^packages\/[^/]+\/src\//.test(file));

/** All other TypeScript files: tests, examples and benchmarks. */
export const OTHERS: readonly Source[] = [
  ...everySource.filter((source) => !SOURCES.includes(source)),
  ...['examples', 'bench', 'test'].flatMap((folder) => filesUnder(folder, '.ts').map((file) => parse(file))),
];

/** All comments of a file with their lines. */
export function commentsOf({ text, tree }: Source): { readonly text: string; readonly line: number }[] {
  const ranges = new Map<number, ts.CommentRange>();
  const collect = (found: readonly ts.CommentRange[] | undefined) =>
    found?.forEach((range) => ranges.set(range.pos, range));
  const see = (node: ts.Node) => {
    collect(ts.getLeadingCommentRanges(text, node.getFullStart()));
    collect(ts.getTrailingCommentRanges(text, node.getEnd()));
    for (const child of node.getChildren(tree)) see(child);
  };
  see(tree);
  return [...ranges.values()].map(({ pos, end }) => ({ text: text.slice(pos, end), line: lineOf(tree, pos) }));
}

/**
 * Throws an error with the advice and all violations if there are any.
 * @param advice the rule and its remedy
 * @param violations each as `file:line violation`
 */
export function expectNone(advice: string, violations: readonly string[]): void {
  if (violations.length === 0) return;
  const error = new Error(`${advice}\n\n${violations.map((violation) => `  ${violation}`).join('\n')}\n`);
  delete error.stack;
  throw error;
}

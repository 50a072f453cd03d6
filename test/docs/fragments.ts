// Turns blocks of TypeScript into modules that compile.
//
// - Each block is a module. Names that it doesn't declare come from the blocks above it: first from those in its
//   section, then from those in the sections around it, then from any others. If no block above declares a name, it
//   comes from `setup/<page>.ts`, which contains the page's hidden declarations, or else from a block below. The README
//   of a package shares the setup of the page with its name.
// - A block without imports may use everything that our packages, class-validator and class-transformer export.
// - A block of class members is compiled as the body of a class, and a block with `return` or `this` as the body of a
//   function. In both, `this` is the `Self` of the setup.
import { readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';

import * as transformer from 'class-transformer';
import * as validator from 'class-validator';
import ts from 'typescript';

import { filesUnder, ROOT, visit } from '../architecture/source.js';
import { type Block, blocksOf } from './blocks.js';

/** Where a name comes from. */
interface Origin {
  readonly module: string;
  readonly name: string;
}
type Scope = ReadonlyMap<string, Origin>;

/** A block as a module. Its first line is generated; the block begins on the second. */
export interface Fragment {
  readonly block: Block;
  /** Absolute path. The file exists only for the compiler. */
  readonly file: string;
  readonly text: string;
}

const parse = (text: string) => ts.createSourceFile('block.ts', text, ts.ScriptTarget.Latest, true);
const hasSyntaxErrors = (text: string) =>
  (parse(text) as unknown as { parseDiagnostics: readonly unknown[] }).parseDiagnostics.length > 0;

/** The original name in an export specifier or import specifier. */
const originalName = ({ propertyName, name }: ts.ImportSpecifier | ts.ExportSpecifier) => (propertyName ?? name).text;

/** The names that a module imports, and where they come from. */
function importsOf(tree: ts.SourceFile): Map<string, Origin> {
  const found = new Map<string, Origin>();
  for (const statement of tree.statements) {
    if (!ts.isImportDeclaration(statement)) continue;
    const module = (statement.moduleSpecifier as ts.StringLiteral).text;
    const { name, namedBindings } = statement.importClause ?? {};
    if (name !== undefined) found.set(name.text, { module, name: 'default' });
    if (namedBindings === undefined || ts.isNamespaceImport(namedBindings)) continue;
    for (const each of namedBindings.elements) found.set(each.name.text, { module, name: originalName(each) });
  }
  return found;
}

function bound(name: ts.BindingName): string[] {
  if (ts.isIdentifier(name)) return [name.text];
  return name.elements.flatMap((element) => (ts.isOmittedExpression(element) ? [] : bound(element.name)));
}

const isExported = (statement: ts.Statement) =>
  ts.canHaveModifiers(statement) &&
  ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);

/** The names that the top level of a module declares, and whether it exports them. */
function declarationsOf(tree: ts.SourceFile): Map<string, boolean> {
  const found = new Map<string, boolean>();
  for (const statement of tree.statements) {
    const exported = isExported(statement) === true;
    const named = (statement as { name?: ts.Node }).name;
    if (ts.isVariableStatement(statement)) {
      for (const { name } of statement.declarationList.declarations)
        bound(name).forEach((it) => found.set(it, exported));
    } else if (named !== undefined && ts.isIdentifier(named)) found.set(named.text, exported);
  }
  return found;
}

/** The names that a module exports. */
function exportsOf(file: string): string[] {
  const tree = parse(readFileSync(file, 'utf8'));
  const listed = tree.statements.flatMap((statement) => {
    if (!ts.isExportDeclaration(statement)) return [];
    const clause = statement.exportClause;
    return clause !== undefined && ts.isNamedExports(clause) ? clause.elements.map(({ name }) => name.text) : [];
  });
  const declared = [...declarationsOf(tree)].filter(([, exported]) => exported).map(([name]) => name);
  return [...listed, ...declared];
}

/** Our entries, by import specifier. */
const ENTRIES: Readonly<Record<string, string>> = {
  '@decorum/schema': 'packages/schema/src/index.ts',
  '@decorum/uri-template': 'packages/uri-template/src/index.ts',
  '@decorum/testing': 'packages/testing/src/index.ts',
  '@decorum/testing/contracts': 'packages/testing/src/contracts.ts',
  '@decorum/testing/jest': 'packages/testing/src/jest.ts',
  '@decorum/testing/vitest': 'packages/testing/src/vitest.ts',
  '@decorum/http/fetch': 'packages/http/src/fetch.ts',
  '@decorum/http/lambda': 'packages/http/src/lambda.ts',
  '@decorum/http/cluster': 'packages/http/src/cluster.ts',
  '@decorum/auth-server/store-contract': 'packages/auth-server/src/store-contract.ts',
  '@decorum/http/node': 'packages/http/src/node.ts',
  '@decorum/http': 'packages/http/src/index.ts',
  '@decorum/auth': 'packages/auth/src/index.ts',
  '@decorum/auth-server': 'packages/auth-server/src/index.ts',
  '@decorum/nestjs': 'packages/nestjs/src/index.ts',
  '@decorum/opentelemetry': 'packages/opentelemetry/src/index.ts',
  '@decorum/prometheus': 'packages/prometheus/src/index.ts',
  '@decorum/audit': 'packages/audit/src/index.ts',
  '@decorum/redis': 'packages/redis/src/index.ts',
  '@decorum/apps': 'packages/apps/src/index.ts',
  '@decorum/files': 'packages/files/src/index.ts',
  '@decorum/client': 'packages/client/src/index.ts',
  '@decorum/openapi': 'packages/openapi/src/index.ts',
  '@decorum/search': 'packages/search/src/index.ts',
  '@decorum/skills': 'packages/skills/src/index.ts',
  '@decorum/tasks': 'packages/tasks/src/index.ts',
  '@decorum/core/plugin': 'packages/core/src/plugin.ts',
  '@decorum/core': 'packages/core/src/index.ts',
};

/** The names that a block without imports may use. */
export const PACKAGE_SCOPE: Scope = new Map(
  [
    ...Object.keys(transformer).map((name) => [name, 'class-transformer'] as const),
    ...Object.keys(validator).map((name) => [name, 'class-validator'] as const),
    // the others would hide `Request` and other global names
    ...['Inject', 'Injectable', 'Module', 'UseGuards'].map((name) => [name, '@nestjs/common'] as const),
    ['NestFactory', '@nestjs/core'] as const,
    ...Object.entries(ENTRIES).flatMap(([module, file]) =>
      exportsOf(join(ROOT, file)).map((name) => [name, module] as const),
    ),
  ]
    // `default` is Node's; `Headers` of @decorum/http would hide the global one
    .filter(([name]) => !['default', 'module.exports', 'Headers'].includes(name))
    .map(([name, module]) => [name, { module, name }]),
);

const PAGES_FOLDER = join(ROOT, 'test/docs/pages');
/** Where the files of a page are. Those of all pages of Start make one project. */
const folderOf = (page: string) => join(PAGES_FOLDER, page.startsWith('docs/start/') ? dirname(page) : page);
const SETUP_FOLDER = join(ROOT, 'test/docs/setup');
/** The modules with the hidden declarations of pages. */
export const SETUPS: ReadonlySet<string> = new Set(
  filesUnder('test/docs/setup', '.ts').map((file) => join(ROOT, file)),
);

const relativeImport = (from: string, to: string) => {
  const path = relative(dirname(from), to).replace(/\.ts$/, '.js');
  return path.startsWith('.') ? path : `./${path}`;
};

/** Whether code is only valid in a function. */
function needsFunction(tree: ts.SourceFile): boolean {
  const needs = (node: ts.Node, within: boolean): boolean => {
    if (node.kind === ts.SyntaxKind.ThisKeyword) return true;
    if (ts.isReturnStatement(node) && !within) return true;
    if (ts.isClassLike(node) || (ts.isFunctionLike(node) && !ts.isArrowFunction(node))) return false;
    const inFunction = within || ts.isArrowFunction(node);
    return ts.forEachChild(node, (child) => needs(child, inFunction) || undefined) ?? false;
  };
  return needs(tree, false);
}

/** The lines before and after a block that make it a module. */
function wrapping(text: string, self: boolean): readonly [before: string, after: string] {
  if (hasSyntaxErrors(text)) {
    const before = self ? 'class Fragment extends Self {' : 'class Fragment {';
    if (!hasSyntaxErrors(`${before}\n${text}\n}`)) return [before, '}'];
  }
  const tree = parse(text);
  if (needsFunction(tree)) return [`async function fragment(${self ? 'this: Self' : ''}) {`, '}'];
  const own = [...declarationsOf(tree)].filter(([, exported]) => !exported).map(([name]) => name);
  return ['', `export { ${own.join(', ')} };`];
}

/** A block, and the names that other blocks can use from it. */
interface Parsed {
  readonly block: Block;
  readonly file: string;
  readonly wrapped: readonly [before: string, after: string];
  readonly tree: ts.SourceFile;
  readonly own: ReadonlySet<string>;
  readonly imports: number;
  readonly offers: Scope;
}

function parsed(block: Block, self: boolean): Parsed {
  const folder = block.file === undefined ? join(PAGES_FOLDER, block.page) : folderOf(block.page);
  const file = join(folder, block.file ?? `line-${block.line}.ts`);
  const wrapped = wrapping(block.text, self);
  const isModule = wrapped[0] === '';
  const tree = parse(`${wrapped[0]}\n${block.text}\n${isModule ? '' : wrapped[1]}`);
  const imports = importsOf(tree);
  const declared = [...declarationsOf(tree).keys()];
  const offers = new Map([...imports].filter(([, { module }]) => !module.startsWith('.')));
  if (isModule) for (const name of declared) offers.set(name, { module: file, name });
  return { block, file, wrapped, tree, own: new Set([...imports.keys(), ...declared]), imports: imports.size, offers };
}

/** Finds where a name in a block comes from. */
function originOf(name: string, parts: readonly Parsed[], index: number, setup: Scope): Origin | undefined {
  const { section } = (parts[index] as Parsed).block;
  const above = parts.slice(0, index).filter(({ offers }) => offers.has(name));
  const around = above.filter(({ block }) => block.section.every((heading, depth) => heading === section[depth]));
  const origin = (around.at(-1) ?? above.at(-1))?.offers.get(name) ?? setup.get(name);
  return (
    origin ??
    parts
      .slice(index + 1)
      .find(({ offers }) => offers.has(name))
      ?.offers.get(name)
  );
}

/** The exports of `setup/<page>.ts`. */
function setupOf(page: string): Scope {
  const name = page.startsWith('packages/') ? page.split('/')[1] : basename(page, '.md');
  const setup = join(SETUP_FOLDER, `${name}.ts`);
  const names = SETUPS.has(setup) ? exportsOf(setup) : [];
  return new Map(names.map((it) => [it, { module: setup, name: it }]));
}

/** The TypeScript blocks of a page as modules. */
export function fragmentsOf(page: string): Fragment[] {
  const setup = setupOf(page);
  const blocks = blocksOf(page).filter(({ language }) => language === 'ts');
  const parts = blocks.map((block) => parsed(block, setup.has('Self')));
  return parts.map(({ block, file, wrapped: [before, after], tree, own, imports }, index) => {
    const used = new Set<string>();
    visit(tree, (node) => {
      if (ts.isIdentifier(node) && !own.has(node.text)) used.add(node.text);
    });
    const lines = [...used].flatMap((name) => {
      const origin = originOf(name, parts, index, setup) ?? (imports === 0 ? PACKAGE_SCOPE.get(name) : undefined);
      if (origin === undefined) return [];
      const module = origin.module.startsWith('/') ? relativeImport(file, origin.module) : origin.module;
      return [`import { ${origin.name} as ${name} } from '${module}';`];
    });
    return { block, file, text: `${lines.join(' ')} ${before}\n${block.text}\n${after}\n` };
  });
}

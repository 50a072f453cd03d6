/**
 * Lists what the packages export, from their built declarations. `npm run api` writes `packages/<name>/api.md`, and a
 * test fails while a list is out of date, so a reviewer sees each change of a public name or type.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';

import ts from 'typescript';

import { ROOT } from './workspace.js';

const printer = ts.createPrinter({ removeComments: true, omitTrailingSemicolon: true });

/**
 * @typedef {object} Export
 * @property {string} name
 * @property {string} text its declaration, without comments and private members
 * @property {string} doc its doc comment
 * @property {string | undefined} from the package that declares it, if it is another
 * @typedef {{ entry: string, exports: Export[] }} Entry such as `@decorum/http/node`
 */

/** @param {ts.ClassElement} member */
const isHidden = (member) =>
  (ts.getCombinedModifierFlags(member) & ts.ModifierFlags.Private) !== 0 ||
  (member.name !== undefined && ts.isPrivateIdentifier(member.name));

/** @param {ts.Node} node */
function textOf(node) {
  const declared = ts.isVariableDeclaration(node) ? node.parent.parent : node;
  const shown = ts.isClassDeclaration(declared)
    ? ts.factory.createClassDeclaration(
        declared.modifiers,
        declared.name,
        declared.typeParameters,
        declared.heritageClauses,
        declared.members.filter((member) => !isHidden(member)),
      )
    : declared;
  return printer.printNode(ts.EmitHint.Unspecified, shown, node.getSourceFile()).replace(/^export (?:declare )?/, '');
}

/**
 * @param {string} folder the folder of the package that exports the symbol
 * @param {ts.Symbol} exported
 * @param {ts.TypeChecker} checker
 * @returns {Export}
 */
function exportOf(folder, exported, checker) {
  const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
  const { declarations = [] } = symbol;
  const file = declarations[0]?.getSourceFile().fileName ?? '';
  return {
    name: exported.name,
    text: declarations.map(textOf).join('\n'),
    doc: ts.displayPartsToString(symbol.getDocumentationComment(checker)),
    from: file.startsWith(`${folder}/`) ? undefined : /packages\/([^/]+)\/dist/.exec(file)?.[1],
  };
}

/**
 * What the entries of all packages export.
 * @returns {Map<string, Entry[]>} by the package's folder. Programs, which export nothing, are left out
 */
export function entriesOfPackages() {
  const found = readdirSync(join(ROOT, 'packages')).flatMap((name) => {
    const folder = join(ROOT, 'packages', name);
    const { bin, exports, name: specifier } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    if (bin !== undefined) return [];
    const paths = /** @type {[string, { import: { types: string } }][]} */ (Object.entries(exports));
    return paths.map(([path, entry]) => ({
      name,
      folder,
      entry: join(specifier, path),
      file: join(folder, entry.import.types),
    }));
  });
  const program = ts.createProgram(
    found.map(({ file }) => file),
    { module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2022, skipLibCheck: true },
  );
  const checker = program.getTypeChecker();
  /** @type {Map<string, Entry[]>} */
  const entries = new Map();
  for (const { name, folder, entry, file } of found) {
    const source = program.getSourceFile(file);
    const module = source && checker.getSymbolAtLocation(source);
    const exports = module ? checker.getExportsOfModule(module).map((each) => exportOf(folder, each, checker)) : [];
    exports.sort((a, b) => (a.name < b.name ? -1 : 1));
    entries.set(name, [...(entries.get(name) ?? []), { entry, exports }]);
  }
  return entries;
}

/**
 * The text of `api.md` for a package.
 * @param {readonly Entry[]} entries
 */
export function apiOf(entries) {
  const sections = entries.map(({ entry, exports }) => {
    const others = exports.filter(({ from }) => from !== undefined).map(({ name, from }) => `\`${name}\` (${from})`);
    const own = exports.filter(({ from }) => from === undefined);
    const listed = entry.endsWith('/internal')
      ? own.map(({ name }) => `\`${name}\``).join(', ')
      : `\`\`\`\n${own.map(({ text }) => text).join('\n')}\n\`\`\``;
    const passedOn = others.length === 0 ? [] : [`Passed on from other packages: ${others.join(', ')}`];
    return [`## ${entry}`, ...(own.length === 0 ? [] : [listed]), ...passedOn].join('\n\n');
  });
  return `${['# Exports', 'Written by `npm run api`.', ...sections].join('\n\n')}\n`;
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  for (const [name, entries] of entriesOfPackages()) {
    writeFileSync(join(ROOT, 'packages', name, 'api.md'), apiOf(entries));
  }
}

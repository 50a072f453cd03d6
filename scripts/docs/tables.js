/**
 * `npm run docs:tables`: writes the tables of options in `docs/` from the doc comments, so nothing is said twice. Such a table
 * follows a paragraph that names its type and ends with the mark. The column `more` has links; it is written by hand.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';

import ts from 'typescript';

import { ROOT } from '../workspace.js';

export const MARK = '<!-- npm run docs:tables -->';

const TABLE = new RegExp(`((?:^[^|\\n].*\\n)*^.*${MARK}\\n)\\n((?:^\\|.*\\n)*)`, 'gm');

/**
 * The members of every exported type, by its name.
 * @returns {(name: string) => Row[]}
 */
export function membersOfTypes() {
  const files = readdirSync(join(ROOT, 'packages')).flatMap((name) => {
    const { bin, exports } = JSON.parse(readFileSync(join(ROOT, 'packages', name, 'package.json'), 'utf8'));
    const entries = /** @type {{ import: { types: string } }[]} */ (bin ? [] : Object.values(exports));
    return entries.map((entry) => join(ROOT, 'packages', name, entry.import.types));
  });
  const options = { module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2022, skipLibCheck: true };
  const program = ts.createProgram(files, options);
  const checker = program.getTypeChecker();
  /** @type {Map<string, ts.Symbol>} */
  const types = new Map();
  for (const file of files) {
    const source = program.getSourceFile(file);
    const module = source && checker.getSymbolAtLocation(source);
    for (const each of module ? checker.getExportsOfModule(module) : []) {
      types.set(each.name, each.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(each) : each);
    }
  }
  return (name) => {
    const symbol = types.get(name);
    if (symbol === undefined) throw new Error(`No package exports a type ${name}.`);
    const members = checker.getPropertiesOfType(checker.getDeclaredTypeOfSymbol(symbol)).filter(isShown);
    const rows = members.map((member) => rowOf(member, checker));
    return [
      ...rows.filter(({ initial }) => initial === 'required'),
      ...rows.filter(({ initial }) => initial !== 'required'),
    ];
  };
}

/**
 * @typedef {object} Row
 * @property {string} name
 * @property {string} type as TypeScript
 * @property {string} initial its default, or "required"
 * @property {string} text what it does
 */

const VALUE = '((?:`[^`]*`|[^`.;,:]|[.;,:](?! |$))+)';
const SENTENCE_OF_DEFAULT = new RegExp(`(?:^| )Defaults to ${VALUE}\\.(?= |$)`);
const DEFAULT = new RegExp(`(?:^| )Defaults to ${VALUE}(?:[.;:](?= |$)|, (?:because|which))`);

/**
 * Whether a member is for users. An extension adds members by declaration merging; its own page tells of them.
 * @param {ts.Symbol} member
 */
const isShown = ({ name, declarations = [] }) =>
  !name.startsWith('__') && declarations.every(({ parent }) => !ts.isModuleBlock(parent.parent));

/**
 * @param {ts.Symbol} member
 * @param {ts.TypeChecker} checker
 * @returns {Row}
 */
function rowOf(member, checker) {
  const [declaration] = member.declarations ?? [];
  const doc = ts.displayPartsToString(member.getDocumentationComment(checker)).replaceAll(/\s+/g, ' ');
  const isOptional = (member.flags & ts.SymbolFlags.Optional) !== 0;
  const text = doc.replace(SENTENCE_OF_DEFAULT, '').trim();
  if (text === '') throw new Error(`${member.name} needs a doc comment that says what it does.`);
  return {
    name: member.name,
    type: typeOf(declaration).replace(/^[A-Z]$/, ''),
    initial: isOptional ? (DEFAULT.exec(doc)?.[1] ?? '') : 'required',
    text,
  };
}

/** @param {ts.Declaration | undefined} declaration */
function typeOf(declaration) {
  if (declaration === undefined) return '';
  if (ts.isMethodSignature(declaration)) {
    const parameters = declaration.parameters.map((parameter) => parameter.getText()).join(', ');
    return plainType(`(${parameters}) => ${declaration.type?.getText() ?? 'void'}`);
  }
  return plainType(/** @type {ts.PropertySignature} */ (declaration).type?.getText() ?? '');
}

/** @param {string} type */
const plainType = (type) =>
  type
    // users know it by the name of its instance for servers
    .replaceAll(/\bPluginDefinition\b/g, 'Plugin')
    .replaceAll(/\breadonly /g, '')
    .replaceAll(/\bReadonly<((?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*)>/g, '$1')
    .replaceAll(/\s+/g, ' ');

/** @param {string} row */
const cellsOf = (row) =>
  row
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim());

/** @param {string} text */
const escaped = (text) => text.replaceAll(/(?<!\\)\|/g, '\\|');

/**
 * A page with its marked tables written anew.
 * @param {string} page its text
 * @param {(name: string) => Row[]} membersOf
 */
export function withTables(page, membersOf) {
  return page.replaceAll(TABLE, (_, paragraph, table) => `${paragraph}\n${tableOf(paragraph, table, membersOf)}`);
}

/**
 * @param {string} paragraph
 * @param {string} table as it is
 * @param {(name: string) => Row[]} membersOf
 */
function tableOf(paragraph, table, membersOf) {
  const name = /\btype:\s+`(\w+)`/i.exec(paragraph)?.[1];
  if (name === undefined)
    throw new Error(`Name the type before the mark, such as "Type: \`ToolOptions\`": ${paragraph}`);
  const [head = '| option |', , ...rows] = table.trimEnd().split('\n');
  const titles = cellsOf(head);
  /** @type {Map<string, string>} */
  const links = new Map();
  if (titles.at(-1) === 'more') {
    for (const row of rows) links.set(cellsOf(row)[0] ?? '', cellsOf(row).at(-1) ?? '');
  }
  const besides = /\ball\s+of\s+`(\w+)`/i.exec(paragraph)?.[1];
  const elsewhere = new Set(besides === undefined ? [] : membersOf(besides).map((member) => member.name));
  const shown = membersOf(name).filter((member) => !elsewhere.has(member.name));
  const lines = shown.map(({ name: member, type, initial, text }) => {
    const more = links.get(`\`${member}\``) ?? '';
    return `| \`${member}\` | ${type === '' ? '' : `\`${escaped(type)}\``} | ${escaped(initial)} | ${escaped(text)} |${more === '' ? ' |' : ` ${more} |`}`;
  });
  return `${[`| ${titles[0]} | type | default | what it does | more |`, '|---|---|---|---|---|', ...lines].join('\n')}\n`;
}

/** The pages of `docs/` with marked tables. */
export const pagesWithTables = () =>
  readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md') && !/(?:^|[/\\])(?:node_modules|packages|\.vitepress)[/\\]/.test(path))
    .map((path) => join(ROOT, 'docs', path))
    .filter((path) => readFileSync(path, 'utf8').includes(MARK));

if (argv[1] === fileURLToPath(import.meta.url)) {
  const membersOf = membersOfTypes();
  for (const page of pagesWithTables()) writeFileSync(page, withTables(readFileSync(page, 'utf8'), membersOf));
}

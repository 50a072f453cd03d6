import type { Expression, Node } from 'oxc-parser';

import type { Source } from './source.js';

/** The export that a local name refers to. */
export interface Imported {
  readonly module: string;
  /** The exported name; `*` for a namespace, `default` for a default import. */
  readonly name: string;
  readonly isType: boolean;
}

/** The imports of a file by local name. */
export function importsOf({ program }: Source): Map<string, Imported> {
  const found = new Map<string, Imported>();
  for (const node of program.body) {
    if (node.type === 'TSImportEqualsDeclaration' && node.moduleReference.type === 'TSExternalModuleReference') {
      const isType = node.importKind === 'type';
      found.set(node.id.name, { module: node.moduleReference.expression.value, name: '*', isType });
    }
    if (node.type !== 'ImportDeclaration') continue;
    const module = node.source.value;
    for (const each of node.specifiers) {
      const isType = node.importKind === 'type' || (each.type === 'ImportSpecifier' && each.importKind === 'type');
      found.set(each.local.name, { module, name: nameOfSpecifier(each), isType });
    }
  }
  return found;
}

function nameOfSpecifier(each: Node): string {
  if (each.type === 'ImportNamespaceSpecifier') return '*';
  if (each.type !== 'ImportSpecifier') return 'default';
  return each.imported.type === 'Literal' ? each.imported.value : each.imported.name;
}

/** The import that an expression refers to: `Tool`, or `decorum.Tool` with a namespace. */
export function importedAs(imports: ReadonlyMap<string, Imported>, node: Node): Imported | undefined {
  if (node.type === 'Identifier') return imports.get(node.name);
  if (node.type !== 'MemberExpression' || node.computed || node.object.type !== 'Identifier') return undefined;
  const space = imports.get(node.object.name);
  return space?.name === '*' && node.property.type === 'Identifier'
    ? { ...space, name: node.property.name }
    : undefined;
}

/** Whether an expression is this export of `@decorum/core`. */
export function isCore(imports: ReadonlyMap<string, Imported>, node: Node, name: string): boolean {
  const imported = importedAs(imports, node);
  return imported?.module === '@decorum/core' && imported.name === name;
}

/** The names in a pattern, such as `const { a, b: [c] } = …`. */
function patternNames(node: Node): string[] {
  switch (node.type) {
    case 'Identifier':
      return [node.name];
    case 'ObjectPattern':
      return node.properties.flatMap((each) => patternNames(each.type === 'Property' ? each.value : each.argument));
    case 'ArrayPattern':
      return node.elements.flatMap((each) => (each === null ? [] : patternNames(each)));
    case 'AssignmentPattern':
      return patternNames(node.left);
    case 'RestElement':
      return patternNames(node.argument);
    default:
      return [];
  }
}

/** All names that a file declares at its top level, types included, with the offset of each. */
export function topLevelNames(source: Source): Map<string, number> {
  const names = new Map<string, number>();
  for (const statement of source.program.body) {
    if (statement.type === 'ImportDeclaration') {
      for (const each of statement.specifiers) names.set(each.local.name, each.start);
      continue;
    }
    const isExport = statement.type === 'ExportNamedDeclaration' || statement.type === 'ExportDefaultDeclaration';
    const node: Node | null = isExport ? statement.declaration : statement;
    if (node === null) continue;
    if (node.type === 'VariableDeclaration') {
      for (const { id } of node.declarations) for (const name of patternNames(id)) names.set(name, node.start);
    } else if ('id' in node && node.id?.type === 'Identifier') names.set(node.id.name, node.start);
  }
  return names;
}

/** `Name` for `Name` and `new Name(…)`. */
export function namedBy(node: Expression | Node): string | undefined {
  if (node.type === 'NewExpression') return namedBy(node.callee);
  return node.type === 'Identifier' ? node.name : undefined;
}

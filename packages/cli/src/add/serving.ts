import type { Node } from 'oxc-parser';

import { importedAs, type Imported, importsOf } from './bindings.js';
import { isFunction, type Source, walk } from './source.js';

/** The functions that a file declares at its top level, by name. */
function functionsOf({ program }: Source): Map<string, Node> {
  const found = new Map<string, Node>();
  for (const statement of program.body) {
    const node: Node | null = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement;
    if (node?.type === 'FunctionDeclaration' && node.id) found.set(node.id.name, node);
    if (node?.type !== 'VariableDeclaration') continue;
    for (const { id, init } of node.declarations) {
      if (id.type === 'Identifier' && init && isFunction(init)) found.set(id.name, init);
    }
  }
  return found;
}

/** Whether a statement runs only if the file is run directly, such as `if (import.meta.main)`. */
const isGuarded = (node: Node, { text }: Source): boolean =>
  node.type === 'IfStatement' &&
  /import\.meta|require\.main|argv\[1\]/.test(text.slice(node.test.start, node.test.end));

/** Whether a function is called right away, `(async () => { … })()`, or passed to a function that may call it. */
const isCalled = (ancestors: readonly Node[]): boolean =>
  ancestors.findLast(({ type }) => type !== 'ParenthesizedExpression')?.type === 'CallExpression';

/** The function that a call serves with: `serveStdio`, or `listen` of Decorum or of an application. */
function servingName(callee: Node, imports: ReadonlyMap<string, Imported>): string | undefined {
  const imported = importedAs(imports, callee);
  if (imported?.module.startsWith('@decorum/')) {
    return ['serveStdio', 'listen'].find((name) => name === imported.name);
  }
  const isListen =
    callee.type === 'MemberExpression' && callee.property.type === 'Identifier' && callee.property.name === 'listen';
  return isListen ? 'listen' : undefined;
}

/** The function that a file serves with when it is imported: `serveStdio` or `listen`; undefined if there is none. */
export function servedOnImport(source: Source): string | undefined {
  const imports = importsOf(source);
  const functions = functionsOf(source);
  const found = new Set<string>();
  const visit = (root: Node): void =>
    walk(root, (node, ancestors) => {
      if (isGuarded(node, source) || node.type === 'ClassBody') return false;
      if (node !== root && isFunction(node) && !isCalled(ancestors)) return false;
      if (node.type !== 'CallExpression') return true;
      const name = servingName(node.callee, imports);
      if (name !== undefined) found.add(name);
      const called = node.callee.type === 'Identifier' ? node.callee.name : '';
      const target = functions.get(called);
      // removed first, because functions may call themselves
      if (functions.delete(called) && target) visit(target);
      return true;
    });
  for (const statement of source.program.body) if (!isFunction(statement)) visit(statement);
  return ['serveStdio', 'listen'].find((name) => found.has(name));
}

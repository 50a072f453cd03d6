import { readFileSync } from 'node:fs';

import {
  type Class,
  type Node,
  parseSync,
  type TSEnumDeclaration,
  type TSTypeAliasDeclaration,
  type VariableDeclarator,
} from 'oxc-parser';

import { type Imported, importedAs, importsOf } from '../add/bindings.js';
import type { Source } from '../add/source.js';
import { isOwn, resolveSource, TYPESCRIPT } from '../loader/resolve.js';

/** A declaration at the top level of a file. */
export type Declaration = Class | TSEnumDeclaration | TSTypeAliasDeclaration | VariableDeclarator;

/** A declaration with its file. */
export interface Declared<T extends Node = Declaration> {
  readonly source: Source;
  readonly node: T;
}

/** A parsed file with its names. */
interface Module {
  readonly source: Source;
  readonly imports: ReadonlyMap<string, Imported>;
  readonly declarations: ReadonlyMap<string, Declaration>;
}

const isDeclaration = (node: Node): node is Exclude<Declaration, VariableDeclarator> =>
  /^(?:Class|TSEnum|TSTypeAlias)Declaration$/.test(node.type);

function declarationsOf({ program }: Source): Map<string, Declaration> {
  const found = new Map<string, Declaration>();
  for (const statement of program.body) {
    const isDefault = statement.type === 'ExportDefaultDeclaration';
    const node: Node | null =
      isDefault || statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement;
    if (node?.type === 'VariableDeclaration') {
      for (const each of node.declarations) if (each.id.type === 'Identifier') found.set(each.id.name, each);
    } else if (node && isDeclaration(node)) {
      if (node.id) found.set(node.id.name, node);
      if (isDefault) found.set('default', node);
    }
  }
  return found;
}

/** Finds what names refer to, across the files of a program. */
export class Scope {
  readonly #modules = new Map<string, Module | undefined>();

  /** A file and all files of the project that it imports. */
  *reachable(entry: string, seen = new Set<string>()): Generator<Source> {
    const module = seen.has(entry) ? undefined : this.#module(entry);
    seen.add(entry);
    if (module === undefined) return;
    yield module.source;
    for (const specifier of specifiersOf(module.source)) {
      const path = resolveSource(specifier, entry);
      if (path !== undefined) yield* this.reachable(path, seen);
    }
  }

  /** The declaration that `Name` or `namespace.Name` refers to; undefined if it is not in the project. */
  declared(source: Source, node: Node): Declared | undefined {
    const module = this.#module(source.path);
    const local = node.type === 'Identifier' ? module?.declarations.get(node.name) : undefined;
    if (local) return { source, node: local };
    const found = this.#imported(source, node);
    return typeof found === 'string' || found === undefined ? undefined : found;
  }

  /** The package export that an expression refers to, as `package:Name`, even through files of the project. */
  packageExport(source: Source, node: Node): string | undefined {
    const found = this.#imported(source, node);
    return typeof found === 'string' ? found : undefined;
  }

  #imported({ path }: Source, node: Node): Declared | string | undefined {
    const imports = this.#module(path)?.imports;
    const imported = imports && importedAs(imports, memberExpression(node));
    return imported && this.#follow(path, imported);
  }

  #follow(from: string, { module, name }: Pick<Imported, 'module' | 'name'>): Declared | string | undefined {
    const path = resolveSource(module, from);
    if (path === undefined) return module.startsWith('.') ? undefined : `${module}:${name}`;
    return this.#exported(path, name, new Set());
  }

  #exported(path: string, name: string, seen: Set<string>): Declared | string | undefined {
    const module = seen.has(path) ? undefined : this.#module(path);
    seen.add(path);
    if (module === undefined) return undefined;
    const entries = module.source.module.staticExports.flatMap((each) => each.entries);
    const named = entries.find(
      ({ exportName: { kind, name: own } }) => own === name || (name === 'default' && kind === 'Default'),
    );
    if (named === undefined) return this.#starred(module, name, seen);
    const { moduleRequest, importName, localName } = named;
    if (moduleRequest !== null)
      return this.#follow(path, { module: moduleRequest.value, name: importName.name ?? 'default' });
    const local = localName.name ?? 'default';
    const node = module.declarations.get(local);
    if (node) return { source: module.source, node };
    const imported = module.imports.get(local);
    return imported && this.#follow(path, imported);
  }

  /** A name that a file may export with `export * from`. */
  #starred({ source }: Module, name: string, seen: Set<string>): Declared | string | undefined {
    for (const { moduleRequest, importName } of source.module.staticExports.flatMap((each) => each.entries)) {
      if (moduleRequest === null || importName.kind !== 'AllButDefault') continue;
      const path = resolveSource(moduleRequest.value, source.path);
      // a package may export any name: only Decorum's own are looked for
      const isCore = path === undefined && moduleRequest.value === '@decorum/core';
      const found = isCore ? `@decorum/core:${name}` : path && this.#exported(path, name, seen);
      if (found) return found;
    }
    return undefined;
  }

  #module(path: string): Module | undefined {
    if (!this.#modules.has(path)) this.#modules.set(path, read(path));
    return this.#modules.get(path);
  }
}

/** Reads a file; undefined if it is not TypeScript of the project. After a fatal syntax error, it is empty. */
function read(path: string): Module | undefined {
  if (!TYPESCRIPT.test(path) || !isOwn(path)) return undefined;
  const bytes = readFileSync(path, 'utf8');
  const bom = bytes.startsWith('\uFEFF') ? '\uFEFF' : '';
  const text = bytes.slice(bom.length);
  // other errors are the compiler's: one of them is a decorator on an abstract method
  const { program, comments, module } = parseSync(path, text, { sourceType: 'module' });
  const source = { path, bom, text, program, comments, module };
  return { source, imports: importsOf(source), declarations: declarationsOf(source) };
}

/** The modules that a file imports, also with `import()`. */
function specifiersOf({ module, text }: Source): string[] {
  const all = [
    ...module.staticImports.map((each) => each.moduleRequest.value),
    ...module.staticExports.flatMap((each) => each.entries.flatMap(({ moduleRequest }) => moduleRequest?.value ?? [])),
    ...module.dynamicImports.map(({ moduleRequest: { start, end } }) =>
      text.slice(start, end).replace(/^['"]|['"]$/g, ''),
    ),
  ];
  return [...new Set(all)];
}

/** A qualified name as `importedAs` reads it. */
function memberExpression(node: Node): Node {
  if (node.type !== 'TSQualifiedName') return node;
  return {
    ...node,
    type: 'MemberExpression',
    object: node.left,
    property: node.right,
    computed: false,
  } as unknown as Node;
}

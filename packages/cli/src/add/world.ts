import { CommandFailure } from 'create-decorum';
import type { Class, Node } from 'oxc-parser';

import { resolveSource } from '../loader/resolve.js';
import { importedAs, type Imported, importsOf, isCore, namedBy } from './bindings.js';
import { type ClassInfo, classesOf } from './classes.js';
import { isTypeScript } from './project.js';
import { readSource, type Source, walk } from './source.js';

/** The TypeScript file of the project that the compiler resolves a relative import to. */
function fileOf(from: string, specifier: string): string | undefined {
  const found = specifier.startsWith('.') ? resolveSource(specifier, from) : undefined;
  return found !== undefined && isTypeScript(found) ? found : undefined;
}

/** The files of a project, parsed when needed. */
export class World {
  readonly #sources = new Map<string, Source | CommandFailure>();
  readonly #classes = new Map<Source, readonly ClassInfo[]>();

  /**
   * @param path absolute
   * @throws {CommandFailure} for a syntax error
   */
  source(path: string): Source {
    const known = this.#sources.get(path) ?? this.#read(path);
    this.#sources.set(path, known);
    if (known instanceof CommandFailure) throw known;
    return known;
  }

  /** A file that others import; undefined if it has a syntax error. */
  #readable(path: string): Source | undefined {
    const known = this.#sources.get(path) ?? this.#read(path);
    this.#sources.set(path, known);
    return known instanceof CommandFailure ? undefined : known;
  }

  #read(path: string): Source | CommandFailure {
    try {
      return readSource(path);
    } catch (error) {
      if (error instanceof CommandFailure) return error;
      throw error;
    }
  }

  classes(source: Source): readonly ClassInfo[] {
    const known = this.#classes.get(source) ?? classesOf(source);
    this.#classes.set(source, known);
    return known;
  }

  /** The class that a name refers to in a file: declared there, or imported from a file of the project. */
  resolve(source: Source, name: string): ClassInfo | undefined {
    const local = this.classes(source).find((each) => each.name === name && each.isTopLevel);
    const imported = importsOf(source).get(name);
    return local ?? (imported && this.#exported(source, imported.module, imported.name));
  }

  #exported(from: Source, specifier: string, name: string): ClassInfo | undefined {
    const path = fileOf(from.path, specifier);
    if (path === undefined) return undefined;
    const source = this.#readable(path);
    if (source === undefined) return undefined;
    const isIt = (each: { name: string | null; kind: string }) =>
      each.name === name || (name === 'default' && each.kind === 'Default');
    for (const { exportName, importName, localName, moduleRequest } of source.module.staticExports.flatMap(
      (it) => it.entries,
    )) {
      if (moduleRequest !== null && importName.kind === 'AllButDefault') {
        const found = this.#exported(source, moduleRequest.value, name);
        if (found) return found;
      }
      if (!isIt(exportName)) continue;
      if (moduleRequest !== null) return this.#exported(source, moduleRequest.value, importName.name ?? 'default');
      if (localName.name !== null) return this.resolve(source, localName.name);
      return this.classes(source).find(({ statement }) => statement.type === 'ExportDefaultDeclaration');
    }
    return undefined;
  }

  /** The base class of a class, if it is in the project. */
  baseOf({ node, source }: ClassInfo): ClassInfo | undefined {
    const name = node.superClass === null ? undefined : namedBy(node.superClass);
    return name === undefined ? undefined : this.resolve(source, name);
  }

  /** A class and its base classes in the project, the class first. */
  lineage(cls: ClassInfo): ClassInfo[] {
    const found: ClassInfo[] = [];
    for (let each: ClassInfo | undefined = cls; each && !found.includes(each); each = this.baseOf(each))
      found.push(each);
    return found;
  }

  /** Whether a class extends `McpServer`, directly, through a class of the project, or through a mixin. */
  isServer(cls: ClassInfo): boolean {
    return this.lineage(cls).some(({ node, source }) => extendsServer(node, source));
  }
}

function extendsServer({ superClass }: Class, source: Source): boolean {
  if (superClass === null) return false;
  const imports = importsOf(source);
  let found = false;
  walk(superClass, (node) => (found ||= isCore(imports, node, 'McpServer')));
  return found;
}

/** A class that the code of a project passes to a server. */
interface Provided {
  readonly name: string;
  /** Whether the server adds a prefix to the names of its members. */
  readonly isPrefixed: boolean;
}

function isNestModule(imports: ReadonlyMap<string, Imported>, node: Node): boolean {
  const imported = node.type === 'CallExpression' ? importedAs(imports, node.callee) : undefined;
  return imported?.module === '@nestjs/common' && imported.name === 'Module';
}

/** The classes in `providers: […]` and `addProvider(…)`. */
export function providedIn(source: Source): Provided[] {
  const found: Provided[] = [];
  const variables = new Map<string, string>();
  const add = (node: Node | null, isPrefixed = false): void => {
    if (node?.type === 'ObjectExpression') {
      const properties = node.properties.filter((each) => each.type === 'Property');
      const named = (name: string) => properties.find(({ key }) => key.type === 'Identifier' && key.name === name);
      add(named('provider')?.value ?? null, named('prefix') !== undefined || named('uriPrefix') !== undefined);
    } else {
      const name = node === null ? undefined : namedBy(node);
      if (name !== undefined) found.push({ name, isPrefixed });
    }
  };
  const imports = importsOf(source);
  walk(source.program, (node) => {
    // the providers of a Nest module are not those of a server
    if (node.type === 'Decorator' && isNestModule(imports, node.expression)) return false;
    if (node.type === 'VariableDeclarator' && node.id.type === 'Identifier' && node.init?.type === 'NewExpression') {
      const name = namedBy(node.init);
      if (name !== undefined) variables.set(node.id.name, name);
    }
    if (node.type === 'Property' && node.key.type === 'Identifier' && node.key.name === 'providers') {
      if (node.value.type === 'ArrayExpression') for (const each of node.value.elements) add(each);
    }
    if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return true;
    const { property } = node.callee;
    if (property.type === 'Identifier' && property.name === 'addProvider') add(node.arguments[0] ?? null);
    return true;
  });
  return found.map(({ name, isPrefixed }) => ({ name: variables.get(name) ?? name, isPrefixed }));
}

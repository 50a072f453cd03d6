import { relative, sep } from 'node:path';

import type { Node, ParamPattern } from 'oxc-parser';

import { importsOf, isCore } from './bindings.js';
import { type ClassInfo, constructorOf, requiredParams } from './classes.js';
import { servedOnImport } from './serving.js';
import { type Source, walk } from './source.js';
import type { World } from './world.js';

/** How a test gets a server with the class. */
export interface Subject {
  /** The name to import from the file of the class; `default` for its default export. Undefined for a program. */
  readonly imported?: string;
  /** Its name in the test. */
  readonly local?: string;
  /** Code for the server that the test connects to. */
  readonly server: (quote: string) => string;
  /** Whether the code uses `McpServer`. */
  readonly needsServer: boolean;
  /** The name to export, if the file doesn't export it yet. */
  readonly toExport?: string | undefined;
  /** A package that the test needs. */
  readonly needs?: string;
}

/** Why a class can't be tested. */
export interface Untestable {
  readonly reason: string;
}

/**
 * Decides how to test a class.
 * @param root folder of the project
 */
export function subjectOf(world: World, cls: ClassInfo, root: string): Subject | Untestable {
  const { source, owner, name } = cls;
  const served = servedOnImport(source);
  if (served !== undefined) return ofProgram(source, served, root);
  if (owner !== undefined) return ofFunction(cls);
  if (!cls.isTopLevel) return { reason: 'other files cannot import the class' };
  const exported = exportOf(source, cls);
  const isReady = world.isServer(cls) || isConstructible(world, cls);
  const factory = exported === undefined || !isReady ? exportedServer(source, cls) : undefined;
  if (factory) return factory;
  if (exported === undefined && name === undefined) return { reason: 'the class has neither a name nor an export' };
  const local = name ?? localOf(source);
  const access = { imported: exported ?? local, local, toExport: exported === undefined ? local : undefined };
  if (world.isServer(cls)) return ofServer(world, cls, access);
  // an instance without its dependencies, which a new member doesn't use yet
  const provider = isReady ? local : `Object.create(${local}.prototype${withoutHooks(world, cls)})`;
  return { ...access, server: serverWith(provider), needsServer: true };
}

interface AccessTo {
  readonly imported: string;
  readonly local: string;
  readonly toExport: string | undefined;
}

const OPTIONS = (quote: string): string => `name: ${quote}test${quote}, version: ${quote}0.0.0${quote}`;
const serverWith = (provider: string) => (quote: string) =>
  `new McpServer({ ${OPTIONS(quote)}, providers: [${provider}] })`;

/** The placeholder for an argument in a test. */
export const NOTHING = '{} as never';
const placeholders = (params: readonly ParamPattern[]): string[] => Array(requiredParams(params)).fill(NOTHING);

function ofServer(world: World, cls: ClassInfo, access: AccessTo): Subject | Untestable {
  if (cls.node.abstract) return { reason: 'the class is abstract' };
  const owner = world.lineage(cls).find(({ node }) => constructorOf(node) !== undefined) ?? cls;
  const { node, source } = owner;
  const constructor = constructorOf(node);
  if (constructor === undefined) {
    return { ...access, server: (quote) => `new ${access.local}({ ${OPTIONS(quote)} })`, needsServer: false };
  }
  if (constructor.accessibility) return { reason: `its constructor is ${constructor.accessibility}` };
  const { params } = constructor.value;
  const takesOptions = params.map((each) => source.text.slice(each.start, each.end).includes('McpServerOptions'));
  const server = (quote: string) => {
    const args = placeholders(params).map((each, index) => (takesOptions[index] ? `{ ${OPTIONS(quote)} }` : each));
    return `new ${access.local}(${args.join(', ')})`;
  };
  return { ...access, server, needsServer: false };
}

/** Whether Decorum can construct a provider without arguments. */
function isConstructible(world: World, cls: ClassInfo): boolean {
  const lineage = world.lineage(cls);
  const root = lineage.at(-1)?.node.superClass;
  // a base class from a package may need arguments
  const isKnown = lineage.every(({ node }) => node.abstract !== true) && !root;
  const constructor = lineage.map(({ node }) => constructorOf(node)).find((each) => each !== undefined);
  if (!constructor) return isKnown;
  return isKnown && !constructor.accessibility && requiredParams(constructor.value.params) === 0;
}

/** Hides the hooks of an instance that was never constructed: they would use what its constructor gets. */
function withoutHooks(world: World, cls: ClassInfo): string {
  const members = world.lineage(cls).flatMap(({ node }) => node.body.body);
  const isHook = (hook: string) =>
    members.some((each) => 'key' in each && each.key.type === 'Identifier' && each.key.name === hook);
  const hooks = ['onStart', 'onClose'].filter(isHook).map((hook) => `${hook}: {}`);
  return hooks.length === 0 ? '' : `, { ${hooks.join(', ')} }`;
}

const paramsOf = (node: Node): readonly ParamPattern[] =>
  'params' in node && Array.isArray(node.params) ? (node.params as ParamPattern[]) : [];

/** A mixin is a function that extends the class it gets. Other functions may create a server. */
function ofFunction(cls: ClassInfo): Subject | Untestable {
  const { source, node, statement, owner } = cls;
  const reason = 'the class is inside of a function';
  const isDefault = statement.type === 'ExportDefaultDeclaration';
  const name = declaredBy(statement)[0] ?? (isDefault ? localOf(source) : undefined);
  if (owner === undefined || name === undefined) return { reason };
  const exported = isDefault ? 'default' : exportedAs(source, name);
  const access = { imported: exported ?? name, local: name, toExport: exported === undefined ? name : undefined };
  const params = paramsOf(owner);
  const base = params.findIndex((each) => each.type === 'Identifier' && each.name === baseName(node.superClass));
  const param = params[base];
  if (param === undefined) return serverFactory(cls, { name, exported }) ?? { reason };
  const args: string[] = placeholders(params);
  const makesServer = /\bMcpServer\b/.test(source.text.slice(param.start, param.end) + constraintOf(owner, source));
  args[base] = makesServer ? 'McpServer' : 'class {} as never';
  const made = `${name}(${args.join(', ')})`;
  const server = makesServer ? (quote: string) => `new (${made})({ ${OPTIONS(quote)} })` : serverWith(made);
  return { ...access, server, needsServer: true };
}

const baseName = (base: Node | null): string | undefined => (base?.type === 'Identifier' ? base.name : undefined);

function constraintOf(owner: Node, { text }: Source): string {
  const types = 'typeParameters' in owner ? (owner.typeParameters as Node | null | undefined) : undefined;
  return types ? text.slice(types.start, types.end) : '';
}

/** The names that a statement declares. */
function declaredBy(statement: Node): string[] {
  const isExport = statement.type === 'ExportNamedDeclaration' || statement.type === 'ExportDefaultDeclaration';
  const node: Node | null = isExport ? statement.declaration : statement;
  if (node?.type === 'VariableDeclaration') {
    return node.declarations.flatMap(({ id }) => (id.type === 'Identifier' ? [id.name] : []));
  }
  return node && 'id' in node && node.id?.type === 'Identifier' ? [node.id.name] : [];
}

/** The name under which a file exports a local name. */
function exportedAs({ module }: Source, local: string): string | undefined {
  const entries = module.staticExports.flatMap((each) => each.entries);
  const found = entries.find((each) => each.localName.name === local && !each.isType && each.moduleRequest === null);
  return found && (found.exportName.kind === 'Default' ? 'default' : (found.exportName.name ?? undefined));
}

function exportOf(source: Source, { name, statement }: ClassInfo): string | undefined {
  if (statement.type === 'ExportDefaultDeclaration') return 'default';
  return name === undefined ? undefined : exportedAs(source, name);
}

/** A name for the default export of a file: `Weather` for `weather.ts`. */
function localOf({ path }: Source): string {
  const words = path.replace(/^.*[\\/]|\.[cm]?tsx?$/g, '').split(/[^A-Za-z0-9]+/);
  const name = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  return /^[A-Z]/.test(name) ? name : 'Provider';
}

/** An exported server with the class, or an exported function that creates one. */
function exportedServer(source: Source, cls: ClassInfo): Subject | undefined {
  for (const statement of source.program.body) {
    const [name] = declaredBy(statement);
    const exported = name === undefined ? undefined : exportedAs(source, name);
    if (name === undefined || exported === undefined) continue;
    const subject = serverFactory({ ...cls, statement }, { name, exported });
    if (subject) return subject;
  }
  return undefined;
}

/** The subject for a statement that constructs a server with the class and without a prefix. */
function serverFactory(
  { source, statement, name: className }: ClassInfo,
  names: { name: string; exported: string | undefined },
): Subject | undefined {
  const { name, exported } = names;
  const text = source.text.slice(statement.start, statement.end);
  if (className === undefined || /\b(?:uriP|p)refix\b/.test(text)) return undefined;
  const isNamed = new RegExp(`\\b${className.replaceAll('$', '\\$')}\\b`).test(text);
  const imports = importsOf(source);
  let owner: Node | undefined;
  let constructs = false;
  let depth = 0;
  walk(statement, (node, ancestors) => {
    if (node.type !== 'NewExpression' || !isCore(imports, node.callee, 'McpServer')) return;
    constructs = true;
    const functions = ancestors.filter(({ type }) => /Function/.test(type));
    [owner] = functions;
    depth = functions.length;
  });
  if (!constructs || !isNamed || depth > 1) return undefined;
  const isAsync = owner !== undefined && 'async' in owner && owner.async === true;
  const call = owner ? `${isAsync ? 'await ' : ''}${name}(${placeholders(paramsOf(owner)).join(', ')})` : name;
  const access = { imported: exported ?? name, local: name, toExport: exported === undefined ? name : undefined };
  return { ...access, server: () => call, needsServer: false };
}

/** A file that serves over stdio is tested as a program: importing it would start its server. */
function ofProgram({ path, text }: Source, served: string, root: string): Subject | Untestable {
  if (served !== 'serveStdio') {
    return { reason: 'importing this file starts its server. Move the class to a file of its own' };
  }
  const file = relative(root, path).split(sep).join('/');
  const args = ['--import', '@decorum/cli/register', file, ...(text.includes('--stdio') ? ['--stdio'] : [])];
  const server = (quote: string) => {
    const list = args.map((each) => quote + each + quote).join(', ');
    return `{ command: ${quote}node${quote}, args: [${list}] }`;
  };
  return { server, needsServer: false, needs: '@decorum/cli' };
}

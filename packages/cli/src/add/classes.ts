import type { Class, ClassElement, Expression, Function, MethodDefinition, Node, ParamPattern } from 'oxc-parser';

import { importedAs, importsOf } from './bindings.js';
import { type Kind, KINDS } from './names.js';
import { isFunction, type Source, walk } from './source.js';

/** A decorated or plain member of a class. */
export interface MemberInfo {
  readonly key: string;
  readonly start: number;
  /** The kind of its decorator; undefined for a plain member. */
  readonly kind?: Kind;
  /** The arguments of its decorator. */
  readonly args: readonly Node[];
  readonly params: readonly ParamPattern[];
}

/** A class in a file. */
export interface ClassInfo {
  readonly source: Source;
  readonly node: Class;
  /** Its own name, or that of the variable it is assigned to. */
  readonly name: string | undefined;
  /** The top-level statement that contains it. */
  readonly statement: Node;
  /** The function that contains it. */
  readonly owner: Node | undefined;
  /** Whether it is outside of functions, blocks, namespaces and expressions. */
  readonly isTopLevel: boolean;
  readonly members: readonly MemberInfo[];
}

/** The name of a class in messages. */
export const titleOf = ({ name, node }: ClassInfo): string =>
  name ?? (node.type === 'ClassExpression' ? 'a class expression' : 'a class without a name');

/** The name of a class member in messages. */
export const memberTitle = ({ name }: ClassInfo, key: string): string => (name === undefined ? key : `${name}.${key}`);

/** All classes of a file. */
export function classesOf(source: Source): ClassInfo[] {
  const found: ClassInfo[] = [];
  const kindOf = kindsOf(source);
  walk(source.program, (node, ancestors) => {
    if ((node.type !== 'ClassDeclaration' && node.type !== 'ClassExpression') || node.declare === true) return;
    const parent = ancestors.at(-1);
    const variable =
      parent?.type === 'VariableDeclarator' && parent.id.type === 'Identifier' ? parent.id.name : undefined;
    found.push({
      source,
      node,
      name: node.id?.name ?? variable,
      statement: ancestors[1] ?? node,
      owner: ancestors.findLast(isFunction),
      isTopLevel: ancestors.every(({ type }) => /^(?:Program|Export\w+|Variable\w+)$/.test(type)),
      members: node.body.body.flatMap((member) => readMember(member, kindOf)),
    });
  });
  return found;
}

/** A function that finds the kind of a decorator: `tool` for `@Tool()`, even if it is renamed or in a namespace. */
function kindsOf(source: Source): (callee: Node) => Kind | undefined {
  const imports = importsOf(source);
  return (callee) => {
    const imported = importedAs(imports, callee);
    return imported?.module === '@decorum/core'
      ? KINDS.find((kind) => kind === imported.name.toLowerCase())
      : undefined;
  };
}

/** The instance members that one element declares: a constructor may declare several. */
function readMember(element: ClassElement, kindOf: (callee: Node) => Kind | undefined): MemberInfo[] {
  if (!('key' in element) || element.static) return [];
  const key = keyOf(element);
  if (key === undefined) return [];
  if (element.type !== 'MethodDefinition') return [{ key, start: element.start, args: [], params: [] }];
  if (element.kind === 'constructor') return parameterProperties(element);
  const { params } = element.value;
  // `start` is the offset of the key, because decorators may be lines above it
  for (const { expression } of element.decorators) {
    if (expression.type !== 'CallExpression') continue;
    const kind = kindOf(expression.callee);
    if (kind !== undefined) return [{ key, start: element.key.start, kind, args: expression.arguments, params }];
  }
  return [{ key, start: element.key.start, args: [], params }];
}

function keyOf(element: Extract<ClassElement, { key: unknown }>): string | undefined {
  const { key } = element;
  if (key.type === 'Literal') return String(key.value);
  return key.type === 'Identifier' && !element.computed ? key.name : undefined;
}

function parameterProperties({ value }: MethodDefinition): MemberInfo[] {
  return value.params.flatMap((each) => {
    if (each.type !== 'TSParameterProperty') return [];
    const { parameter, start } = each;
    const name = parameter.type === 'AssignmentPattern' ? parameter.left : parameter;
    return name.type === 'Identifier' ? [{ key: name.name, start, args: [], params: [] }] : [];
  });
}

/** The constructor of a class, if it has one with a body. */
export function constructorOf(node: Class): (MethodDefinition & { readonly value: Function }) | undefined {
  return node.body.body.find(
    (each): each is MethodDefinition =>
      each.type === 'MethodDefinition' && each.kind === 'constructor' && each.value.body !== null,
  );
}

/** The number of required parameters. */
export function requiredParams(params: readonly ParamPattern[]): number {
  const optional = params.findIndex((each) => {
    const param = each.type === 'TSParameterProperty' ? each.parameter : each;
    return (
      param.type === 'RestElement' ||
      param.type === 'AssignmentPattern' ||
      ('optional' in param && Boolean(param.optional))
    );
  });
  return optional === -1 ? params.length : optional;
}

/** The value of a decorator option, such as `name` in `@Tool({ name: 'x' })`. */
export function optionOf({ args }: Pick<MemberInfo, 'args'>, option: string): Expression | undefined {
  const options = args.find((each) => each.type === 'ObjectExpression');
  for (const each of options?.properties ?? []) {
    if (each.type !== 'Property' || each.computed) continue;
    const name = each.key.type === 'Identifier' ? each.key.name : each.key.type === 'Literal' ? each.key.value : '';
    if (name === option) return each.value;
  }
  return undefined;
}

/** The text of a string literal or a template without expressions. */
export function textOf(node: Node | undefined): string | undefined {
  if (node?.type === 'Literal' && typeof node.value === 'string') return node.value;
  if (node?.type === 'TemplateLiteral' && node.quasis.length === 1) return node.quasis[0]?.value.cooked ?? undefined;
  return undefined;
}

/** The name of a member as clients see it. */
export const servedName = (member: MemberInfo): string => textOf(optionOf(member, 'name')) ?? member.key;

/** The URI or template of a resource, if it is a literal. */
export const uriOf = (member: MemberInfo): string | undefined => textOf(member.args[0]);

/** The offset where the statement of a class starts, including its decorators and comments. */
export function startOfStatement({ statement, node, source: { comments, text } }: ClassInfo): number {
  const starts = [statement, ...node.decorators].map(({ start }) => start);
  let start = Math.min(...starts.filter((each) => each < node.body.start));
  for (const comment of comments.toReversed()) {
    if (comment.end > start) continue;
    const isAbove = /^[ \t]*(?:\r?\n[ \t]*)?$/.test(text.slice(comment.end, start));
    const isOwnLine = text.slice(text.lastIndexOf('\n', comment.start - 1) + 1, comment.start).trim() === '';
    if (!isAbove || !isOwnLine) break;
    ({ start } = comment);
  }
  return start;
}

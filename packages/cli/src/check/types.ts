import type { Node, TSEnumDeclaration } from 'oxc-parser';

import type { Source } from '../add/source.js';
import type { Declared, Scope } from './scope.js';

/** A closed set of values, as a type of TypeScript. */
export interface Choice {
  /** The type as the user wrote it. */
  readonly title: string;
  /** What a rule for the set is written as, without its closing parenthesis: `@IsEnum(Unit`. */
  readonly rule: string;
  readonly isList: boolean;
  readonly kind: 'string' | 'number' | 'value';
}

const NOTHING = /^TS(?:Undefined|Null)Keyword$/;
const MAX_DEPTH = 8;

/** The code of a node. */
export const codeOf = ({ text }: Source, { start, end }: Node): string => text.slice(start, end);

/** Removes parentheses, `readonly`, `undefined` and `null` from a type. */
export function bare(node: Node): Node {
  if (node.type === 'TSParenthesizedType' || (node.type === 'TSTypeOperator' && node.operator === 'readonly')) {
    return bare(node.typeAnnotation);
  }
  if (node.type !== 'TSUnionType') return node;
  const [only, ...more] = node.types.filter(({ type }) => !NOTHING.test(type));
  return only && more.length === 0 ? bare(only) : node;
}

/** The type of the items of a list; undefined for other types. */
function itemOf(node: Node): Node | undefined {
  if (node.type === 'TSArrayType') return node.elementType;
  const isArray =
    node.type === 'TSTypeReference' &&
    node.typeName.type === 'Identifier' &&
    /^(?:Readonly)?Array$/.test(node.typeName.name);
  return isArray ? node.typeArguments?.params[0] : undefined;
}

/** The set of values that a type allows; undefined for types that aren't enums or unions of literals. */
export function choiceOf(scope: Scope, { source, node }: Declared<Node>): Choice | undefined {
  const type = bare(node);
  const item = itemOf(type);
  const set = setOf(scope, { source, node: item ?? type }, 0);
  return set && { ...set, title: codeOf(source, bare(item ?? type)), isList: item !== undefined };
}

type Set = Pick<Choice, 'rule' | 'kind'>;

function setOf(scope: Scope, { source, node }: Declared<Node>, depth: number): Set | undefined {
  const type = bare(node);
  if (depth > MAX_DEPTH) return undefined;
  if (type.type === 'TSIndexedAccessType') return constantOf(scope, { source, node: type });
  if (type.type === 'TSTypeReference') {
    const found = scope.declared(source, type.typeName);
    if (found?.node.type === 'TSTypeAliasDeclaration') {
      if (found.node.typeParameters) return undefined;
      return setOf(scope, { source: found.source, node: found.node.typeAnnotation }, depth + 1);
    }
    return found?.node.type === 'TSEnumDeclaration' ? enumSet(codeOf(source, type.typeName), found.node) : undefined;
  }
  if (type.type !== 'TSUnionType') return undefined;
  const members = type.types.filter((each) => !NOTHING.test(each.type));
  const values = members.map((each) => literalOf(scope, { source, node: bare(each) }));
  if (values.length < 2 || values.some((each) => each === undefined)) return undefined;
  const kinds = values.map((each) => each?.kind);
  return { rule: `@IsIn([${values.map((each) => each?.code).join(', ')}]`, kind: common(kinds) };
}

const common = (kinds: readonly (string | undefined)[]): Choice['kind'] => {
  const [kind] = kinds;
  return (kind === 'string' || kind === 'number') && kinds.every((each) => each === kind) ? kind : 'value';
};

function enumSet(name: string, node: TSEnumDeclaration): Set {
  const kinds = node.body.members.map(({ initializer }) =>
    (initializer?.type === 'Literal' && typeof initializer.value === 'string') ||
    initializer?.type === 'TemplateLiteral'
      ? 'string'
      : 'number',
  );
  // at run time, there is no object for a `const enum`
  const rule = node.const
    ? `@IsIn([${node.body.members.map(({ id }) => (id.type === 'Identifier' ? `${name}.${id.name}` : `${name}['${'value' in id ? id.value : ''}']`)).join(', ')}]`
    : `@IsEnum(${name}`;
  return { rule, kind: common(kinds) };
}

/** A literal, or the member of an enum. */
function literalOf(scope: Scope, { source, node }: Declared<Node>): { code: string; kind: string } | undefined {
  const code = codeOf(source, node);
  if (node.type === 'TSLiteralType') {
    const { literal } = node;
    if (literal.type === 'UnaryExpression') return { code, kind: 'number' };
    return literal.type === 'Literal' && /^(?:string|number)$/.test(typeof literal.value)
      ? { code, kind: typeof literal.value }
      : undefined;
  }
  if (node.type !== 'TSTypeReference' || node.typeName.type !== 'TSQualifiedName') return undefined;
  const found = scope.declared(source, node.typeName.left);
  return found?.node.type === 'TSEnumDeclaration' ? { code, kind: enumSet('', found.node).kind } : undefined;
}

/** The set for `(typeof UNITS)[number]`, where `UNITS` is a constant list of literals. */
function constantOf(scope: Scope, { source, node }: Declared<Node>): Set | undefined {
  if (node.type !== 'TSIndexedAccessType' || node.indexType.type !== 'TSNumberKeyword') return undefined;
  const query = bare(node.objectType);
  if (query.type !== 'TSTypeQuery') return undefined;
  const found = scope.declared(source, query.exprName);
  const init = found?.node.type === 'VariableDeclarator' ? found.node.init : undefined;
  if (init?.type !== 'TSAsExpression' || init.expression.type !== 'ArrayExpression') return undefined;
  const kinds = init.expression.elements.map((each) => (each?.type === 'Literal' ? typeof each.value : undefined));
  const isConst = codeOf((found as Declared).source, init.typeAnnotation) === 'const';
  if (!isConst || kinds.length === 0 || !kinds.every((kind) => kind === 'string' || kind === 'number'))
    return undefined;
  return { rule: `@IsIn(${codeOf(source, query.exprName)}`, kind: common(kinds) };
}

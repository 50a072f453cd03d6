import type { Class, ClassElement, Expression, Node, PropertyDefinition } from 'oxc-parser';

import { constructorOf } from '../add/classes.js';
import type { Source } from '../add/source.js';
import { walk } from '../add/source.js';
import type { Declared, Scope } from './scope.js';
import { codeOf } from './types.js';

/** A field of a DTO, with the rules that it and the fields it overrides have. */
export interface Field {
  readonly source: Source;
  readonly node: PropertyDefinition;
  readonly name: string;
  /** `Query.unit`, with the class that declares the field. */
  readonly title: string;
  /** The decorators by package, such as `class-validator:IsString`; undefined for others. */
  readonly rules: readonly (string | undefined)[];
}

/** The name of a decorator, if it comes from a package. */
export function ruleOf(scope: Scope, source: Source, decorator: Expression): string | undefined {
  return scope.packageExport(source, decorator.type === 'CallExpression' ? decorator.callee : decorator);
}

/** The name of a class member that clients may see; undefined for static, private (`#name`) and computed ones. */
export function nameOf(element: ClassElement): string | undefined {
  if (!('key' in element) || element.static) return undefined;
  const { key } = element;
  if (key.type === 'Literal') return String(key.value);
  return key.type === 'Identifier' && !element.computed ? key.name : undefined;
}

/** A class and its base classes in the project, the class first. */
function lineageOf(scope: Scope, cls: Declared<Class>): Declared<Class>[] {
  const found = [cls];
  for (let last: Declared<Class> | undefined = cls; last;) {
    const { source, node }: Declared<Class> = last;
    const base: Declared | undefined = node.superClass ? scope.declared(source, node.superClass) : undefined;
    last = base && isClass(base) && found.every((each) => each.node !== base.node) ? base : undefined;
    if (last) found.push(last);
  }
  return found;
}

const isClass = (declared: Declared<Node>): declared is Declared<Class> => declared.node.type === 'ClassDeclaration';

/** The fields of a DTO, including those of its base classes. */
export function fieldsOf(scope: Scope, cls: Declared<Class>): Field[] {
  const found = new Map<string, Field>();
  for (const { source, node } of lineageOf(scope, cls)) {
    for (const element of node.body.body) {
      const name = nameOf(element);
      if (element.type !== 'PropertyDefinition' || name === undefined) continue;
      const own = element.decorators.map(({ expression }) => ruleOf(scope, source, expression));
      const title = `${node.id?.name ?? 'The DTO'}.${name}`;
      const known = found.get(name) ?? { source, node: element, name, title, rules: [] };
      found.set(name, { ...known, rules: [...known.rules, ...own] });
    }
  }
  return [...found.values()];
}

/** Rules that leave a field required. Any other decorator may make it optional, and `@Allow` does so on its own. */
const KEEPS_REQUIRED =
  /^class-validator:(?!(?:IsOptional|ValidateIf|IsEmpty)$)|^@decorum\/core:|^class-transformer:Type$/;

/** The fields that clients must send. */
export function requiredFields(scope: Scope, cls: Declared<Class>): string[] {
  const constructors = lineageOf(scope, cls).map(({ source, node }) => {
    const found = constructorOf(node);
    return found ? codeOf(source, found) : '';
  });
  return (
    fieldsOf(scope, cls)
      .filter(({ node, rules }) => {
        const isRuled = rules.length > 0 && rules.every((rule) => rule !== undefined && KEEPS_REQUIRED.test(rule));
        const [only, ...more] = new Set(rules.filter((rule) => rule?.startsWith('class-validator:')));
        const isAllowed = only === 'class-validator:Allow' && more.length === 0;
        return isRuled && !isAllowed && node.value === null;
      })
      .map(({ name }) => name)
      // a constructor may set a field in many ways: `this.name`, `this['name']`, `Object.assign(this, { name })`
      .filter((name) => !constructors.some((code) => code.split(/[^\w$]+/).includes(name)))
  );
}

/** The classes that types and expressions name, and those that the fields of these classes name. */
export function dtosOf(scope: Scope, roots: readonly Declared<Node>[]): Declared<Class>[] {
  const found = new Map<Node, Declared>();
  const collect = ({ source, node }: Declared<Node>): void =>
    walk(node, (each) => {
      if (!/^(?:Identifier|TSQualifiedName|MemberExpression)$/.test(each.type)) return true;
      const named = scope.declared(source, each);
      if (named === undefined || found.has(named.node)) return each.type !== 'TSQualifiedName';
      found.set(named.node, named);
      if (isClass(named)) for (const field of fieldsOf(scope, named)) collect(field);
      if (named.node.type === 'TSTypeAliasDeclaration')
        collect({ source: named.source, node: named.node.typeAnnotation });
      return false;
    });
  for (const root of roots) collect(root);
  return [...found.values()].filter(isClass);
}

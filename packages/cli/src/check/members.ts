import type { Class, Node, ParamPattern } from 'oxc-parser';

import { classesOf, memberTitle, type ClassInfo, optionOf } from '../add/classes.js';
import type { Source } from '../add/source.js';
import { nameOf, ruleOf } from './dto.js';
import type { Declared, Scope } from './scope.js';

/** A class member that a decorator serves. */
export interface Served {
  readonly source: Source;
  /** `Weather.forecast` */
  readonly title: string;
  /** Such as `@Tool`. */
  readonly decorator: string;
  readonly key: Node;
  readonly accessibility: string | undefined;
  readonly isAbstract: boolean;
  /** The parameter for the input. */
  readonly param: ParamPattern | undefined;
  /** The `input` option. */
  readonly input: Node | undefined;
}

/** Whether a parameter is no input: `this`, or one with a decorator, which a framework fills in. */
const isProvided = (param: ParamPattern): boolean =>
  ('decorators' in param && (param.decorators?.length ?? 0) > 0) ||
  (param.type === 'Identifier' && param.name === 'this');

const DECORATOR = /^@decorum\/core:(Tool|Resource|Prompt|Completion)$/;

/** The served members of a file. */
export const servedIn = (scope: Scope, source: Source): Served[] =>
  classesOf(source).flatMap((cls) => servedOf(scope, cls));

function servedOf(scope: Scope, cls: ClassInfo): Served[] {
  const { source, node } = cls;
  return node.body.body.flatMap((element) => {
    const name = nameOf(element);
    if (name === undefined || !('key' in element) || !('decorators' in element)) return [];
    for (const { expression } of element.decorators) {
      const [, decorator] = DECORATOR.exec(ruleOf(scope, source, expression) ?? '') ?? [];
      if (decorator === undefined) continue;
      const args = expression.type === 'CallExpression' ? expression.arguments : [];
      const { value } = element;
      const params = value && 'params' in value ? value.params : [];
      const param = params.find((each) => !isProvided(each));
      const served = {
        source,
        title: memberTitle(cls, name),
        decorator: `@${decorator}`,
        key: element.key,
        accessibility: element.accessibility ?? undefined,
        isAbstract: element.type === 'TSAbstractMethodDefinition',
        param: decorator === 'Completion' ? undefined : param,
        input: optionOf({ args }, 'input'),
      };
      return [served];
    }
    return [];
  });
}

/** The type of the input: its class, if the parameter names one. */
export function inputOf(scope: Scope, { source, param, input }: Served): Declared<Class> | undefined {
  const type = typeOf(param);
  const names = type?.type === 'TSUnionType' ? type.types : [type];
  const named = input ?? names.find((each) => each?.type === 'TSTypeReference');
  const name = named?.type === 'TSTypeReference' ? named.typeName : named;
  const found = name && scope.declared(source, name);
  return found?.node.type === 'ClassDeclaration' ? { source: found.source, node: found.node } : undefined;
}

/** The type that is written at a parameter. */
export function typeOf(param: ParamPattern | undefined): Node | undefined {
  if (param === undefined || param.type === 'TSParameterProperty') return undefined;
  const target = param.type === 'AssignmentPattern' ? param.left : param;
  return 'typeAnnotation' in target ? target.typeAnnotation?.typeAnnotation : undefined;
}

/** Whether a call may leave a parameter out. */
export function isOptional(param: ParamPattern | undefined): boolean {
  if (param?.type !== 'Identifier') return false;
  const type = typeOf(param);
  const isUnion = type?.type === 'TSUnionType' && type.types.some((each) => each.type === 'TSUndefinedKeyword');
  return Boolean(param.optional) || isUnion;
}

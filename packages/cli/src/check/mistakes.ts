import type { Node } from 'oxc-parser';

import type { Source } from '../add/source.js';
import { placeAt, printable } from '../loader/source-error.js';
import { dtosOf, type Field, fieldsOf, requiredFields } from './dto.js';
import { inputOf, isOptional, type Served, servedIn, typeOf } from './members.js';
import { Scope } from './scope.js';
import { choiceOf } from './types.js';

/** A mistake that TypeScript's source shows, but the running program doesn't. */
export interface Mistake {
  /** `src/weather.ts:14:3` */
  readonly place: string;
  /** What is wrong with which member, and what to change. */
  readonly text: string;
}

const mistake = ({ path, text }: Source, { start }: Node, problem: string): Mistake => ({
  place: printable(placeAt(path, text, start)),
  text: problem,
});

/** Rules that any string or any number can pass. Other rules may restrict the field, so they are left alone. */
const OPEN = new RegExp(
  `^(?:@decorum/core:(?:Describe|Nullable|ArrayOf|McpHeader)|class-transformer:(?:Type|Expose)|class-validator:(?:${[
    'Allow|IsDefined|IsOptional|ValidateIf|IsNotEmpty|IsString|MinLength|MaxLength|Length|IsNumber|IsInt',
    'IsArray|ArrayNotEmpty|ArrayMinSize|ArrayMaxSize|ArrayUnique',
  ].join('|')}))$`,
);

function openChoice(scope: Scope, field: Field): Mistake[] {
  const { source, node, title, rules } = field;
  const type = node.typeAnnotation?.typeAnnotation;
  // a field without rules is an error at startup
  if (!type || rules.length === 0 || !rules.every((rule) => rule !== undefined && OPEN.test(rule))) return [];
  const choice = choiceOf(scope, { source, node: type });
  if (choice === undefined) return [];
  const accepted = choice.isList ? `a list of any ${choice.kind}s` : `any ${choice.kind}`;
  const remedy = `${choice.rule}${choice.isList ? ', { each: true }' : ''})`;
  const problem = `${title} accepts ${accepted}, because no rule restricts it to ${choice.title}. Add ${remedy}.`;
  return [mistake(source, node.key, problem)];
}

function hiddenByType({ source, key, title, decorator, accessibility }: Served): Mistake[] {
  if (accessibility !== 'private' && accessibility !== 'protected') return [];
  const problem = `${title} is ${accessibility} for TypeScript only: ${decorator} serves it to clients. Remove \`${accessibility}\`.`;
  return [mistake(source, key, problem)];
}

function withoutBody({ source, key, title, decorator, isAbstract }: Served): Mistake[] {
  if (!isAbstract) return [];
  const remedy = 'Move the decorator to the methods that implement it';
  const problem = `${title} is abstract, so ${decorator} may have no effect: compilers reject it or leave it out. ${remedy}.`;
  return [mistake(source, key, problem)];
}

function falselyOptional(scope: Scope, served: Served): Mistake[] {
  const { source, param, title } = served;
  const dto = isOptional(param) ? inputOf(scope, served) : undefined;
  const required = dto ? requiredFields(scope, dto) : [];
  if (!dto || !param || required.length === 0) return [];
  const fields = `${required.join(', ')} of ${dto.node.id?.name ?? 'the DTO'}`;
  const problem = `${title}: the first parameter is optional, but handlers always receive an object, and clients must send ${fields}.`;
  const remedy = 'Decorate the fields that clients may omit with @IsOptional(), and make the parameter required';
  return [mistake(source, param, `${problem} ${remedy}.`)];
}

/**
 * Finds mistakes that Decorum can't see when the server starts, because they are only in the types.
 * @param entries the files to check, with all files that they import
 */
export function findMistakes(entries: readonly string[]): Mistake[] {
  const scope = new Scope();
  const seen = new Set<string>();
  const served = entries
    .flatMap((entry) => [...scope.reachable(entry, seen)])
    .flatMap((source) => servedIn(scope, source));
  const inputs = served.flatMap(({ source, param, input }) =>
    [typeOf(param), input].flatMap((node) => (node ? [{ source, node }] : [])),
  );
  const found = [
    ...served.flatMap((each) => [...hiddenByType(each), ...withoutBody(each), ...falselyOptional(scope, each)]),
    ...dtosOf(scope, inputs).flatMap((dto) => fieldsOf(scope, dto).flatMap((field) => openChoice(scope, field))),
  ];
  // several DTOs may inherit the same field
  return [...new Map(found.map((each) => [each.place + each.text, each])).values()];
}

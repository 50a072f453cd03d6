import { CommandFailure, EXIT } from 'create-decorum';
import type { Node, ParamPattern } from 'oxc-parser';

import {
  type ClassInfo,
  type MemberInfo,
  memberTitle,
  optionOf,
  servedName,
  textOf,
  titleOf,
  uriOf,
} from './classes.js';
import { camelCase, pascalCase } from './names.js';
import { placeOf } from './source.js';
import type { World } from './world.js';

/** An argument of a prompt, or a variable of a template. */
interface Argument {
  readonly member: MemberInfo;
  readonly name: string;
}

/** What a new completion completes. */
export interface Completed {
  readonly argument: string;
  /** The methods. */
  readonly for: readonly string[];
  /** Of the completion itself. */
  readonly method: string;
  /** The first of the prompts and templates. */
  readonly first: MemberInfo;
}

/**
 * Finds what `NAME` of `decorum add completion NAME` completes: `pack/city`, `city` (in all prompts and templates that have
 * it), or `pack` if it has one argument.
 * @throws {CommandFailure} with the candidates if there is no such argument, or if it has a completion
 */
export function findCompleted(world: World, cls: ClassInfo, name: string): Completed {
  const lineage = world.lineage(cls);
  const members = lineage.flatMap((each) => each.members.map((member) => ({ member, owner: each })));
  const all = members
    .filter(({ member, owner }) => owner === cls || !cls.members.some(({ key }) => key === member.key))
    .flatMap(({ member, owner }) => argumentsOf(world, owner, member).map((argument) => ({ member, name: argument })));
  const wanted = matching(all, name);
  const completions = members.filter(({ member }) => member.kind === 'completion');
  const doneBy = (it: Argument) => completions.find(({ member }) => completes(member, it))?.member;
  const open = wanted.filter((each) => doneBy(each) === undefined);
  const [first] = open;
  if (first === undefined) {
    const done = completions.find(({ member }) => wanted.some((each) => completes(member, each)));
    if (done) throw alreadyDone(wanted, done);
    throw noArgument(
      cls,
      name,
      all.filter((each) => doneBy(each) === undefined),
    );
  }
  if (open.some((each) => each.name !== first.name)) throw noArgument(cls, name, open);
  const isTaken = (method: string) => members.some(({ member }) => member.key === method);
  const plain = name === first.name ? camelCase(name) : camelCase(`${first.member.key}-${first.name}`);
  const methods = [
    plain,
    `complete${pascalCase(plain)}`,
    `complete${pascalCase(first.member.key)}${pascalCase(first.name)}`,
  ];
  const method = methods.find((each) => !isTaken(each));
  const taken = members.find(({ member }) => member.key === methods.at(-1));
  if (method === undefined && taken) {
    const place = placeOf(taken.owner.source, taken.member.start);
    throw new CommandFailure(`${place}  ${memberTitle(cls, taken.member.key)} exists already.`, EXIT.failed);
  }
  return {
    argument: first.name,
    for: open.map(({ member }) => member.key),
    method: method ?? plain,
    first: first.member,
  };

  function alreadyDone(them: readonly Argument[], by: { member: MemberInfo; owner: ClassInfo }): CommandFailure {
    const [argument] = them;
    const place = placeOf(by.owner.source, by.member.start);
    return new CommandFailure(
      `${place}  ${memberTitle(cls, by.member.key)} completes ${argument?.name} already.`,
      EXIT.failed,
    );
  }
}

/** The arguments that a name means. */
function matching(all: readonly Argument[], name: string): Argument[] {
  const isNamed = ({ member }: Argument, given: string) => member.key === given || servedName(member) === given;
  const byArgument = all.filter((each) => each.name === name);
  if (byArgument.length > 0) return byArgument;
  const byMember = all.filter((each) => isNamed(each, name));
  if (byMember.length > 0) return byMember;
  // names of members may contain dots
  return all.filter((each) =>
    ['/', '.', ':'].some(
      (mark) => name.endsWith(`${mark}${each.name}`) && isNamed(each, name.slice(0, -each.name.length - 1)),
    ),
  );
}

function noArgument(cls: ClassInfo, name: string, open: readonly Argument[]): CommandFailure {
  const title = titleOf(cls);
  if (open.length === 0) {
    const remedy = 'Add one first: decorum add prompt NAME';
    return new CommandFailure(`${title} has no prompt or template with an argument to complete. ${remedy}`, EXIT.usage);
  }
  const list = open.map(
    ({ member, name: argument }) => `  ${servedName(member)}/${argument}  ${placeOf(cls.source, member.start)}`,
  );
  return new CommandFailure(
    `"${name}" doesn't say which argument to complete. ${title} has these:\n${list.join('\n')}`,
    EXIT.usage,
  );
}

function completes({ args }: MemberInfo, { member, name }: Argument): boolean {
  if (textOf(optionOf({ args }, 'argument')) !== name) return false;
  const targets = optionOf({ args }, 'for');
  const list: readonly (Node | null)[] = targets?.type === 'ArrayExpression' ? targets.elements : [targets ?? null];
  return list.some((each) => each !== null && textOf(each) === member.key);
}

/** The names of the arguments that a member takes. */
function argumentsOf(world: World, cls: ClassInfo, member: MemberInfo): string[] {
  if (member.kind === 'resource') {
    const expressions = [...(uriOf(member) ?? '').matchAll(/\{[+#./;?&]?([^}]*)\}/g)];
    return expressions.flatMap(([, list = '']) => list.split(',').map((each) => each.replace(/\*$|:\d+$/, '')));
  }
  if (member.kind !== 'prompt') return [];
  const [param] = member.params;
  const dto = dtoOf(world, cls, { member, param });
  const fields = dto === undefined ? [] : world.lineage(dto).flatMap(fieldsOf);
  return [...new Set([...fields, ...(param ? destructured(param) : [])])];
}

const fieldsOf = ({ node }: ClassInfo): string[] =>
  node.body.body.flatMap((each) =>
    each.type === 'PropertyDefinition' && !each.static && each.key.type === 'Identifier' ? [each.key.name] : [],
  );

/** The class of the `input` option, or else of the first parameter. */
function dtoOf(
  world: World,
  cls: ClassInfo,
  given: { member: MemberInfo; param: ParamPattern | undefined },
): ClassInfo | undefined {
  const input = optionOf(given.member, 'input');
  if (input?.type === 'Identifier') return world.resolve(cls.source, input.name);
  const type = given.param && 'typeAnnotation' in given.param ? given.param.typeAnnotation?.typeAnnotation : undefined;
  if (type?.type !== 'TSTypeReference' || type.typeName.type !== 'Identifier') return undefined;
  return world.resolve(cls.source, type.typeName.name);
}

/** The names in `{ city, units = 'metric' }`. */
function destructured(param: ParamPattern): string[] {
  const pattern = param.type === 'AssignmentPattern' ? param.left : param;
  if (pattern.type !== 'ObjectPattern') return [];
  return pattern.properties.flatMap((each) =>
    each.type === 'Property' && each.key.type === 'Identifier' ? [each.key.name] : [],
  );
}

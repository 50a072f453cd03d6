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
import { camelCase, isReserved, pascalCase } from './names.js';
import { placeOf } from './source.js';
import type { World } from './world.js';

/** A member of a class or of one of its base classes. */
interface Owned {
  readonly member: MemberInfo;
  readonly owner: ClassInfo;
}

/** An argument of a prompt, or a variable of a template. */
interface Argument extends Owned {
  readonly name: string;
}

/** The target of a new completion. */
export interface Completed {
  readonly argument: string;
  /** The methods of the prompts and templates. */
  readonly for: readonly string[];
  /** The name of the completion's own method. */
  readonly method: string;
  /** The first of the prompts and templates. */
  readonly first: MemberInfo;
}

/**
 * Finds the argument that `decorum add completion NAME` means: `pack/city`, `city` (in all prompts and templates that
 * have it), or `pack` if that has one argument. If there is only one argument to complete, any other name becomes the
 * name of the method.
 * @throws {CommandFailure} with the candidates if there is no such argument, or if it already has a completion
 */
export function findCompleted(world: World, cls: ClassInfo, name: string): Completed {
  const members = membersOf(world, cls);
  const all = members.flatMap((each) =>
    argumentsOf(world, each.owner, each.member).map((argument) => ({ ...each, name: argument })),
  );
  const doneBy = (it: Argument) => members.find(({ member }) => completes(member, it));
  const open = all.filter((each) => !doneBy(each));
  const wanted = matching(all, name);
  const known = open.filter((each) => wanted.includes(each));
  const [asked] = wanted;
  const done = asked && doneBy(asked);
  if (asked && done && known.length === 0) throw exists(done, `completes ${asked.name} already`);
  const chosen = asked ? known : open;
  const [first] = chosen;
  const isOne = chosen.every((each) => each.name === first?.name);
  if (first === undefined || !isOne || !(asked || isWord(name))) throw noArgument(cls, name, asked ? known : open);
  const methods = asked ? methodsFor(first, name) : [camelCase(name)];
  const taken = methods.map((each) => members.find(({ member }) => member.key === each));
  const method = methods.find((each, index) => !taken[index] && !isReserved(each));
  if (method === undefined) throw taken[0] ? exists(taken[0], 'exists already') : noArgument(cls, name, open);
  return { argument: first.name, for: chosen.map(({ member }) => member.key), method, first: first.member };
}

const isWord = (name: string): boolean => /^[A-Za-z][\w-]*$/.test(name);

/** The members that the class has or inherits. */
function membersOf(world: World, cls: ClassInfo): Owned[] {
  const owned = world.lineage(cls).flatMap((owner) => owner.members.map((member) => ({ member, owner })));
  return owned.filter(({ member }, index) => owned.findIndex((each) => each.member.key === member.key) === index);
}

/** Method names for the completion of an argument, in order of preference. */
function methodsFor({ member, name: argument }: Argument, name: string): string[] {
  const both = camelCase(`${member.key}-${argument}`);
  const first = name === argument ? camelCase(name) : both;
  return [first, `complete${pascalCase(first)}`, `complete${pascalCase(both)}`];
}

/** The arguments that a name refers to. */
function matching(all: readonly Argument[], name: string): Argument[] {
  const isNamed = ({ member }: Argument, given: string) => member.key === given || servedName(member) === given;
  const byArgument = all.filter((each) => each.name === name);
  if (byArgument.length > 0) return byArgument;
  const byMember = all.filter((each) => isNamed(each, name));
  if (byMember.length > 0) return byMember;
  // member names may contain dots
  return all.filter((each) =>
    ['/', '.', ':'].some(
      (mark) => name.endsWith(`${mark}${each.name}`) && isNamed(each, name.slice(0, -each.name.length - 1)),
    ),
  );
}

function exists({ member, owner }: Owned, what: string): CommandFailure {
  const place = placeOf(owner.source, member.start);
  return new CommandFailure(`${place}  ${memberTitle(owner, member.key)} ${what}. Nothing was written.`, EXIT.failed);
}

function noArgument(cls: ClassInfo, name: string, open: readonly Argument[]): CommandFailure {
  const title = titleOf(cls);
  if (open.length === 0) {
    const remedy = 'Add one first: decorum add prompt NAME';
    return new CommandFailure(`${title} has no prompt or template with an argument to complete. ${remedy}`, EXIT.usage);
  }
  const list = open.map(
    ({ member, owner, name: argument }) =>
      `  ${placeOf(owner.source, member.start)}  ${servedName(member)}/${argument}`,
  );
  return new CommandFailure(
    `"${name}" doesn't say which argument to complete. ${title} has these:\n${list.join('\n')}`,
    EXIT.usage,
  );
}

function completes({ kind, args }: MemberInfo, { member, name }: Argument): boolean {
  if (kind !== 'completion') return false;
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

/** The class of the `input` option or, without one, of the first parameter. */
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

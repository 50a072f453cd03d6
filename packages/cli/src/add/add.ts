import { resolve } from 'node:path';

import { CommandFailure, EXIT } from 'create-decorum';

import { importsOf, topLevelNames } from './bindings.js';
import { type MemberInfo, memberTitle, optionOf, servedName, titleOf, uriOf } from './classes.js';
import { type Completed, findCompleted } from './completion.js';
import { type Addition, compose, type Place } from './compose.js';
import { kebabCase, type Kind, type ListedKind, type Names, namesFor } from './names.js';
import { hasImported } from './needs.js';
import { dialectOf, findProject, losesTypes } from './project.js';
import { placeOf, type Source } from './source.js';
import { styleOf } from './style.js';
import { candidatesIn, chooseClass, countServers, readable } from './which.js';
import { World } from './world.js';
import { needsOf, type NewCompletion, type NewMember, type Rules, templateOf } from './write.js';

/** What the user asked for. */
export interface Request {
  readonly kind: Kind;
  readonly name: string;
  readonly to: string | undefined;
}

/**
 * Plans the addition of a member, without writing anything.
 * @throws {CommandFailure} for a name that exists, an ambiguous class, or a syntax error
 */
export async function planAddition({ kind, name, to }: Request): Promise<Addition> {
  const place = findPlace(to);
  if (kind !== 'completion') return addListed(place, kind, await namesIn(place, kind, name));
  return addCompletion(place, findCompleted(place.world, place.cls, name));
}

function findPlace(to: string | undefined): Place {
  const given = to === undefined ? process.cwd() : resolve(to, '..');
  const project = findProject(given);
  const world = new World();
  const sources = readable(world, project, to);
  const candidates = candidatesIn(world, sources);
  const cls = chooseClass(world, candidates, { given: to, project });
  const dialect = dialectOf(cls.source.path, project);
  if (dialect.isLegacy && cls.node.type === 'ClassExpression') {
    const problem = 'is a class expression, whose members experimentalDecorators cannot decorate';
    throw new CommandFailure(
      `${placeOf(cls.source, cls.node.start)}  ${titleOf(cls)} ${problem}. Declare it with a statement: class ${cls.name ?? 'Name'} { … }`,
    );
  }
  const serverCount = countServers(world, sources);
  return { world, cls, candidates, serverCount, project, dialect, style: styleOf(cls.source) };
}

async function namesIn({ world, cls }: Place, kind: ListedKind, name: string): Promise<Names> {
  // loaded only if needed, because it takes longer than everything else
  const server = world.isServer(cls) ? (await import('@decorum/core')).McpServer : undefined;
  return namesFor(kind, name, (method) => server !== undefined && method in server.prototype);
}

const exists = (source: Source, offset: number, what: string): CommandFailure =>
  new CommandFailure(`${placeOf(source, offset)}  ${what}. Nothing was written.`, EXIT.failed);

/** @throws {CommandFailure} if the class or the server already has the member, or the file has the DTO */
function requireNew({ world, cls, candidates, serverCount }: Place, kind: ListedKind, names: Names): void {
  for (const owner of world.lineage(cls)) {
    const member = owner.members.find((each) => each.key === names.method || isSame(each, kind, names));
    if (member) throw exists(owner.source, member.start, `${memberTitle(owner, member.key)} exists already`);
  }
  const dto = topLevelNames(cls.source).get(names.dto);
  if (dto !== undefined)
    throw exists(cls.source, dto, `${names.dto} exists already. Rename it, or choose another name`);
  const isPrefixed = candidates.some((each) => each.cls === cls && each.isPrefixed);
  // members of different servers, and members with a prefix, may have the same names
  if (isPrefixed || serverCount > 1) return;
  for (const { cls: other } of candidates.filter((each) => !each.isPrefixed && each.cls !== cls)) {
    const member = other.members.find((each) => isSame(each, kind, names));
    if (member)
      throw exists(other.source, member.start, `The ${kind} ${names.name} exists already in ${titleOf(other)}`);
  }
}

/** Whether clients would see two members under one name or URI. */
function isSame(member: MemberInfo, kind: ListedKind, names: Names): boolean {
  if (member.kind !== kind) return false;
  return servedName(member) === names.name || (kind === 'resource' && uriOf(member) === templateOf(names));
}

/** How the DTOs of this file declare their rules. */
function rulesIn({ cls: { source }, dialect }: Place): Rules {
  const modules = [...importsOf(source).values()].map(({ module }) => module);
  const isZod = hasImported(source, { module: 'zod', name: 'z' }) && !modules.includes('class-validator');
  return isZod ? 'zod' : dialect.isLegacy ? 'class-validator' : 'schema';
}

function addListed(place: Place, kind: ListedKind, names: Names): Addition {
  requireNew(place, kind, names);
  const { cls, dialect, project } = place;
  const rules = rulesIn(place);
  const mustName = rules === 'zod' || !dialect.emitsTypes || losesTypes(project);
  const namesInput = mustName || cls.members.some((each) => optionOf(each, 'input'));
  const plain: NewMember = { kind, names, namesInput, rules, isDescribed: false };
  // a description is not worth a second import of the same package
  const needsImport = needsOf(plain).some((each) => each.module === '@decorum/core' && !hasImported(cls.source, each));
  const isDescribed = needsImport || hasImported(cls.source, { module: '@decorum/core', name: 'Describe' });
  const member: NewMember = { ...plain, isDescribed };
  return compose(place, { member, file: kebabCase(names.name), reference: '' });
}

function addCompletion(place: Place, completed: Completed): Addition {
  const { argument, method, first } = completed;
  const { quote } = place.style;
  const member: NewCompletion = { kind: 'completion', method, argument, for: completed.for };
  const target = first.kind === 'prompt' ? `prompt: ${quote}${servedName(first)}` : `resource: ${quote}${uriOf(first)}`;
  return compose(place, { member, file: kebabCase(`${first.key}-${argument}`), reference: `{ ${target}${quote} }` });
}

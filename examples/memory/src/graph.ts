import { ArrayOf, Describe } from '@decorum/core';
import { IsString } from 'class-validator';

/** A node of the graph. */
export class Entity {
  @Describe('Unique name of the entity') @IsString() name!: string;
  @Describe('What kind of thing it is, for example "person"') @IsString() entityType!: string;
  @Describe('What is known about it, one fact each') @ArrayOf(String) observations!: string[];
}

/** A directed edge of the graph. */
export class Relation {
  @Describe('Name of the entity where the relation starts') @IsString() from!: string;
  @Describe('Name of the entity where it ends') @IsString() to!: string;
  @Describe('How they are related, in active voice, for example "works_at"') @IsString() relationType!: string;
}

/** The whole graph, or a part of it. */
export class Graph {
  @ArrayOf(Entity) entities!: Entity[];
  @ArrayOf(Relation) relations!: Relation[];
}

/** Thrown if an observation is about an entity that doesn't exist. */
export class UnknownEntity extends Error {
  constructor(name: string) {
    super(`There is no entity "${name}".`);
  }
}

/** @throws {UnknownEntity} */
export function find({ entities }: Graph, name: string): Entity {
  const entity = entities.find((known) => known.name === name);
  if (!entity) throw new UnknownEntity(name);
  return entity;
}

/** The entities that match, and all relations that start or end at one of them. */
export function select(graph: Graph, matches: (entity: Entity) => boolean): Graph {
  const entities = graph.entities.filter(matches);
  const names = new Set(entities.map(({ name }) => name));
  return { entities, relations: graph.relations.filter(({ from, to }) => names.has(from) || names.has(to)) };
}

export const isSameRelation = (a: Relation, b: Relation) =>
  a.from === b.from && a.to === b.to && a.relationType === b.relationType;

/** Appends the items that the list doesn't contain yet, and returns them. */
export function appendNew<T>(list: T[], items: readonly T[], isSame: (a: T, b: T) => boolean): T[] {
  const start = list.length;
  for (const item of items) if (!list.some((known) => isSame(known, item))) list.push(item);
  return list.slice(start);
}

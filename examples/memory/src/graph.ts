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

/** The entities that match, and all relations that start or end at one of them. */
export function select(graph: Graph, matches: (entity: Entity) => boolean): Graph {
  const entities = graph.entities.filter(matches);
  const names = new Set(entities.map(({ name }) => name));
  return { entities, relations: graph.relations.filter(({ from, to }) => names.has(from) || names.has(to)) };
}

/** What makes a relation unique. */
export const keyOf = ({ from, to, relationType }: Relation) => JSON.stringify([from, to, relationType]);

/** Appends the items whose key the list doesn't contain yet, and returns them. */
export function appendNew<T>(list: T[], items: readonly T[], key: (item: T) => string): T[] {
  const start = list.length;
  const known = new Set(list.map(key));
  for (const item of items) {
    if (!known.has(key(item))) list.push(item);
    known.add(key(item));
  }
  return list.slice(start);
}

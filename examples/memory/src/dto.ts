import { ArrayOf, Describe } from '@decorum/core';
import { IsBoolean, IsString, MaxLength } from 'class-validator';

import { Entity, Relation } from './graph.js';

export class Entities {
  @Describe('Entities of the graph, one for each name') @ArrayOf(Entity) entities!: Entity[];
}

export class EntityNames {
  @Describe('Names of the entities to delete') @ArrayOf(String) entityNames!: string[];
}

export class Relations {
  @Describe('Relations between entities') @ArrayOf(Relation) relations!: Relation[];
}

class NewObservations {
  @Describe('Name of the entity that they are about') @IsString() entityName!: string;
  @Describe('What to remember, one fact each') @ArrayOf(String) contents!: string[];
}

export class Observations {
  @Describe('What to remember, by entity') @ArrayOf(NewObservations) observations!: NewObservations[];
}

class AddedObservations {
  @IsString() entityName!: string;
  @Describe('Those that were not known yet') @ArrayOf(String) addedObservations!: string[];
}

export class Additions {
  @ArrayOf(AddedObservations) results!: AddedObservations[];
}

class Deletion {
  @Describe('Name of the entity that they are about') @IsString() entityName!: string;
  @Describe('What to forget, word for word') @ArrayOf(String) observations!: string[];
}

export class Deletions {
  @Describe('What to forget, by entity') @ArrayOf(Deletion) deletions!: Deletion[];
}

export class Query {
  @Describe('Text in the name, the type or an observation of the entities, in upper or lower case')
  @IsString()
  @MaxLength(200)
  query!: string;
}

export class NodeNames {
  @Describe('Names of the entities to read') @ArrayOf(String) names!: string[];
}

export class Confirmation {
  @IsBoolean() success!: boolean;
  @IsString() message!: string;
}

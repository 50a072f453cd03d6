import { McpServer, Resource, Tool } from '@decorum/core';

import {
  Additions,
  Confirmation,
  Deletions,
  Entities,
  EntityNames,
  NodeNames,
  Observations,
  Query,
  Relations,
} from './dto.js';
import { appendNew, Graph, keyOf, select, UnknownEntity } from './graph.js';
import type { GraphFile } from './graph-file.js';

const GRAPH_URI = 'memory://knowledge-graph';

const READS = {
  output: Graph,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
};
const ADDS = {
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
};
const DELETES = {
  output: Confirmation,
  text: ({ message }: Confirmation) => message,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
};

/** Stores what a model learns as a graph of entities and their relations. */
export class MemoryServer extends McpServer {
  constructor(private readonly file: GraphFile) {
    super({
      name: 'memory-server',
      version: '1.0.0',
      errors: [[UnknownEntity, (error) => error.message]],
    });
  }

  @Tool({
    ...ADDS,
    name: 'create_entities',
    title: 'Create Entities',
    description: 'Add entities to the knowledge graph. Skips those whose name is taken, and returns the others.',
    output: Entities,
    text: ({ entities }) => JSON.stringify(entities),
  })
  async createEntities({ entities }: Entities) {
    return await this.update((graph) => ({
      entities: appendNew(graph.entities, entities, ({ name }) => name),
    }));
  }

  @Tool({
    ...ADDS,
    name: 'create_relations',
    title: 'Create Relations',
    description:
      'Add relations between entities to the knowledge graph, in active voice. Skips those that exist, and returns the others.',
    output: Relations,
    text: ({ relations }) => JSON.stringify(relations),
  })
  async createRelations({ relations }: Relations) {
    return await this.update((graph) => ({ relations: appendNew(graph.relations, relations, keyOf) }));
  }

  @Tool({
    ...ADDS,
    name: 'add_observations',
    title: 'Add Observations',
    description: 'Add observations to entities that exist. Returns those that are new.',
    output: Additions,
    text: ({ results }) => JSON.stringify(results),
  })
  async addObservations({ observations }: Observations) {
    return await this.update(({ entities }) => {
      // the first of a name counts
      const known = new Map(
        entities.toReversed().map(({ name, observations: facts }) => [name, { facts, seen: new Set(facts) }]),
      );
      const results = observations.map(({ entityName, contents }) => {
        const entity = known.get(entityName);
        if (!entity) throw new UnknownEntity(entityName);
        const addedObservations = [...new Set(contents)].filter((fact) => !entity.seen.has(fact));
        for (const fact of addedObservations) {
          entity.facts.push(fact);
          entity.seen.add(fact);
        }
        return { entityName, addedObservations };
      });
      return { results };
    });
  }

  @Tool({
    ...DELETES,
    name: 'delete_entities',
    title: 'Delete Entities',
    description: 'Delete entities from the knowledge graph, and all relations that start or end at them.',
  })
  async deleteEntities({ entityNames }: EntityNames) {
    const names = new Set(entityNames);
    await this.update((graph) => {
      graph.entities = graph.entities.filter(({ name }) => !names.has(name));
      graph.relations = graph.relations.filter(({ from, to }) => !names.has(from) && !names.has(to));
    });
    return { success: true, message: 'Entities deleted successfully' };
  }

  @Tool({
    ...DELETES,
    name: 'delete_observations',
    title: 'Delete Observations',
    description: 'Delete single observations from entities.',
  })
  async deleteObservations({ deletions }: Deletions) {
    await this.update(({ entities }) => {
      const deleted = new Map<string, Set<string>>();
      for (const { entityName, observations } of deletions) {
        const facts = deleted.get(entityName) ?? new Set();
        for (const fact of observations) facts.add(fact);
        deleted.set(entityName, facts);
      }
      for (const entity of entities) {
        const facts = deleted.get(entity.name);
        if (facts) entity.observations = entity.observations.filter((known) => !facts.has(known));
      }
    });
    return { success: true, message: 'Observations deleted successfully' };
  }

  @Tool({
    ...DELETES,
    name: 'delete_relations',
    title: 'Delete Relations',
    description: 'Delete relations from the knowledge graph.',
  })
  async deleteRelations({ relations }: Relations) {
    await this.update((graph) => {
      const deleted = new Set(relations.map(keyOf));
      graph.relations = graph.relations.filter((known) => !deleted.has(keyOf(known)));
    });
    return { success: true, message: 'Relations deleted successfully' };
  }

  @Tool({ ...READS, name: 'read_graph', title: 'Read Graph', description: 'Read the whole knowledge graph.' })
  async readGraph() {
    return await this.file.read();
  }

  @Tool({
    ...READS,
    name: 'search_nodes',
    title: 'Search Nodes',
    description: 'Find entities by a text in their name, type or observations. Returns them with their relations.',
  })
  async searchNodes({ query }: Query) {
    const wanted = query.toLowerCase();
    return select(await this.file.read(), ({ name, entityType, observations }) =>
      [name, entityType, ...observations].some((text) => text.toLowerCase().includes(wanted)),
    );
  }

  @Tool({
    ...READS,
    name: 'open_nodes',
    title: 'Open Nodes',
    description: 'Read entities by their names. Returns them with their relations, and skips names that are unknown.',
  })
  async openNodes({ names }: NodeNames) {
    const wanted = new Set(names);
    return select(await this.file.read(), ({ name }) => wanted.has(name));
  }

  @Resource(GRAPH_URI, {
    name: 'knowledge-graph',
    title: 'Knowledge Graph',
    description: 'All entities and relations. Subscribe to hear of changes.',
    mimeType: 'application/json',
  })
  async graph() {
    return await this.file.read();
  }

  private async update<T>(change: (graph: Graph) => T): Promise<T> {
    const result = await this.file.update(change);
    this.notify.resourceUpdated(GRAPH_URI);
    return result;
  }
}

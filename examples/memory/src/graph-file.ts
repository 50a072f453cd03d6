import { existsSync } from 'node:fs';
import { readFile, realpath, rename, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

import type { Entity, Graph, Relation } from './graph.js';

type Line = ({ type: 'entity' } & Entity) | ({ type: 'relation' } & Relation);

/** Stores the graph in a file of JSON lines, each with one entity or relation. */
export class GraphFile {
  #lastUpdate: Promise<unknown> = Promise.resolve();

  constructor(private readonly path: string) {}

  async read(): Promise<Graph> {
    const graph: Graph = { entities: [], relations: [] };
    for (const line of (await this.#text()).split('\n')) {
      if (line.trim() === '') continue;
      const item = JSON.parse(line) as Line;
      if (item.type === 'entity') graph.entities.push(entityOf(item));
      if (item.type === 'relation') graph.relations.push(relationOf(item));
    }
    return graph;
  }

  /** Updates run one after the other, so each starts with the result of the previous one. */
  update<T>(change: (graph: Graph) => T): Promise<T> {
    const update = this.#lastUpdate.then(async () => {
      const graph = await this.read();
      const result = change(graph);
      await this.#write(graph);
      return result;
    });
    this.#lastUpdate = update.catch(() => {});
    return update;
  }

  async #text(): Promise<string> {
    try {
      return await readFile(this.path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
      throw error;
    }
  }

  /**
   * Replaces the file atomically: a crash leaves the old graph or the new one. Only the current user can read the file.
   */
  async #write({ entities, relations }: Graph): Promise<void> {
    const lines: Line[] = [
      ...entities.map((entity) => ({ type: 'entity' as const, ...entity })),
      ...relations.map((relation) => ({ type: 'relation' as const, ...relation })),
    ];
    const target = await realpath(this.path).catch(() => this.path);
    const unfinished = `${target}.${process.pid}.tmp`;
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    await writeFile(unfinished, text, { mode: 0o600 });
    await rename(unfinished, target);
  }
}

const entityOf = ({ name, entityType, observations }: Entity): Entity => ({ name, entityType, observations });

const relationOf = ({ from, to, relationType }: Relation): Relation => ({ from, to, relationType });

/**
 * Finds the file of the graph: `custom`, relative to the folder, or `memory.jsonl` in the folder by default. Early
 * versions of this server named the default file `memory.json`, so a file with that name is renamed.
 */
export async function locate(folder: string, custom: string | undefined): Promise<string> {
  if (custom) return resolve(folder, custom);
  const [legacy, file] = [join(folder, 'memory.json'), join(folder, 'memory.jsonl')];
  if (existsSync(legacy) && !existsSync(file)) {
    await rename(legacy, file);
    console.error(`Renamed ${legacy} to ${file}.`);
  }
  return file;
}

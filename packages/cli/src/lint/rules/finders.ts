import type { JsonObject } from '@decorum/core';
import { isObject } from '@decorum/core/internal';

import type { Lists, Spot } from '../rule.js';
import { nodesOf, type SchemaNode } from '../schema-nodes.js';

/** The name of a tool or prompt. */
export const nameOf = ({ name }: JsonObject): string => String(name);

/** The input schema of a tool. */
export const inputOf = ({ inputSchema }: JsonObject): JsonObject => (isObject(inputSchema) ? inputSchema : {});

/** A rule about each tool: says what is wrong with it, if anything. */
export const inTools = (problem: (tool: JsonObject, lists: Lists) => string | false) =>
  function* find(lists: Lists): Generator<Spot> {
    for (const tool of lists.tools) {
      const why = problem(tool, lists);
      if (why !== false) yield { member: nameOf(tool), path: '', why };
    }
  };

/** A rule about each schema in the inputs of tools. */
export const inSchemas = (problem: (node: SchemaNode, root: JsonObject) => string | false) =>
  function* find(lists: Lists): Generator<Spot> {
    for (const tool of lists.tools) {
      const root = inputOf(tool);
      for (const node of nodesOf(root, 'input')) {
        const why = problem(node, root);
        if (why !== false) yield { member: nameOf(tool), path: node.isRoot ? '' : node.path, why };
      }
    }
  };

/** A rule about the number of tools. */
export const aboveTools = (max: number) =>
  function* find({ server, tools, isShort }: Lists): Generator<Spot> {
    if (tools.length > max && !isShort)
      yield { member: server, path: 'tools', why: `has ${tools.length} tools, more than ${max}` };
  };

/** The first of the keywords that a schema has. */
export const firstOf = (schema: JsonObject, keywords: readonly string[]): string | undefined =>
  keywords.find((keyword) => schema[keyword] !== undefined);

import type { JsonObject } from '@decorum/core';
import { isObject } from '@decorum/core/internal';

import type { Lists, Rule, Spot } from '../rule.js';
import { nodesOf, resolved } from '../schema-nodes.js';
import { inputOf, inTools, nameOf } from './finders.js';

const ADVICE = 'https://www.anthropic.com/engineering/writing-tools-for-agents';

const isMissing = (text: unknown): boolean => typeof text !== 'string' || text.trim() === '';

const isTodo = (text: unknown): boolean => typeof text === 'string' && /^\s*TODO\b/i.test(text);

/** The schema of a field, or the one that it refers to. */
function described(schema: JsonObject, root: JsonObject): boolean {
  const target = typeof schema['$ref'] === 'string' ? resolved(root, schema['$ref']) : undefined;
  return !isMissing(schema['description']) || (target !== undefined && !isMissing(target['description']));
}

function* undescribedArguments({ tools }: Lists): Generator<Spot> {
  for (const tool of tools) {
    const root = inputOf(tool);
    for (const [name, schema] of Object.entries(isObject(root['properties']) ? root['properties'] : {})) {
      if (isObject(schema) && described(schema, root)) continue;
      yield { member: nameOf(tool), path: `input.${name}`, why: 'the argument has no description' };
    }
  }
}

function* todos(lists: Lists): Generator<Spot> {
  const why = 'the description still says TODO';
  const { tools, prompts, resources, templates } = lists;
  for (const each of [...tools, ...prompts, ...resources, ...templates]) {
    if (isTodo(each['description'])) yield { member: nameOf(each), path: '', why };
  }
  for (const tool of tools) {
    for (const { schema, path } of nodesOf(inputOf(tool), 'input')) {
      if (isTodo(schema['description'])) yield { member: nameOf(tool), path, why };
    }
  }
  for (const prompt of prompts) {
    for (const each of Array.isArray(prompt['arguments']) ? prompt['arguments'].filter(isObject) : []) {
      if (isTodo(each['description'])) yield { member: nameOf(prompt), path: nameOf(each), why };
    }
  }
}

function* sharedDescriptions({ tools }: Lists): Generator<Spot> {
  const first = new Map<string, string>();
  for (const tool of tools) {
    const { description } = tool;
    if (typeof description !== 'string' || isMissing(description)) continue;
    const before = first.get(description);
    if (before === undefined) first.set(description, nameOf(tool));
    else yield { member: nameOf(tool), path: '', why: `has the same description as ${before}` };
  }
}

/** What models need, whatever the client. */
export const DESCRIPTIONS: readonly Rule[] = [
  {
    name: 'tool-description',
    client: 'all',
    severity: 'error',
    about: 'Tools have a description. Some clients refuse all requests without one',
    fix: 'add a `description` that says what the tool does and when to use it',
    source: 'https://github.com/aws/amazon-q-developer-cli/issues/1468',
    find: inTools(({ description }) => isMissing(description) && 'has no description: some clients refuse the request'),
  },
  {
    name: 'argument-description',
    client: 'all',
    severity: 'warning',
    about: 'Arguments have a description',
    fix: "add `@Describe('…')`, or `description` in the schema",
    source: ADVICE,
    find: undescribedArguments,
  },
  {
    name: 'todo',
    client: 'all',
    severity: 'warning',
    about: 'No description begins with `TODO`, as those of `decorum add` do',
    fix: 'say what it is, and when to use it',
    source: ADVICE,
    find: todos,
  },
  {
    name: 'same-description',
    client: 'all',
    severity: 'warning',
    about: 'No two tools have the same description, because a model has to choose',
    fix: 'say how the two differ',
    source: ADVICE,
    find: sharedDescriptions,
  },
  {
    name: 'contrary-hints',
    client: 'all',
    severity: 'warning',
    about: '`destructiveHint` has a meaning only if `readOnlyHint` is false',
    fix: 'remove one of the two hints',
    source: 'https://modelcontextprotocol.io/docs/concepts/tools#tool-annotations',
    find: inTools(({ annotations }) => {
      const hints = isObject(annotations) ? annotations : {};
      const isBoth = hints['readOnlyHint'] === true && hints['destructiveHint'] === true;
      return isBoth && 'has both `readOnlyHint` and `destructiveHint`, so clients ignore the second';
    }),
  },
];

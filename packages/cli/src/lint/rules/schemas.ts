import type { JsonObject } from '@decorum/core';
import { isObject } from '@decorum/core/internal';

import type { Lists, Rule, Spot } from '../rule.js';
import { nodesOf, type SchemaNode } from '../schema-nodes.js';
import { firstOf, inputOf, inSchemas, inTools, nameOf } from './finders.js';

const WRAP = 'wrap it in a property';

/** Says that a keyword at the root of the input is refused. */
const atRoot = (keywords: readonly string[]) =>
  inTools((tool) => {
    const found = firstOf(inputOf(tool), keywords);
    return found !== undefined && `\`${found}\` at the root of the input is refused`;
  });

const withoutItems = ({ schema }: SchemaNode): string | false =>
  schema['type'] === 'array' && firstOf(schema, ['items', 'prefixItems']) === undefined && 'an array without `items`';

/** A tuple of draft-07, which no schema of 2020-12 may have. */
const tupleProblem = ({ schema }: SchemaNode): string | false =>
  Array.isArray(schema['items']) && 'a list in `items` is refused: it is a tuple of draft-07';

const OLD_DRAFT = /json-schema\.org\/draft-0\d/;

/** A rule about each schema in the outputs of tools. */
const inOutputs = (problem: (node: SchemaNode, isOld: boolean) => string | false) =>
  function* find({ tools }: Lists): Generator<Spot> {
    for (const tool of tools) {
      const output = tool['outputSchema'];
      for (const node of nodesOf(output, 'output')) {
        const why = problem(node, isObject(output) && OLD_DRAFT.test(String(output['$schema'])));
        if (why !== false) yield { member: nameOf(tool), path: node.path, why };
      }
    }
  };

const hasProperties = (input: JsonObject): boolean => typeof input['properties'] === 'object';

/** What Claude, OpenAI and VS Code refuse in schemas. */
export const SCHEMAS: readonly Rule[] = [
  {
    name: 'claude-root-union',
    client: 'claude',
    severity: 'error',
    about: 'No `oneOf`, `allOf` or `anyOf` at the root of the input',
    fix: WRAP,
    source: 'https://github.com/anthropics/claude-code/issues/5319',
    find: atRoot(['oneOf', 'allOf', 'anyOf']),
  },
  {
    name: 'claude-draft',
    client: 'claude',
    severity: 'error',
    about: 'Inputs are JSON Schema 2020-12, so `items` is no list',
    fix: 'write the tuple with `prefixItems`',
    source: 'https://github.com/AlexGladkov/claude-in-mobile/issues/57',
    find: inSchemas(tupleProblem),
  },
  {
    name: 'output-draft',
    client: 'all',
    // version 2 of the official client refused it at first, and so did Claude Code; most clients never have
    severity: 'warning',
    about: 'Outputs name no draft of JSON Schema before 2020-12. Some versions of clients refuse the tool',
    fix: 'leave `$schema` out, or write the schema for 2020-12',
    source: 'https://github.com/modelcontextprotocol/typescript-sdk/issues/2721',
    find: inOutputs(
      ({ isRoot }, isOld) => isRoot && isOld && 'some versions refuse the draft in `$schema`: it is older than 2020-12',
    ),
  },
  {
    name: 'output-tuple',
    client: 'all',
    severity: 'error',
    about: 'Outputs are JSON Schema 2020-12, so `items` is no list',
    fix: 'write the tuple with `prefixItems`',
    source: 'https://modelcontextprotocol.io/community/seps/1613-establish-json-schema-2020-12-as-default-dialect-f',
    find: inOutputs((node, isOld) => !isOld && tupleProblem(node)),
  },
  {
    name: 'openai-root-union',
    client: 'openai',
    severity: 'error',
    about: 'No `oneOf`, `anyOf`, `allOf`, `enum`, `const` or `not` at the root of the input',
    fix: WRAP,
    source: 'https://github.com/goruck/home-generative-agent/pull/545',
    find: atRoot(['oneOf', 'anyOf', 'allOf', 'enum', 'const', 'not']),
  },
  {
    name: 'openai-properties',
    client: 'openai',
    severity: 'error',
    about: 'Inputs have `properties`, even if there are none',
    fix: 'add `properties: {}`',
    source: 'https://github.com/openai/openai-agents-python/pull/454',
    find: inTools((tool) => !hasProperties(inputOf(tool)) && 'an input without `properties` is refused'),
  },
  {
    name: 'openai-items',
    client: 'openai',
    severity: 'error',
    about: 'Arrays have `items`',
    fix: 'add `items` with the type of the elements',
    source: 'https://github.com/apify/apify-mcp-server/issues/36',
    find: inSchemas((node) => withoutItems(node) && `${withoutItems(node)} is refused`),
  },
  {
    name: 'vscode-items',
    client: 'vscode',
    severity: 'error',
    about: 'Arrays have `items`',
    fix: 'add `items` with the type of the elements',
    source: 'https://github.com/microsoft/vscode/issues/246119',
    find: inSchemas((node) => withoutItems(node) && `${withoutItems(node)} is refused`),
  },
  {
    name: 'vscode-ref',
    client: 'vscode',
    severity: 'warning',
    about: 'Copilot may not resolve `$ref`, and then leaves arguments out',
    fix: 'write the schema in place of the reference',
    source: 'https://github.com/github/copilot-cli/issues/1876',
    find: inSchemas(({ schema }) => schema['$ref'] !== undefined && '`$ref` may not be resolved'),
  },
];

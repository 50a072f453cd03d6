import type { Rule } from '../rule.js';
import { circleIn, type SchemaNode } from '../schema-nodes.js';
import { firstOf, inputOf, inSchemas, inTools } from './finders.js';

/** Added where Gemini takes the keyword in one of its two formats of schemas: clients choose which. */
const SOME = 'is refused where the client sends it in `parameters`';

const UNKNOWN = ['const', 'exclusiveMinimum', 'exclusiveMaximum', 'propertyNames', 'patternProperties'];

const UNIONS = ['anyOf', 'oneOf', 'allOf'];

/** Formats of strings that Gemini's API names. */
const FORMATS = new Set(['enum', 'date-time']);

function enumProblem({ schema }: SchemaNode): string | false {
  const values = Array.isArray(schema['enum']) ? (schema['enum'] as unknown[]) : [];
  if (values.includes('')) return '`enum` with an empty string is refused';
  return values.some((value) => typeof value !== 'string') && `\`enum\` with other values than strings ${SOME}`;
}

function unionProblem({ schema, isRoot }: SchemaNode): string | false {
  const union = firstOf(schema, UNIONS);
  return (
    union !== undefined && !isRoot && Object.keys(schema).length > 1 && `\`${union}\` beside other keywords ${SOME}`
  );
}

const TYPED = [...UNIONS, 'type', '$ref', 'enum', 'const'];

/** What Gemini refuses in schemas. */
export const GEMINI: readonly Rule[] = [
  {
    name: 'gemini-root-union',
    client: 'gemini',
    severity: 'error',
    about: 'No `anyOf`, `oneOf` or `allOf` at the root of the input, where it stands beside `type`',
    fix: 'wrap it in a property',
    source: 'https://github.com/anomalyco/opencode/issues/15795',
    find: inTools((tool) => {
      const union = firstOf(inputOf(tool), UNIONS);
      return union !== undefined && `\`${union}\` at the root of the input is refused`;
    }),
  },
  {
    name: 'gemini-ref',
    client: 'gemini',
    severity: 'error',
    about: 'No `$ref`',
    fix: 'write the schema in place of the reference',
    source: 'https://github.com/google-gemini/gemini-cli/issues/13326',
    find: inSchemas(({ schema }) => schema['$ref'] !== undefined && '`$ref` is refused'),
  },
  {
    name: 'gemini-circle',
    client: 'gemini',
    severity: 'error',
    about: 'No schema that contains itself: it exceeds the maximum depth',
    fix: 'name the depth that you support, such as an item without further items',
    source: 'https://github.com/google-gemini/gemini-cli/pull/5609',
    find: inTools((tool) => {
      const circle = circleIn(inputOf(tool));
      return circle !== undefined && `the input contains itself (${circle}), which is refused as too deep`;
    }),
  },
  {
    name: 'gemini-union',
    client: 'gemini',
    severity: 'warning',
    about: 'Where there is `anyOf`, there is no other keyword',
    fix: 'move the other keywords into its branches, or choose one type',
    source: 'https://github.com/anomalyco/opencode/issues/14788',
    find: inSchemas(unionProblem),
  },
  {
    name: 'gemini-type-list',
    client: 'gemini',
    severity: 'warning',
    about: '`type` is one name, not a list',
    fix: 'choose one type, and make the argument optional in place of `null`',
    source: 'https://github.com/nanbingxyz/5ire/issues/218',
    find: inSchemas(({ schema }) => Array.isArray(schema['type']) && `a list in \`type\` ${SOME}`),
  },
  {
    name: 'gemini-keyword',
    client: 'gemini',
    severity: 'warning',
    about: `No ${UNKNOWN.map((keyword) => `\`${keyword}\``).join(', ')}`,
    fix: 'use `enum` for `const`, `minimum` and `maximum` for the others, or say it in the description',
    source: 'https://github.com/zendev-sh/goai/pull/108',
    find: inSchemas(({ schema }) => {
      const found = firstOf(schema, UNKNOWN);
      return found !== undefined && `\`${found}\` ${SOME}`;
    }),
  },
  {
    name: 'gemini-enum',
    client: 'gemini',
    severity: 'warning',
    about: 'Values in `enum` are strings, and none is empty',
    fix: 'list strings, and make the argument optional in place of an empty one',
    source: 'https://github.com/sbroenne/mcp-server-excel/issues/607',
    find: inSchemas(enumProblem),
  },
  {
    name: 'gemini-format',
    client: 'gemini',
    severity: 'warning',
    about: 'Strings have no `format` other than `enum` and `date-time`',
    fix: 'say the format in the description, or ignore this for clients that convert schemas',
    source: 'https://github.com/google-gemini/gemini-cli/issues/2237',
    find: inSchemas(({ schema: { type, format } }) => {
      const isOther = type === 'string' && typeof format === 'string' && !FORMATS.has(format);
      return isOther && `the format \`${format}\` ${SOME}`;
    }),
  },
  {
    name: 'gemini-type',
    client: 'gemini',
    severity: 'warning',
    about: 'Arguments have a type',
    fix: 'name the type of the argument',
    source: 'https://github.com/JetBrains/mcp-jetbrains/issues/71',
    find: inSchemas(
      ({ schema, isField }) =>
        isField && firstOf(schema, TYPED) === undefined && 'without a type, the tool may be left out',
    ),
  },
  {
    name: 'gemini-empty-object',
    client: 'gemini',
    severity: 'warning',
    about: 'Objects inside the input have `properties`',
    fix: 'declare the properties, or take JSON as a string',
    source: 'https://github.com/MarkusPfundstein/mcp-obsidian/issues/21',
    find: inSchemas(({ schema, isRoot }) => {
      const isEmpty = Object.keys(Object(schema['properties']) as object).length === 0;
      return schema['type'] === 'object' && !isRoot && isEmpty && `an object without \`properties\` ${SOME}`;
    }),
  },
];

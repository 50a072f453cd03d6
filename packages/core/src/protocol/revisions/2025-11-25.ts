import { isObject, type JsonObject } from '@decorum/schema/internal';

import type { FailureKind } from '../errors.js';
import { methodsOf } from '../methods.js';
import type { Tool } from '../model.js';
import { revision20260728 } from './2026-07-28.js';
import { allowList, allowOnly } from './allow-list.js';
import { verbatim } from './fields.js';
import { FIELDS_20251125 } from './model-fields.js';
import { movedSchema } from './moved-schema.js';
import type { Revision } from './revision.js';

/** Whether output must be wrapped as `{ result: … }`: in this revision, structured content must be an object. */
const wraps = ({ outputSchema }: Tool) => outputSchema !== undefined && outputSchema['type'] !== 'object';

/** Wraps a schema. */
function wrapped({ $schema, ...schema }: JsonObject): JsonObject {
  const { definitions, rest: result } = movedSchema(schema, '#/properties/result');
  const root = { ...($schema !== undefined && { $schema }), ...(definitions !== undefined && { $defs: definitions }) };
  return { ...root, type: 'object', properties: { result }, required: ['result'] };
}

/** This revision does not mirror arguments in headers. */
function withoutHeaders(tool: Tool): Tool {
  if (!JSON.stringify(tool.inputSchema).includes('"x-mcp-header"')) return tool;
  return { ...tool, inputSchema: unmirrored(tool.inputSchema) };
}

/** Removes the keyword from properties, including nested ones. Elsewhere it is data, such as part of a default. */
function unmirrored({ 'x-mcp-header': _header, ...schema }: JsonObject): JsonObject {
  if (!isObject(schema['properties'])) return schema;
  const properties = Object.entries(schema['properties']);
  const each = properties.map(([name, property]) => [name, isObject(property) ? unmirrored(property) : property]);
  return { ...schema, properties: Object.fromEntries(each) as JsonObject };
}

const RENUMBERED = new Map<FailureKind, number | undefined>([
  ['unknown-resource', -32002],
  ['url-elicitation-required', -32042],
  // passed only from the handler to the framework: this revision has no code for it
  ['missing-capability', undefined],
]);

/** Revision 2025-11-25: the newest with sessions. */
export const revision20251125: Revision = allowOnly(allowList(FIELDS_20251125), {
  ...revision20260728,
  id: '2025-11-25',
  rank: 3,
  era: 'stateful',
  sessions: true,
  methods: methodsOf(true),
  extensions: true,
  primesStreams: true,
  tool(encoded) {
    const tool = withoutHeaders(encoded);
    if (!wraps(tool)) return { ...tool };
    return { ...tool, outputSchema: wrapped(tool.outputSchema as JsonObject) };
  },
  toolResult(result, tool) {
    const { structuredContent } = result;
    const isSentAsItIs = structuredContent === undefined || (!wraps(tool) && isObject(structuredContent));
    return isSentAsItIs ? verbatim(result) : { ...result, structuredContent: { result: structuredContent } };
  },
  sendsObjects: (tool) => !wraps(tool),
  question: ({ params }) => ({ params }),
  complete: (result) => result,
  resultEnvelope: () => ({ before: '{', after: '}' }),
  errorCode: ({ kind, code }) => (kind !== undefined && RENUMBERED.has(kind) ? RENUMBERED.get(kind) : code),
});

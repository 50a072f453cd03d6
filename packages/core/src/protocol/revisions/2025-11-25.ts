import { isObject } from '../jsonrpc.js';
import type { FailureKind } from '../errors.js';
import { methodsOf } from '../methods.js';
import type { JsonObject, Tool } from '../model.js';
import { revision20260728 } from './2026-07-28.js';
import { allowList, allowOnly } from './allow-list.js';
import { verbatim } from './fields.js';
import { FIELDS_20251125 } from './model-fields.js';
import type { Revision } from './revision.js';

/** These sessions know objects only, so any other output is the member `result` of one. */
const wraps = ({ outputSchema }: Tool) => outputSchema !== undefined && outputSchema['type'] !== 'object';

/** Arguments are not repeated in headers here. */
function withoutHeaders(tool: Tool): Tool {
  if (!JSON.stringify(tool.inputSchema).includes('"x-mcp-header"')) return tool;
  return { ...tool, inputSchema: unmirrored(tool.inputSchema) };
}

/** The keyword stands only on properties, and on properties of those: elsewhere it is data, such as a default. */
function unmirrored({ 'x-mcp-header': _header, ...schema }: JsonObject): JsonObject {
  if (!isObject(schema['properties'])) return schema;
  const properties = Object.entries(schema['properties']);
  const each = properties.map(([name, property]) => [name, isObject(property) ? unmirrored(property) : property]);
  return { ...schema, properties: Object.fromEntries(each) as JsonObject };
}

const RENUMBERED = new Map<FailureKind, number | undefined>([
  ['unknown-resource', -32002],
  ['url-elicitation-required', -32042],
  // a local matter between handler and framework: this revision has no code for it
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
  extensions: false,
  primesStreams: true,
  tool(encoded) {
    const tool = withoutHeaders(encoded);
    if (!wraps(tool)) return { ...tool };
    // definitions move up, because references to them are relative to the root
    const { $defs, $schema, ...schema } = tool.outputSchema as JsonObject;
    const root = { ...($schema !== undefined && { $schema }), ...($defs !== undefined && { $defs }) };
    return { ...tool, outputSchema: { ...root, type: 'object', properties: { result: schema }, required: ['result'] } };
  },
  toolResult(result, tool) {
    const { structuredContent } = result;
    const isSentAsItIs = structuredContent === undefined || (!wraps(tool) && isObject(structuredContent));
    return isSentAsItIs ? verbatim(result) : { ...result, structuredContent: { result: structuredContent } };
  },
  question: ({ params }) => ({ params }),
  complete: (result) => result,
  resultEnvelope: () => ({ before: '{', after: '}' }),
  errorCode: ({ kind, code }) => (kind !== undefined && RENUMBERED.has(kind) ? RENUMBERED.get(kind) : code),
});

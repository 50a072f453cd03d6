import { isObject } from '../jsonrpc.js';
import type { FailureKind } from '../errors.js';
import { methodsOf } from '../methods.js';
import type { JsonObject, Tool } from '../model.js';
import { revision20260728 } from './2026-07-28.js';
import { allowList, allowOnly } from './allow-list.js';
import { verbatim } from './fields.js';
import { FIELDS_20251125 } from './model-fields.js';
import type { Revision } from './revision.js';
import { wrapped } from './wrapped.js';

/** This revision requires objects as structured content. Other output is wrapped in an object as `result`. */
const wraps = ({ outputSchema }: Tool) => outputSchema !== undefined && outputSchema['type'] !== 'object';

/** This revision does not mirror arguments in headers. */
function withoutHeaders(tool: Tool): Tool {
  if (!JSON.stringify(tool.inputSchema).includes('"x-mcp-header"')) return tool;
  return { ...tool, inputSchema: unmirrored(tool.inputSchema) };
}

/** Removes the keyword from properties, including nested ones. Elsewhere it is data, such as a default. */
function unmirrored({ 'x-mcp-header': _header, ...schema }: JsonObject): JsonObject {
  if (!isObject(schema['properties'])) return schema;
  const properties = Object.entries(schema['properties']);
  const each = properties.map(([name, property]) => [name, isObject(property) ? unmirrored(property) : property]);
  return { ...schema, properties: Object.fromEntries(each) as JsonObject };
}

const RENUMBERED = new Map<FailureKind, number | undefined>([
  ['unknown-resource', -32002],
  ['url-elicitation-required', -32042],
  // only an error between handler and framework: this revision has no code for it
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
    return wraps(tool) ? { ...tool, outputSchema: wrapped(tool.outputSchema as JsonObject) } : { ...tool };
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

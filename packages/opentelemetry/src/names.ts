// The names from OpenTelemetry's MCP conventions that this package uses. The conventions are still in development: see
// docs/gen-ai/mcp.md in the repository open-telemetry/semantic-conventions-genai.

/** The instrumentation scope of all spans and metrics. */
export const SCOPE = '@decorum/opentelemetry';

/** Names of attributes. */
export const ATTRIBUTE = {
  method: 'mcp.method.name',
  revision: 'mcp.protocol.version',
  session: 'mcp.session.id',
  uri: 'mcp.resource.uri',
  requestId: 'jsonrpc.request.id',
  errorType: 'error.type',
  code: 'rpc.response.status_code',
  operation: 'gen_ai.operation.name',
  tool: 'gen_ai.tool.name',
  prompt: 'gen_ai.prompt.name',
  arguments: 'gen_ai.tool.call.arguments',
  result: 'gen_ai.tool.call.result',
  /** Followed by the name of the argument. */
  promptVariable: 'gen_ai.prompt.variable.',
  clientAddress: 'client.address',
  clientPort: 'client.port',
  transport: 'network.transport',
  protocol: 'network.protocol.name',
  protocolVersion: 'network.protocol.version',
  /** Our own: the conventions have no attribute for a call that asks the client and will be repeated. */
  outcome: 'decorum.outcome',
  /** Our own: the name that the client has used, if it is an alias. */
  alias: 'decorum.alias',
  /** Our own: `error.type` doesn't tell a bug from an expected error. */
  cause: 'decorum.cause',
  /** Our own, only on spans: the reference that the client and the log have. */
  reference: 'decorum.error.reference',
  /** Our own, only on the counters: the server's name, because several servers may be in one process. */
  server: 'decorum.server',
} as const;

/** Values of attributes. */
export const VALUE = {
  executeTool: 'execute_tool',
  toolError: 'tool_error',
  cancelled: 'cancelled',
  other: '_OTHER',
  http: 'http',
  tcp: 'tcp',
  pipe: 'pipe',
} as const;

/** Names and descriptions of the metrics of the conventions. All are histograms of seconds. */
export const METRIC = {
  operation: {
    name: 'mcp.server.operation.duration',
    description: 'How long the server took to handle a request or notification.',
  },
  session: { name: 'mcp.server.session.duration', description: 'How long a session lasted.' },
  question: {
    name: 'mcp.client.operation.duration',
    description: 'How long the client took to answer a request of the server.',
  },
} as const;

/** Names, descriptions and units of the counters of what processes exchange, by the server's count. All are our own. */
export const CLUSTER_METRIC = {
  letters: {
    name: 'decorum.cluster.letters',
    description: 'Letters sent to other processes.',
    unit: '{letter}',
  },
  untaken: {
    name: 'decorum.cluster.untaken_letters',
    description: 'Letters that no other process took.',
    unit: '{letter}',
  },
  adopted: {
    name: 'decorum.cluster.adopted_streams',
    description: 'GET streams that moved here.',
    unit: '{stream}',
  },
  conflicts: {
    name: 'decorum.cluster.conflicts',
    description: 'Writes that were repeated because another process had written first.',
    unit: '{conflict}',
  },
  timeouts: {
    name: 'decorum.cluster.timeouts',
    description: 'Calls of a store or a courier that were not answered in time.',
    unit: '{timeout}',
  },
} as const;

/** The bucket boundaries that the conventions recommend, in seconds. */
export const BUCKETS: readonly number[] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

/**
 * JSON-RPC codes of requests that the caller got wrong. The conventions don't count them as server errors (since pull
 * request 404 of open-telemetry/semantic-conventions-genai).
 */
export const CALLER_ERRORS: ReadonlySet<unknown> = new Set([-32_700, -32_600, -32_601, -32_602, -32_002]);

/** Error codes that clients usually answer with: those of JSON-RPC, MCP and its SDKs. */
export const CLIENT_CODES: ReadonlySet<unknown> = new Set([
  -1, -32_000, -32_001, -32_002, -32_042, -32_600, -32_601, -32_602, -32_603, -32_700,
]);

/** The method whose target is a tool. */
export const TOOL_METHOD = 'tools/call';
/** The method whose target is a prompt. */
export const PROMPT_METHOD = 'prompts/get';
/** Methods that name a resource by its URI. */
export const RESOURCE_METHODS: ReadonlySet<string> = new Set([
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
]);

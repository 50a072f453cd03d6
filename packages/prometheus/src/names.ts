// Names of metrics and labels. Durations have the names that OpenTelemetry's MCP conventions get in Prometheus, so a
// dashboard works with both this package and `@decorum/opentelemetry`.

/** Names and help texts of metrics. */
export const METRIC = {
  operation: {
    name: 'mcp_server_operation_duration_seconds',
    help: 'How long the server took to handle requests and notifications.',
  },
  calls: { name: 'mcp_server_calls_total', help: 'Requests and notifications, by member and outcome.' },
  aliases: { name: 'mcp_server_alias_calls_total', help: 'Requests that name a member by an alias.' },
  session: { name: 'mcp_server_session_duration_seconds', help: 'How long sessions lasted.' },
  sessions: { name: 'mcp_server_sessions', help: 'Open sessions.' },
  question: {
    name: 'mcp_client_operation_duration_seconds',
    help: 'How long clients took to answer requests of the server.',
  },
  questions: { name: 'mcp_server_questions_total', help: 'Requests of the server to clients, by outcome.' },
} as const;

/** Names and help texts of the counters of what processes exchange, by the server's count. */
export const CLUSTER_METRIC = {
  letters: { name: 'decorum_cluster_letters_total', help: 'Letters sent to other processes.' },
  untaken: { name: 'decorum_cluster_untaken_letters_total', help: 'Letters that no other process took.' },
  adopted: { name: 'decorum_cluster_adopted_streams_total', help: 'GET streams that moved here.' },
  conflicts: {
    name: 'decorum_cluster_conflicts_total',
    help: 'Writes that were repeated because another process had written first.',
  },
  timeouts: {
    name: 'decorum_cluster_timeouts_total',
    help: 'Calls of a store or a courier that were not answered in time.',
  },
} as const;

/** Names of labels. */
export const LABEL = {
  /** The server's name: several servers may share a registry. */
  server: 'server',
  method: 'mcp_method_name',
  operation: 'gen_ai_operation_name',
  tool: 'gen_ai_tool_name',
  prompt: 'gen_ai_prompt_name',
  revision: 'mcp_protocol_version',
  transport: 'network_transport',
  protocol: 'network_protocol_name',
  errorType: 'error_type',
  code: 'rpc_response_status_code',
  /** Only on the counters of calls: the tool, prompt, resource or template. */
  member: 'member',
  /** Only on `mcp_server_alias_calls_total`: the alias. */
  alias: 'alias',
  /** Only on durations, and only of requests that failed: why. */
  decorumCause: 'decorum_cause',
  /** The same on the counters. */
  cause: 'cause',
  /** Only on the counters: `ok`, `tool-error`, `error`, `cancelled` or `input-required`. */
  outcome: 'outcome',
} as const;

/** The method label of messages with a method that the server doesn't know. */
export const OTHER = '_OTHER';

/** The bucket boundaries of durations, in seconds: those of the conventions, plus two for fast handlers. */
export const BUCKETS: readonly number[] = [
  0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300,
];

/**
 * JSON-RPC codes of requests that the caller got wrong. The conventions don't count them as server errors (since pull
 * request 404 of open-telemetry/semantic-conventions-genai).
 */
export const CALLER_ERRORS: ReadonlySet<unknown> = new Set([-32_700, -32_600, -32_601, -32_602, -32_002]);

/** Error codes that clients usually answer with: those of JSON-RPC, MCP and its SDKs. */
export const CLIENT_CODES: ReadonlySet<unknown> = new Set([
  -1, -32_000, -32_001, -32_002, -32_042, -32_600, -32_601, -32_602, -32_603, -32_700,
]);

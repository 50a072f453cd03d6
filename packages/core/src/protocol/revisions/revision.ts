import type { McpError } from '../errors.js';
import type {
  CallToolResult,
  GetPromptResult,
  Implementation,
  JsonObject,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplate,
  ServerCapabilities,
  Tool,
} from '../model.js';

/** Which of the two ways of living a revision belongs to. */
export type Era = 'stateful' | 'stateless';

/** What a result may say about being kept by the client. */
export interface CacheHint {
  /** Milliseconds the result stays fresh. */
  readonly ttlMs: number;
  /** Whether others than the caller may share it. */
  readonly scope: 'public' | 'private';
}

/**
 * The words of one revision: which methods exist, and what each object looks like on the wire. Pure data and
 * functions. Life cycle is not here (`eras/`), carriage neither (the transports).
 */
export interface Revision {
  /** The date that clients name. */
  readonly id: string;
  /** Position among all revisions, oldest first; lists written ahead of time are kept by it. */
  readonly rank: number;
  readonly era: Era;
  /** Requests that a client may send. Any other is answered with "method not found". */
  readonly methods: ReadonlySet<string>;
  /** Streams begin with an event that has an id and no data, so that a client can come back for the rest. */
  readonly primesStreams: boolean;

  tool(tool: Tool): JsonObject;
  prompt(prompt: Prompt): JsonObject;
  resource(resource: Resource): JsonObject;
  resourceTemplate(template: ResourceTemplate): JsonObject;

  /** @param tool the entry of the tool that gave the result */
  toolResult(result: CallToolResult, tool: Tool): JsonObject;
  promptResult(result: GetPromptResult): JsonObject;
  readResult(result: ReadResourceResult): JsonObject;

  /** What every result carries beside its content. `cache` where the method's result may be kept by the client. */
  complete(result: JsonObject, server: Implementation, cache?: CacheHint): JsonObject;
  /** The text of a notification. */
  notification(method: string, params: JsonObject): string;
  capabilities(capabilities: ServerCapabilities): JsonObject;
  implementation(server: Implementation): JsonObject;
  /** The error's number, or undefined where the revision has none for it. */
  errorCode(error: McpError): number | undefined;
}

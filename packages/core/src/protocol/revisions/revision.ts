import type { JsonObject } from '@decorum/schema/internal';

import type { McpError } from '../errors.js';
import type { ResultEnvelope } from '../jsonrpc.js';
import type { MethodTraits } from '../methods.js';
import type {
  CallToolResult,
  GetPromptResult,
  Implementation,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplate,
  ServerCapabilities,
  Tool,
} from '../model.js';

/** Whether a revision keeps sessions. */
export type Era = 'stateful' | 'stateless';

/** A hint for caching a result. */
export interface CacheHint {
  /** Milliseconds that the result stays fresh. */
  readonly ttlMs: number;
  /** `public` lets shared caches store it for other callers too. */
  readonly scope: 'public' | 'private';
}

/** Methods of requests that a server may send to a client. */
export type QuestionMethod = 'elicitation/create' | 'sampling/createMessage' | 'roots/list' | 'ping';

/** A question to the client while the client waits for the response to its request. */
export interface Question {
  readonly method: QuestionMethod;
  readonly params: JsonObject;
  /** Identifies the question if the request takes several rounds. Defaults to the question's position. */
  readonly key?: string | undefined;
  /** The question's identity across rounds, if its params change. Defaults to the params. */
  readonly identity?: JsonObject | undefined;
  /** Milliseconds to wait for the answer, if the client is asked directly. */
  readonly timeoutMs?: number | undefined;
  /** Withdraws the question when it aborts, if the client is asked directly. */
  readonly until?: AbortSignal | undefined;
  /** Whether to accept an answer under the question's `key` that the client sends without being asked. */
  readonly acceptUnsolicited?: boolean | undefined;
  /** Whether an answer is usable. If it is not, the client is asked again where possible. */
  fits?(answer: JsonObject): boolean;
}

/** A question in a revision's wire format, and how to restore the answer if the format had to change its structure. */
export interface EncodedQuestion {
  readonly params: JsonObject;
  restore?(answer: JsonObject): JsonObject;
}

/**
 * One revision of the protocol: its methods, and the wire format of each object. Only data and pure functions:
 * lifecycle belongs to `eras/`, and delivery to the transports.
 */
export interface Revision {
  /** The date that identifies the revision on the wire. */
  readonly id: string;
  /** Position among all revisions, oldest first. Used as an index for precomputed data. */
  readonly rank: number;
  readonly era: Era;
  /** Whether clients have sessions. If not, HTTP supports POST only. */
  readonly sessions: boolean;
  /** Requests that a client may send, by method. Others get "method not found". */
  readonly methods: ReadonlyMap<string, MethodTraits>;
  /** Whether clients declare extensions, which makes their methods available. */
  readonly extensions: boolean;
  /** Whether clients may send several messages as an array. */
  readonly batches: boolean;
  /** The id of the error response to a message whose own id can't be read: null, or undefined to omit it. */
  readonly unreadableId: null | undefined;
  /** Whether streams start with an event that has only an id, which lets clients reconnect for the rest. */
  readonly primesStreams: boolean;

  tool(tool: Tool): JsonObject;
  prompt(prompt: Prompt): JsonObject;
  resource(resource: Resource): JsonObject;
  resourceTemplate(template: ResourceTemplate): JsonObject;

  /** @param tool the entry of the tool that returned the result */
  toolResult(result: CallToolResult, tool: Tool): JsonObject;
  /** Whether `toolResult` sends structured content of this tool unchanged if it is an object. */
  sendsObjects(tool: Tool): boolean;
  promptResult(result: GetPromptResult): JsonObject;
  readResult(result: ReadResourceResult): JsonObject;

  /** Adds the fields that every result has. Pass `cache` for methods whose results may be cached. */
  complete(result: JsonObject, server: Implementation, cache?: CacheHint): JsonObject;
  /** The same fields as JSON, ready to be joined, for results without `resultType` and `_meta` of their own. */
  resultEnvelope(server: Implementation): ResultEnvelope;
  /** Whether progress notifications may have a message. */
  readonly progressMessages: boolean;
  /** Encodes a question; undefined if the revision does not have it. */
  question(question: Question): EncodedQuestion | undefined;
  /** Kinds of content that a sampling result may have. */
  readonly sampledKinds: readonly string[];
  capabilities(capabilities: ServerCapabilities): JsonObject;
  implementation(server: Implementation): JsonObject;
  /** The code of an error; undefined if the revision has none for it. */
  errorCode(error: McpError): number | undefined;
}

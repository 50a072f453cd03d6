import type { McpError } from '../errors.js';
import type { ResultEnvelope } from '../jsonrpc.js';
import type { MethodTraits } from '../methods.js';
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

/** The requests that a server may have for a client. */
export type QuestionMethod = 'elicitation/create' | 'sampling/createMessage' | 'roots/list' | 'ping';

/** Something the server wants to know from the client while it handles a request. */
export interface Question {
  readonly method: QuestionMethod;
  readonly params: JsonObject;
  /** Names the question where a request is handled in several rounds; by default its position. */
  readonly key?: string | undefined;
  /** What makes it the same question in the next round, where its parameters differ; by default they. */
  readonly identity?: JsonObject | undefined;
  /** Milliseconds to wait for the answer, where the client is asked directly. */
  readonly timeoutMs?: number | undefined;
  /** Only an answer to this very question counts, not one that the client brings unasked. */
  readonly sealed?: boolean | undefined;
  /** Whether an answer can be used; where the client can be asked again, it is. */
  fits?(answer: JsonObject): boolean;
}

/** A question in the words of a revision, and how to read the answer where it cannot be asked in one piece. */
export interface EncodedQuestion {
  readonly params: JsonObject;
  restore?(answer: JsonObject): JsonObject;
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
  /** Whether a client can have a session. Where it cannot, HTTP has POST only. */
  readonly sessions: boolean;
  /** Requests that a client may send. Any other is answered with "method not found". */
  readonly methods: ReadonlyMap<string, MethodTraits>;
  /** Each request says which extensions its client supports, so that their methods can be called. */
  readonly extensions: boolean;
  /** Clients may send several messages at once, as an array. */
  readonly batches: boolean;
  /** The id of an error whose request has no readable one: null, or left out. */
  readonly unreadableId: null | undefined;
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
  /** The same as JSON, with a comma where one is due, for results that have no `resultType` and no `_meta` of their own. */
  resultEnvelope(server: Implementation): ResultEnvelope;
  /** Progress may come with a message for people. */
  readonly progressMessages: boolean;
  /** A question as clients of this revision take it; undefined where there is no such question. */
  question(question: Question): EncodedQuestion | undefined;
  /** The kinds of content with which a client's model can answer. */
  readonly sampledKinds: readonly string[];
  capabilities(capabilities: ServerCapabilities): JsonObject;
  implementation(server: Implementation): JsonObject;
  /** The error's number, or undefined where the revision has none for it. */
  errorCode(error: McpError): number | undefined;
}

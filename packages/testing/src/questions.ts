import {
  type ClientCapabilities,
  type JsonObject,
  McpError,
  type PromptMessage,
  type Root,
  type SampledContent,
} from '@decorum/core';

/** What a server asks the user by a form, or by a URL (MCP, `ElicitRequest`). */
export interface ElicitQuestion {
  readonly mode?: string;
  readonly message: string;
  /** JSON Schema of the form. */
  readonly requestedSchema: JsonObject;
  /** In the mode `url`, for clients that declare `elicitation.url`: where the user is sent. */
  readonly url?: string;
  /** Names the visit to the URL, where the revision tells of its completion. */
  readonly elicitationId?: string;
}

/** What the user did (MCP, `ElicitResult`). */
export interface ElicitAnswer {
  readonly action: 'accept' | 'decline' | 'cancel';
  /** The form as it was filled in, where the user accepted. */
  readonly content?: JsonObject;
}

/** What a server asks the client's model (MCP, `CreateMessageRequest`). */
export interface SampleQuestion {
  readonly messages: readonly PromptMessage[];
  readonly maxTokens: number;
  readonly systemPrompt?: string;
  readonly temperature?: number;
  readonly stopSequences?: readonly string[];
  /** Tools that the model may use, for clients that declare `sampling.tools`. */
  readonly tools?: readonly JsonObject[];
  readonly toolChoice?: JsonObject;
}

/** What the model said (MCP, `CreateMessageResult`). */
export interface SampleAnswer {
  /** By default `assistant`. */
  readonly role?: 'user' | 'assistant';
  readonly content: SampledContent | readonly SampledContent[];
  /** By default `test-model`. */
  readonly model?: string;
  readonly stopReason?: string;
}

/** Answers what a server asks its client. Each handler that is given also declares its capability. */
export interface ServerRequestHandlers {
  /** The user in front of a form; for the capability `elicitation`. */
  readonly onElicit?: (question: ElicitQuestion) => ElicitAnswer | Promise<ElicitAnswer>;
  /**
   * The client's model; a text stands for one text block. For the capability `sampling`, which the specification has
   * deprecated in 2026-07-28.
   */
  readonly onSample?: (question: SampleQuestion) => string | SampleAnswer | Promise<string | SampleAnswer>;
  /** The client's directories and files; for the capability `roots`, which the specification has deprecated in 2026-07-28. */
  readonly onRoots?: () => readonly Root[] | Promise<readonly Root[]>;
}

/** The capabilities that go with handlers; those named outright win. */
export function capabilitiesOf(handlers: ServerRequestHandlers, named: ClientCapabilities = {}): ClientCapabilities {
  return {
    ...(handlers.onElicit && { elicitation: {} }),
    ...(handlers.onSample && { sampling: {} }),
    ...(handlers.onRoots && { roots: { listChanged: true } }),
    ...named,
  };
}

/**
 * The result of one request of the server.
 * @throws {McpError} `method-not-found` where there is no handler for it, and whatever a handler throws
 */
export async function answer(handlers: ServerRequestHandlers, method: string, params: JsonObject): Promise<object> {
  const { onElicit, onSample, onRoots } = handlers;
  if (method === 'ping') return {};
  if (method === 'elicitation/create' && onElicit) return await onElicit(params as unknown as ElicitQuestion);
  if (method === 'sampling/createMessage' && onSample) return said(await onSample(params as unknown as SampleQuestion));
  if (method === 'roots/list' && onRoots) return { roots: await onRoots() };
  throw new McpError('method-not-found', `The test client has no handler for "${method}".`);
}

function said(sample: string | SampleAnswer): object {
  const about = { role: 'assistant', model: 'test-model' };
  if (typeof sample === 'string') return { ...about, content: { type: 'text', text: sample } };
  return { ...about, ...sample };
}

import {
  type ClientCapabilities,
  type JsonObject,
  McpError,
  type PromptMessage,
  type Root,
  type SampledContent,
} from '@decorum/core';

/** A question for the user, as a form or a URL to visit (MCP, `ElicitRequest`). */
export interface ElicitQuestion {
  readonly mode?: string;
  readonly message: string;
  /** JSON Schema of the form. */
  readonly requestedSchema: JsonObject;
  /** The URL to visit, in `url` mode. Sent only to clients that declare `elicitation.url`. */
  readonly url?: string;
  /** Id of the URL visit, in revisions that notify the client of its completion. */
  readonly elicitationId?: string;
}

/** A question to the client, sent as a request or in a result. */
export interface Question {
  /** The method, such as `elicitation/create`. */
  readonly method: string;
  readonly params: JsonObject;
}

/** The user's answer (MCP, `ElicitResult`). */
export interface ElicitAnswer {
  readonly action: 'accept' | 'decline' | 'cancel';
  /** The completed form, for `accept`. */
  readonly content?: JsonObject;
}

/** A question for the client's model (MCP, `CreateMessageRequest`). */
export interface SampleQuestion {
  readonly messages: readonly PromptMessage[];
  readonly maxTokens: number;
  readonly systemPrompt?: string;
  readonly temperature?: number;
  readonly stopSequences?: readonly string[];
  /** Tools that the model may use. Sent only to clients that declare `sampling.tools`. */
  readonly tools?: readonly JsonObject[];
  readonly toolChoice?: JsonObject;
}

/** The model's answer (MCP, `CreateMessageResult`). */
export interface SampleAnswer {
  /** Defaults to `assistant`. */
  readonly role?: 'user' | 'assistant';
  readonly content: SampledContent | readonly SampledContent[];
  /** Defaults to `test-model`. */
  readonly model?: string;
  readonly stopReason?: string;
}

/** Handlers for the server's requests. Each one also declares the capability it implements. */
export interface ServerRequestHandlers {
  /** Plays the user who answers forms and URL requests. Declares `elicitation`. */
  readonly onElicit?: (question: ElicitQuestion) => ElicitAnswer | Promise<ElicitAnswer>;
  /**
   * Plays the client's model. A string stands for one text block. Declares `sampling`, which the specification
   * deprecates as of 2026-07-28.
   */
  readonly onSample?: (question: SampleQuestion) => string | SampleAnswer | Promise<string | SampleAnswer>;
  /** Returns the client's roots. Declares `roots`, which the specification deprecates as of 2026-07-28. */
  readonly onRoots?: () => readonly Root[] | Promise<readonly Root[]>;
}

/** The capabilities that the handlers imply. Explicit ones take precedence. */
export function capabilitiesOf(handlers: ServerRequestHandlers, explicit: ClientCapabilities = {}): ClientCapabilities {
  return {
    ...(handlers.onElicit && { elicitation: {} }),
    ...(handlers.onSample && { sampling: {} }),
    ...(handlers.onRoots && { roots: { listChanged: true } }),
    ...explicit,
  };
}

/**
 * Answers one request from the server.
 * @throws {McpError} `method-not-found` if there is no handler, or any error that the handler throws
 */
export async function answer(handlers: ServerRequestHandlers, method: string, params: JsonObject): Promise<object> {
  const { onElicit, onSample, onRoots } = handlers;
  if (method === 'ping') return {};
  if (method === 'elicitation/create' && onElicit) return await onElicit(params as unknown as ElicitQuestion);
  if (method === 'sampling/createMessage' && onSample) {
    return samplingResult(await onSample(params as unknown as SampleQuestion));
  }
  if (method === 'roots/list' && onRoots) return { roots: await onRoots() };
  throw new McpError('method-not-found', `The test client has no handler for "${method}". Pass one to \`connect\`.`);
}

function samplingResult(sample: string | SampleAnswer): object {
  const defaults = { role: 'assistant', model: 'test-model' };
  if (typeof sample === 'string') return { ...defaults, content: { type: 'text', text: sample } };
  return { ...defaults, ...sample };
}

import {
  type ClientCapabilities,
  type JsonObject,
  type PromptMessage,
  type Root,
  type SampledContent,
} from '@decorum/core';

import type { AskingCall } from './request.js';

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
  /** The name of the model. Defaults to `unknown`; `test-model` in the test kit. */
  readonly model?: string;
  readonly stopReason?: string;
}

/**
 * Handlers for the server's questions. Each one also declares the capability it implements. They are told which call
 * asks. That is always known in the newest revision, and over HTTP if the question arrives on the call's stream.
 * Elsewhere it is the only call under way, or undefined. The signal aborts when the answer is no longer needed.
 */
export interface QuestionHandlers {
  /** Asks the user to fill in a form or to visit a URL. Declares `elicitation`. */
  readonly onElicit?:
    | ((
        question: ElicitQuestion,
        call: AskingCall | undefined,
        signal: AbortSignal,
      ) => ElicitAnswer | Promise<ElicitAnswer>)
    | undefined;
  /** Asks the model. A string stands for one text block. Declares `sampling`, which the newest revision deprecates. */
  readonly onSample?:
    | ((
        question: SampleQuestion,
        call: AskingCall | undefined,
        signal: AbortSignal,
      ) => string | SampleAnswer | Promise<string | SampleAnswer>)
    | undefined;
  /** Returns the client's roots. Declares `roots`, which the newest revision deprecates. */
  readonly onRoots?:
    | ((call: AskingCall | undefined, signal: AbortSignal) => readonly Root[] | Promise<readonly Root[]>)
    | undefined;
}

/** Who asks, and what answers need besides the question. */
export interface Asking {
  readonly call: AskingCall | undefined;
  readonly signal: AbortSignal;
  /** The `model` of answers that name none. */
  readonly model?: string;
}

/** The capabilities that the handlers imply. Explicit ones take precedence. */
export function capabilitiesOf(
  handlers: { readonly [name in keyof QuestionHandlers]?: unknown },
  explicit: ClientCapabilities = {},
): ClientCapabilities {
  return {
    ...(handlers.onElicit !== undefined && { elicitation: {} }),
    ...(handlers.onSample !== undefined && { sampling: {} }),
    ...(handlers.onRoots !== undefined && { roots: { listChanged: true } }),
    ...explicit,
  };
}

/**
 * Answers one question of the server.
 * @returns the result; undefined if there is no handler
 */
export async function answer(
  handlers: QuestionHandlers,
  { method, params }: Question,
  { call, signal, model = 'unknown' }: Asking,
): Promise<object | undefined> {
  const { onElicit, onSample, onRoots } = handlers;
  if (method === 'ping') return {};
  if (method === 'elicitation/create' && onElicit) {
    return await onElicit(params as unknown as ElicitQuestion, call, signal);
  }
  if (method === 'sampling/createMessage' && onSample) {
    return samplingResult(await onSample(params as unknown as SampleQuestion, call, signal), model);
  }
  if (method === 'roots/list' && onRoots) return { roots: await onRoots(call, signal) };
  return undefined;
}

function samplingResult(sample: string | SampleAnswer, model: string): object {
  const defaults = { role: 'assistant', model };
  if (typeof sample === 'string') return { ...defaults, content: { type: 'text', text: sample } };
  return { ...defaults, ...sample };
}

import { invalidOption, type JsonObject, type OptionTypes, requireOptions } from '@decorum/schema/internal';

import type { ContentBlock } from '../protocol/model.js';

/** Options of every question to the client. */
export interface QuestionOptions {
  /**
   * A unique key for the question. Set it if the handler asks in a loop, or in an order that may change: stateless
   * revisions match answers to questions by key.
   */
  readonly key?: string;
  /**
   * Whether to accept an answer that a stateless client sends under the question's `key` without being asked. Nothing
   * shows that a user has seen the question. Needs a `key`. Defaults to `false`: the client is asked.
   */
  readonly acceptUnsolicited?: boolean;
  /**
   * Milliseconds to wait for the answer, if the client is asked directly. Defaults to the server's `questionTimeoutMs`.
   */
  readonly timeoutMs?: number;
}

/** Options of `ctx.elicit`. */
export interface ElicitOptions extends QuestionOptions {
  /** The question that the user sees. */
  readonly message: string;
}

/** Options of `ctx.elicitUrl` and `ctx.requireUrl`. */
export interface ElicitUrlOptions extends ElicitOptions {
  /**
   * The URL to open; `https:`, and without secrets. If the page needs to know the question, pass a function: the
   * function receives an `id` for `server.notify.elicitationCompleted` and a `ticket` for `server.openTicket`. Insert
   * both into the URL unchanged. The function is called again in each round, with new values.
   */
  readonly url: string | ((visit: { readonly id: string; readonly ticket: string }) => string);
}

/** Options of `ctx.confirm`, which never accepts an answer that the client sends without being asked. */
export type ConfirmOptions = Omit<QuestionOptions, 'acceptUnsolicited'>;

/** The result of a tool that the model used. */
export interface ToolResultContent {
  readonly type: 'tool_result';
  readonly toolUseId: string;
  readonly content: readonly ContentBlock[];
  readonly isError?: boolean;
}

/** One message of a conversation with the model. */
export interface SampleMessage {
  readonly role: 'user' | 'assistant';
  /** One block or several. Clients that accept one block per message get several messages. */
  readonly content: SampledContent | ToolResultContent | readonly (SampledContent | ToolResultContent)[];
}

/** Parameters of `ctx.sample` (MCP, `CreateMessageRequest`). */
export interface SampleOptions extends QuestionOptions {
  /** The conversation, or text for a single user message. */
  readonly messages: string | readonly SampleMessage[];
  /** Tokens that the model may generate. */
  readonly maxTokens: number;
  /** Instructions for the model. */
  readonly systemPrompt?: string;
  /** How much the answers vary. */
  readonly temperature?: number;
  /** Strings that end the answer. */
  readonly stopSequences?: readonly string[];
  /** Hints and priorities for choosing the model. */
  readonly modelPreferences?: JsonObject;
  /** Passed on to the model's provider. */
  readonly metadata?: JsonObject;
  /**
   * The servers whose context the client should include. Any value but `none` requires a client with `sampling.context`. Defaults
   * to `none`.
   */
  readonly includeContext?: 'none' | 'thisServer' | 'allServers';
  /** Tools that the model may use. Requires a client with `sampling.tools`. */
  readonly tools?: readonly JsonObject[];
  /** How the model chooses tools. Requires a client with `sampling.tools`. */
  readonly toolChoice?: JsonObject;
}

/** A tool that the model wants to use. */
export interface ToolUseContent {
  readonly type: 'tool_use';
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
}

/** A block of the model's answer. */
export type SampledContent = ContentBlock | ToolUseContent;

const QUESTION: OptionTypes<QuestionOptions> = { key: 'string', acceptUnsolicited: 'boolean', timeoutMs: 'number' };
const FORM: OptionTypes<ElicitOptions> = { message: 'string', ...QUESTION };
const VISIT: OptionTypes<ElicitUrlOptions> = { ...FORM, url: true };
const CONFIRMATION: OptionTypes<ConfirmOptions> = { key: 'string', timeoutMs: 'number' };
const SAMPLE: OptionTypes<SampleOptions> = {
  messages: true,
  maxTokens: 'number',
  systemPrompt: 'string',
  temperature: 'number',
  stopSequences: 'array',
  modelPreferences: 'object',
  metadata: 'object',
  includeContext: 'string',
  tools: 'array',
  toolChoice: 'object',
  ...QUESTION,
};

const KNOWN = {
  elicit: FORM,
  elicitUrl: VISIT,
  requireUrl: VISIT,
  confirm: CONFIRMATION,
  sample: SAMPLE,
  roots: QUESTION,
  ping: { timeoutMs: 'number' },
} as const;

/**
 * Rejects options of a question before it is sent: a misspelled one would have no effect, and neither would
 * `acceptUnsolicited` without a `key`. Unknown options of `ctx.sample` would reach the client.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function requireOptionsOf(method: keyof typeof KNOWN, options: unknown): void {
  const where = `ctx.${method}`;
  requireOptions(where, options, KNOWN[method]);
  const { acceptUnsolicited, key } = options as QuestionOptions;
  if (acceptUnsolicited !== true || key !== undefined) return;
  const problem = 'needs a `key`: clients send their answer under it. Add a `key` to the question';
  throw invalidOption(where, 'acceptUnsolicited', problem);
}

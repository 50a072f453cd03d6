import type { JsonObject } from '@decorum/core';

/** A tool, with what the APIs of models take. */
export interface ModelTool {
  readonly name: string;
  readonly description?: string;
  /** The JSON Schema of the arguments. */
  readonly inputSchema: JsonObject;
}

/** A search that the model has made: servers with `search()` list few tools, and one that finds the others. */
export interface ModelStep {
  readonly tool: string;
  readonly arguments: JsonObject;
  /** What the search has found, as text. */
  readonly result: string;
}

/** What a model is asked. */
export interface ModelRequest {
  readonly question: string;
  /** The tools as the server lists them for this caller. */
  readonly tools: readonly ModelTool[];
  /** What the server says about itself. Hosts put it into the system prompt. */
  readonly instructions?: string;
  /** What the model has searched for so far. Always empty unless the server has the plugin `search()`. */
  readonly steps: readonly ModelStep[];
  /** Is aborted after `timeoutMs`. */
  readonly signal: AbortSignal;
}

/** What a model chooses. */
export interface ModelChoice {
  /** The name of the tool; undefined if the model calls none. */
  readonly tool?: string | undefined;
  /** The arguments, as an object or as JSON. */
  readonly arguments?: object | string | undefined;
}

/** Asks a model which tool it would call. Returns undefined if it calls none. */
export type Model = (request: ModelRequest) => ModelChoice | null | undefined | Promise<ModelChoice | null | undefined>;

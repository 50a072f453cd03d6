import type { CallToolResult, JsonObject } from '@decorum/core';
import type { Effect, Question, ToolCall } from '@decorum/core/plugin';

/** What a task does at the moment. `failed` and `completed` also depend on the revision: see `outcome`. */
export type TaskState = 'working' | 'input_required' | 'ended' | 'cancelled';

/** A question of a task. */
export interface TaskQuestion {
  /** The key that the handler knows it by: its own key, or its position among all questions. */
  readonly name: string;
  /** The key in `inputRequests`. Never used for another question of the task. */
  readonly key: string;
  /** Tells whether a handler that runs again asks the same question. */
  readonly digest: string;
  readonly question: Pick<Question, 'method' | 'params'>;
  /** The client's answer, if it has answered. */
  readonly answer?: JsonObject;
}

/** How a task has ended: with the result of its tool, or with what would be a JSON-RPC error. */
export type TaskOutcome =
  | { readonly result: CallToolResult }
  | { readonly error: { readonly code: number; readonly message: string; readonly data?: unknown } };

/** Everything that is known of a task. It can be written as JSON. */
export interface Task {
  readonly id: string;
  readonly version: number;
  readonly owner: string;
  readonly call: ToolCall;
  readonly state: TaskState;
  readonly statusMessage?: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** Milliseconds since 1970. */
  readonly updatedAt: number;
  /** Milliseconds from its creation; undefined if the task is kept for ever. */
  readonly ttlMs: number | undefined;
  readonly questions: readonly TaskQuestion[];
  readonly effects: readonly Effect[];
  readonly outcome?: TaskOutcome;
  /** The process that runs it; undefined if none does. */
  readonly holder?: string;
  /** How many processes ended while they ran it. */
  readonly crashes: number;
}

import type { CallToolResult, JsonObject } from '@decorum/core';
import type { Effect, Question, ToolCall } from '@decorum/core/plugin';

/** A question of a task. */
export interface TaskQuestion {
  /** What the handler knows it by: its own key, or its position among all questions. */
  readonly name: string;
  /** The key in `inputRequests`. Never used for another question of the task. */
  readonly key: string;
  /** Tells whether a handler that runs again asks the same question. */
  readonly digest: string;
  readonly question: Pick<Question, 'method' | 'params'>;
  /** The client's answer, if it has answered. */
  readonly answer?: JsonObject;
  /** The error that the client answered with. */
  readonly refusal?: Refusal;
  /** Whether the handler, which ran again, asked something else in its place. */
  readonly isWithdrawn?: boolean;
}

/** An error that a client answered a question with. */
export interface Refusal {
  readonly message: string;
  readonly code: number;
  readonly data?: unknown;
}

/** How the handler of a task has ended: with a result, or with what would be a JSON-RPC error. */
export type TaskOutcome =
  | { readonly result: CallToolResult }
  | { readonly error: { readonly code: number; readonly message: string; readonly data?: unknown } };

/** Everything that is known of a task. It can be written as JSON. */
export interface Task {
  readonly id: string;
  readonly version: number;
  /** Who may see it: a digest of its principal, or empty. */
  readonly owner: string;
  readonly call: ToolCall;
  readonly statusMessage?: string | undefined;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** Milliseconds since 1970. */
  readonly updatedAt: number;
  /** Milliseconds from its creation until it may be forgotten; undefined if it may not. */
  readonly ttlMs: number | undefined;
  readonly questions: readonly TaskQuestion[];
  readonly effects: readonly Effect[];
  readonly outcome?: TaskOutcome;
  readonly isCancelled?: boolean;
  /** The process that runs it; undefined if none does. */
  readonly holder?: string | undefined;
  /** How many processes ended while they ran it. */
  readonly crashes: number;
}

/** A task before it is stored. */
export type NewTask = Omit<Task, 'version' | 'updatedAt'>;

/** Whether the task has ended. It never changes again. */
export const isOver = ({ outcome, isCancelled }: Pick<Task, 'outcome' | 'isCancelled'>): boolean =>
  outcome !== undefined || isCancelled === true;

/** Whether the client has answered a question. */
export const isAnswered = ({ answer, refusal }: TaskQuestion): boolean => answer !== undefined || refusal !== undefined;

/** Whether the client has to answer a question. */
export const isOpen = (question: TaskQuestion): boolean => !isAnswered(question) && question.isWithdrawn !== true;

/** The questions that the client has to answer. */
export const openQuestions = ({ questions }: Pick<Task, 'questions'>): readonly TaskQuestion[] =>
  questions.filter(isOpen);

import type { CallToolResult } from '@decorum/core';

import type { RequestOptions } from './request-options.js';
import type { Question } from '@decorum/client';

/** Options of `callTool`. */
export interface CallOptions extends RequestOptions {
  /**
   * Calls the tool as a task: answers its questions, waits, and resolves with its result. `ttlMs` asks the server to keep
   * the task for so many milliseconds, which only 2025-11-25 can do.
   */
  readonly task?: boolean | { readonly ttlMs?: number };
}

/** Options of `client.tasks.start`. */
export interface StartOptions extends RequestOptions {
  /** Milliseconds for which the server should keep the task. Only 2025-11-25 can ask for that. */
  readonly ttlMs?: number;
}

/** A task as the server describes it, in the format of the revision. */
export interface TaskState {
  readonly taskId: string;
  readonly status: 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';
  readonly statusMessage?: string;
  /** ISO 8601. */
  readonly createdAt: string;
  /** ISO 8601. */
  readonly lastUpdatedAt: string;
  /** In 2025-11-25: milliseconds that the task is kept; null without a limit. */
  readonly ttl?: number | null;
  /** In 2026-07-28: milliseconds that the task is kept; null without a limit. */
  readonly ttlMs?: number | null;
  /** In 2025-11-25: milliseconds to wait between two polls. */
  readonly pollInterval?: number;
  /** In 2026-07-28: milliseconds to wait between two polls. */
  readonly pollIntervalMs?: number;
  /** In 2026-07-28: the open questions, by key. */
  readonly inputRequests?: Readonly<Record<string, Question>>;
  /** In 2026-07-28: the result of a task that is completed. */
  readonly result?: CallToolResult;
  /** In 2026-07-28: the JSON-RPC error of a task that has failed. */
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

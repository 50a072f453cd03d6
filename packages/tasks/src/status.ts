import type { JsonObject } from '@decorum/core';
import type { ExtensionHost } from '@decorum/core/plugin';

import { shortened } from './limits.js';
import { SESSIONS, STATELESS } from './revisions.js';
import { isOver, openQuestions, type Task } from './task.js';

/** The `_meta` key that relates a message to a task in sessions. */
const RELATED = 'io.modelcontextprotocol/related-task';

/** The `_meta` of a message that belongs to a task. */
export const relatedTo = ({ id }: Pick<Task, 'id'>): JsonObject => ({ [RELATED]: { taskId: id } });

const iso = (time: number): string => new Date(time).toISOString();

function statusOf(task: Task, revision: string): string {
  const { outcome, isCancelled } = task;
  if (isCancelled) return 'cancelled';
  if (outcome === undefined) return openQuestions(task).length > 0 ? 'input_required' : 'working';
  // in sessions, a result with an error counts as failed; in the extension, only a JSON-RPC error does
  const isFailed = 'error' in outcome || (revision === SESSIONS && outcome.result.isError === true);
  return isFailed ? 'failed' : 'completed';
}

/** The text of a result with an error. */
function problemOf({ outcome }: Task): string | undefined {
  if (outcome === undefined || !('result' in outcome) || outcome.result.isError !== true) return undefined;
  const [block] = outcome.result.content;
  return block?.type === 'text' ? shortened(block.text) : undefined;
}

/**
 * The fields that all descriptions of a task have.
 * @see https://modelcontextprotocol.io/specification/2025-11-25/schema#task
 */
export function taskFields(task: Task, revision: string, pollIntervalMs: number): JsonObject {
  const { id, createdAt, updatedAt, ttlMs = null } = task;
  const status = statusOf(task, revision);
  const statusMessage = (status === 'failed' ? problemOf(task) : undefined) ?? task.statusMessage;
  const times = revision === SESSIONS ? { ttl: ttlMs, pollInterval: pollIntervalMs } : { ttlMs, pollIntervalMs };
  return {
    taskId: id,
    status,
    ...(statusMessage !== undefined && { statusMessage }),
    createdAt: iso(createdAt),
    lastUpdatedAt: iso(updatedAt),
    ...times,
  };
}

/** The result of the task's tool, in the format of a revision. */
export function resultOf(task: Task, revision: string, host: ExtensionHost): JsonObject | undefined {
  const { outcome, call } = task;
  return outcome !== undefined && 'result' in outcome
    ? host.writeResult(revision, call.tool, outcome.result)
    : undefined;
}

/** A task with what belongs to its status, for `tasks/get` and `notifications/tasks`. */
export function detailed(task: Task, host: ExtensionHost, pollIntervalMs: number): JsonObject {
  const fields = taskFields(task, STATELESS, pollIntervalMs);
  if (fields['status'] === 'cancelled') return fields;
  if (task.outcome !== undefined) {
    return 'error' in task.outcome
      ? { ...fields, error: task.outcome.error }
      : { ...fields, result: { ...resultOf(task, STATELESS, host), resultType: 'complete' } };
  }
  if (isOver(task) || fields['status'] !== 'input_required') return fields;
  const requests = openQuestions(task).map(({ key, question }) => {
    const params = host.writeQuestion(STATELESS, question) ?? question.params;
    return [key, { method: question.method, params }];
  });
  return { ...fields, inputRequests: Object.fromEntries(requests) as JsonObject };
}

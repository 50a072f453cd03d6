import { type Context, type JsonObject, McpError } from '@decorum/core';
import type { ExtensionNotification, SessionClient } from '@decorum/core/plugin';

import { SESSIONS } from './revisions.js';
import { ownerDigest, type Runner } from './runner.js';
import { relatedTo, taskFields } from './status.js';
import { isOver, type Task } from './task.js';

/** Tasks per page of `tasks/list`. */
const PAGE = 100;

/** `tasks/get`. */
export async function getInSession({ taskId }: JsonObject, ctx: Context, runner: Runner): Promise<JsonObject> {
  return taskFields(await runner.find(taskId, ctx), SESSIONS, runner.settings.pollIntervalMs);
}

/** `tasks/cancel`. */
export async function cancelInSession({ taskId }: JsonObject, ctx: Context, runner: Runner): Promise<JsonObject> {
  const found = await runner.find(taskId, ctx);
  const task = isOver(found) ? undefined : await runner.cancel(found.id);
  if (task?.isCancelled) return taskFields(task, SESSIONS, runner.settings.pollIntervalMs);
  throw new McpError('invalid-params', 'The task has already ended.');
}

/** `tasks/list`: the tasks of the caller, oldest first. */
export async function listInSession(
  { cursor }: JsonObject,
  { principal }: Context,
  runner: Runner,
): Promise<JsonObject> {
  const owner = ownerDigest(principal);
  if (owner === '') throw new McpError('method-not-found', 'Tasks are listed only for callers who have signed in.');
  const after = cursor === undefined ? undefined : positionOf(cursor);
  const found = await runner.ledger.list(owner, { limit: PAGE + 1, ...(after && { after }) });
  const page = found.slice(0, PAGE);
  const last = found.length > PAGE ? page.at(-1) : undefined;
  return {
    tasks: page.map((task) => taskFields(task, SESSIONS, runner.settings.pollIntervalMs)),
    ...(last && { nextCursor: Buffer.from(`${last.createdAt} ${last.id}`).toString('base64url') }),
  };
}

/** A cursor is only a position among the caller's own tasks, so it needs no seal. */
function positionOf(cursor: unknown): Pick<Task, 'createdAt' | 'id'> {
  const text = typeof cursor === 'string' ? Buffer.from(cursor, 'base64url').toString() : '';
  const [, createdAt, id] = /^(\d{1,15}) ([\w-]{1,64})$/.exec(text) ?? [];
  if (createdAt !== undefined && id !== undefined) return { createdAt: Number(createdAt), id };
  throw new McpError('invalid-cursor', 'The cursor is invalid. Use one that this server returned to this client.');
}

/**
 * `notifications/tasks/status` for a session whose task has changed, and `notifications/progress` for the one that
 * started it.
 */
export async function statusNotification(
  { taskId, owner, progress }: JsonObject,
  session: SessionClient,
  runner: Runner,
): Promise<ExtensionNotification | undefined> {
  // most sessions have nothing to do with the task, and need not read it
  if (session.revision !== SESSIONS || typeof taskId !== 'string' || owner !== ownerDigest(session.principal))
    return undefined;
  const task = await runner.ledger.get(taskId);
  if (task === undefined || task.owner !== owner) return undefined;
  if (progress !== undefined) return isBegunIn(session, task) ? progressOf(task, progress as JsonObject) : undefined;
  // tasks of callers without a principal are known only to the session that started them
  if (owner === '' && !isBegunIn(session, task)) return undefined;
  return { method: 'notifications/tasks/status', params: taskFields(task, SESSIONS, runner.settings.pollIntervalMs) };
}

function isBegunIn({ id }: SessionClient, { call: { sessionId, transport, revision } }: Task): boolean {
  return revision === SESSIONS && sessionId === id && (id !== undefined || transport.kind !== 'http');
}

/** The token of the call is valid until the task has ended. */
function progressOf(task: Task, progress: JsonObject): ExtensionNotification | undefined {
  const { progressToken } = task.call.meta ?? {};
  if (progressToken === undefined || isOver(task)) return undefined;
  return { method: 'notifications/progress', params: { ...progress, progressToken, _meta: relatedTo(task) } };
}

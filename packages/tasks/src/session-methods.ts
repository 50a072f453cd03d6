import { type Context, type JsonObject, McpError } from '@decorum/core';
import { askClient, type ExtensionNotification, type Question, type SessionClient } from '@decorum/core/plugin';

import { SESSIONS } from './revisions.js';
import { ownerDigest, type Runner } from './runner.js';
import { relatedTo, resultOf, taskFields } from './status.js';
import { isOver, openQuestions, type Task, type TaskQuestion } from './task.js';

/** Tasks per page of `tasks/list`. */
const PAGE = 100;

/** `tasks/get`. */
export async function getInSession(
  { taskId }: JsonObject,
  { principal }: Context,
  runner: Runner,
): Promise<JsonObject> {
  return taskFields(await runner.find(taskId, principal), SESSIONS, runner.settings.pollIntervalMs);
}

/** `tasks/cancel`. */
export async function cancelInSession(
  { taskId }: JsonObject,
  { principal }: Context,
  runner: Runner,
): Promise<JsonObject> {
  const found = await runner.find(taskId, principal);
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

/** Questions that are being asked, by task and key: clients may wait for a result several times. */
export type Asking = Map<string, Promise<void>>;

/** `tasks/result`: waits for the end of the task, and asks the client what the task asks meanwhile. */
export async function resultInSession(
  { taskId }: JsonObject,
  ctx: Context,
  { runner, asking }: { readonly runner: Runner; readonly asking: Asking },
): Promise<JsonObject> {
  for (;;) {
    const task = await runner.find(taskId, ctx.principal);
    if (isOver(task)) return resultOrThrow(task, runner);
    const waits = new AbortController();
    const next = runner.next(task.id, AbortSignal.any([ctx.signal, waits.signal]));
    // it may have changed before `next` was called
    const now = await runner.find(taskId, ctx.principal);
    const answers = openQuestions(now).map((question) => ask(question, now, { ctx, runner, asking }));
    if (now.version === task.version) await Promise.race([next, ...answers]);
    waits.abort();
    ctx.signal.throwIfAborted();
  }
}

function resultOrThrow(task: Task, { host }: Runner): JsonObject {
  const { outcome } = task;
  if (outcome === undefined) throw new McpError('invalid-request', 'The task was cancelled.');
  if ('error' in outcome) throw new McpError(outcome.error.code, outcome.error.message, outcome.error.data);
  const result = resultOf(task, SESSIONS, host);
  return { ...result, _meta: { ...(result?.['_meta'] as JsonObject | undefined), ...relatedTo(task) } };
}

function ask(
  { key, question }: TaskQuestion,
  task: Task,
  { ctx, runner, asking }: { readonly ctx: Context; readonly runner: Runner; readonly asking: Asking },
): Promise<void> {
  const id = `${task.id} ${key}`;
  const known = asking.get(id);
  if (known !== undefined) return known;
  const params = {
    ...question.params,
    _meta: { ...(question.params['_meta'] as JsonObject | undefined), ...relatedTo(task) },
  };
  const asked = askClient(ctx, { ...(question as Question), params })
    .then((answer) => runner.answer(task.id, { [key]: answer }))
    .finally(() => asking.delete(id));
  asking.set(id, asked);
  asked.catch(() => {});
  return asked;
}

/** `notifications/tasks/status`, for the session whose task has changed. */
export async function statusNotification(
  { taskId }: JsonObject,
  { id, revision, principal }: SessionClient,
  runner: Runner,
): Promise<ExtensionNotification | undefined> {
  if (revision !== SESSIONS || typeof taskId !== 'string') return undefined;
  const task = await runner.ledger.get(taskId);
  if (task === undefined || task.owner !== ownerDigest(principal)) return undefined;
  // tasks of callers without a principal are known only to the session that started them
  const { sessionId, transport, revision: own } = task.call;
  const isOwn = own === SESSIONS && sessionId === id && (id !== undefined || transport.kind !== 'http');
  if (task.owner === '' && !isOwn) return undefined;
  return { method: 'notifications/tasks/status', params: taskFields(task, SESSIONS, runner.settings.pollIntervalMs) };
}

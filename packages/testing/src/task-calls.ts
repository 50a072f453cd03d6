import { setTimeout as wait } from 'node:timers/promises';

import { type JsonObject, McpError } from '@decorum/core';
import { isObject, newestOf } from '@decorum/core/internal';

import type { Connection } from './connection.js';
import type { RequestOptions } from './request-options.js';
import { inRounds } from '@decorum/client/internal';
import { recorded, type Request } from './conversation.js';
import type { Question } from '@decorum/client';
import type { CallOptions, TaskState } from './task-types.js';

const EXTENSION = 'io.modelcontextprotocol/tasks';
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';

/** The longest wait between two polls, in milliseconds. Tests don't wait as long as servers ask for. */
const MAX_POLL_MS = 50;

/** Calls a tool, and waits for its result, as a task or not. */
export async function callTool(
  connection: Connection,
  params: JsonObject,
  { task = false, ...options }: CallOptions,
): Promise<JsonObject> {
  const ttlMs = typeof task === 'object' ? task.ttlMs : undefined;
  const call = { method: 'tools/call', params, options };
  const request = task === false ? call : asTask(connection, call, ttlMs);
  return await recorded(connection, params, async () => {
    const first = await inRounds(connection, request);
    const created = createdIn(first);
    if (created === undefined) return first;
    try {
      return await ended(connection, created.taskId, options);
    } catch (error) {
      if (options.signal?.aborted)
        await taskRequest(connection, 'tasks/cancel', { taskId: created.taskId }).catch(() => {});
      throw error;
    }
  });
}

/** The state of a task in the result of `tools/call`; undefined for any other result. */
export function createdIn(result: JsonObject): TaskState | undefined {
  if (result['resultType'] === 'task') return result as unknown as TaskState;
  const { task } = result;
  return isObject(task) && 'taskId' in task ? (task as unknown as TaskState) : undefined;
}

/**
 * Asks for a task.
 * @param ttlMs milliseconds to keep it
 * @throws {Error} if the revision has no tasks
 */
export function asTask({ revision, identity }: Connection, call: Request, ttlMs: number | undefined): Request {
  const { params, options } = call;
  if (newestOf(identity.era).id !== revision) {
    const others = `${newestOf('stateful').id} or ${newestOf('stateless').id}`;
    throw new Error(`There are no tasks in ${revision}. Connect with the revision ${others}.`);
  }
  if (identity.era === 'stateless') return { ...call, options: declared(identity, options) };
  return { ...call, params: { ...params, task: ttlMs === undefined ? {} : { ttl: ttlMs } } };
}

/** Declares the extension, as each request in the stateless era has to. */
function declared({ era, capabilities }: Connection['identity'], options: RequestOptions): RequestOptions {
  if (era === 'stateful') return options;
  const own = { ...capabilities, extensions: { ...capabilities.extensions, [EXTENSION]: {} } };
  return { ...options, meta: { [CAPABILITIES]: own, ...options.meta } };
}

/** Sends a request about a task. */
export async function taskRequest(
  connection: Connection,
  method: string,
  {
    taskId,
    inputResponses,
    ...options
  }: RequestOptions & { readonly taskId: string; readonly inputResponses?: object },
): Promise<JsonObject> {
  const params = { taskId, ...(inputResponses && { inputResponses }) };
  return await connection.request(method, params, declared(connection.identity, options));
}

/**
 * Answers the questions of a task, and waits for its result.
 * @param options `answers` keeps what was answered, by key: a server that is killed may not have got it
 */
export async function ended(
  connection: Connection,
  taskId: string,
  { answers = new Map(), ...options }: RequestOptions & { readonly answers?: Map<string, unknown> },
): Promise<JsonObject> {
  if (connection.identity.era === 'stateful')
    return await taskRequest(connection, 'tasks/result', { taskId, ...options });
  const answered = new Set<string>();
  for (let delay = 1; ; delay = Math.min(delay * 2, MAX_POLL_MS)) {
    const state = (await taskRequest(connection, 'tasks/get', { taskId, ...options })) as unknown as TaskState;
    const { status, result, error, inputRequests = {} } = state;
    if (status === 'completed') return result as unknown as JsonObject;
    if (error !== undefined) throw new McpError(error.code, error.message, error.data);
    if (status === 'cancelled') throw new Error(`The task ${taskId} was cancelled.`);
    const open = Object.entries(inputRequests).filter(([key]) => !answered.has(key));
    if (open.length > 0) await answerAll(connection, taskId, { open, answers });
    else await wait(delay, undefined, { signal: options.signal }).catch(() => options.signal?.throwIfAborted());
    for (const [key] of open) answered.add(key);
  }
}

async function answerAll(
  connection: Connection,
  taskId: string,
  {
    open,
    answers,
  }: { readonly open: readonly (readonly [string, Question])[]; readonly answers: Map<string, unknown> },
): Promise<void> {
  const news = open.filter(([key]) => !answers.has(key));
  const { inputResponses } = await connection.respond({ inputRequests: Object.fromEntries(news) });
  for (const [key, answer] of Object.entries(inputResponses as object)) answers.set(key, answer);
  const known = Object.fromEntries(open.map(([key]) => [key, answers.get(key)]));
  await taskRequest(connection, 'tasks/update', { taskId, inputResponses: known });
}

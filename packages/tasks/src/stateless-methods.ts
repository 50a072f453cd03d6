import { type Context, type JsonObject, McpError } from '@decorum/core';
import type { Followed } from '@decorum/core/plugin';

import type { Runner } from './runner.js';
import { undeclared, TASKS } from './starting.js';
import { detailed } from './status.js';
import type { Task } from './task.js';

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** @throws {McpError} `missing-capability` */
export function requireTasks({ client }: Context): void {
  if (!isObject(client.capabilities.extensions?.[TASKS])) throw undeclared();
}

/** `tasks/get`. */
export async function getStateless({ taskId }: JsonObject, ctx: Context, runner: Runner): Promise<JsonObject> {
  requireTasks(ctx);
  return detailed(await runner.find(taskId, ctx), runner.host, runner.settings.pollIntervalMs);
}

/** `tasks/update`. */
export async function updateStateless(
  { taskId, inputResponses }: JsonObject,
  ctx: Context,
  runner: Runner,
): Promise<JsonObject> {
  requireTasks(ctx);
  const { id } = await runner.find(taskId, ctx);
  if (!isObject(inputResponses)) throw new McpError('invalid-params', '"inputResponses" is not an object.');
  await runner.answer(id, inputResponses);
  return {};
}

/** `tasks/cancel`. */
export async function cancelStateless({ taskId }: JsonObject, ctx: Context, runner: Runner): Promise<JsonObject> {
  requireTasks(ctx);
  const { id } = await runner.find(taskId, ctx);
  await runner.cancel(id);
  return {};
}

/** The cap on tasks that one request follows. */
const MAX_FOLLOWED = 1000;

/** The field `taskIds` of `subscriptions/listen`: the tasks that the caller may see are followed. */
export async function followTasks(asked: unknown, ctx: Context, runner: Runner): Promise<Followed> {
  if (!Array.isArray(asked) || asked.length > MAX_FOLLOWED || !asked.every((id) => typeof id === 'string')) {
    throw new McpError('invalid-params', `"taskIds" is not a list of at most ${MAX_FOLLOWED} ids of tasks.`);
  }
  const found = await Promise.all(
    [...new Set(asked as string[])].map((id) => runner.find(id, ctx).catch(() => undefined)),
  );
  const known = new Set(found.filter((task): task is Task => task !== undefined).map(({ id }) => id));
  const sent = new Map<string, number>();
  return {
    ack: [...known],
    async notification({ taskId, progress }) {
      // progress is never sent on these streams
      if (typeof taskId !== 'string' || progress !== undefined || !known.has(taskId)) return undefined;
      const task = await runner.ledger.get(taskId);
      // reads may overtake each other: never tell an older state after a newer one
      if (task === undefined || task.version <= (sent.get(taskId) ?? 0)) return undefined;
      sent.set(taskId, task.version);
      return { method: 'notifications/tasks', params: detailed(task, runner.host, runner.settings.pollIntervalMs) };
    },
  };
}

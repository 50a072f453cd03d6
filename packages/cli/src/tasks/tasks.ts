import type { JsonObject } from '@decorum/core';
import { CommandFailure, plainLine } from 'create-decorum';

import { replyOf } from '../child-reply.js';
import { ENTRIES, findEntry, shown } from '../entry.js';
import { loadFailure } from '../failures.js';
import { tableOf } from '../table.js';
import type { Reply, Request } from './messages.js';

/**
 * Does something with the tasks of a program, and describes what came of it.
 * @param entry file of the program, as the user named it
 * @returns text to print
 * @throws {CommandFailure}
 */
export async function tasksOf(
  request: Request,
  { entry, json = false }: { readonly entry: string | undefined; readonly json?: boolean | undefined },
): Promise<string> {
  const file = findEntry(entry, ENTRIES);
  const reply = await replyOf<Reply>(new URL('child.js', import.meta.url), { args: [file, JSON.stringify(request)] });
  if (typeof reply === 'number')
    throw new CommandFailure(`${shown(file)} ended with exit code ${reply} before it created a server.`);
  if (reply.type === 'failed') {
    throw loadFailure({ file, sources: [] }, Object.assign(new Error(reply.error.message), reply.error));
  }
  if (reply.type === 'nothing') {
    throw new CommandFailure(`${shown(file)} has no server with the plugin \`tasks()\`.`);
  }
  if (reply.type === 'tasks') return json ? JSON.stringify(reply.tasks, null, 2) : listOf(reply.tasks);
  if (reply.type === 'task') {
    if (reply.task === undefined) throw new CommandFailure('There is no such task, or it has expired.');
    return json ? JSON.stringify(reply.task, null, 2) : fieldsOf(reply.task);
  }
  if (reply.problem !== undefined) throw new CommandFailure(reply.problem);
  if (json) return JSON.stringify({ done: true });
  return request.action === 'retry' ? 'The task runs again as soon as a server has it.' : 'Cancelled.';
}

const COLUMNS = ['taskId', 'status', 'tool', 'subject', 'lastUpdatedAt', 'statusMessage'] as const;

const TITLES = ['ID', 'STATUS', 'TOOL', 'CALLER', 'CHANGED', 'MESSAGE'];

function listOf(tasks: readonly JsonObject[]): string {
  if (tasks.length === 0) return 'There are no tasks.';
  return tableOf(
    TITLES,
    tasks.map((task) => COLUMNS.map((column) => task[column])),
  );
}

function fieldsOf(task: JsonObject): string {
  const width = Math.max(...Object.keys(task).map((key) => key.length));
  const lines = Object.entries(task).map(([key, value]) => {
    const text = typeof value === 'object' ? JSON.stringify(value) : value;
    return `${key.padEnd(width)}  ${plainLine(text)}`;
  });
  return lines.join('\n');
}

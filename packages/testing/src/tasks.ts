import type { CallToolResult, JsonObject } from '@decorum/core';

import type { Connection } from './connection.js';
import type { RequestOptions } from './request-options.js';
import { inRounds } from '@decorum/client/internal';
import { recorded } from './conversation.js';
import { asTask, createdIn, ended, taskRequest } from './task-calls.js';
import type { StartOptions, TaskState } from './task-types.js';

/** The tasks of a test client: `client.tasks`. */
export class TestTasks {
  readonly #connection: Connection;
  /** What the client has called, by task. */
  readonly #started = new Map<string, JsonObject>();

  /**
   * Use `client.tasks` instead.
   * @param connection an open connection
   */
  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /**
   * Calls a tool as a task, and doesn't wait for its result. What the tool asks before there is a task is answered.
   * @returns the new task
   * @throws {McpError} if the server responds with an error
   * @throws {Error} if the server returns a result without a task, or the revision has no tasks
   */
  async start(name: string, args: object = {}, { ttlMs, ...options }: StartOptions = {}): Promise<TaskState> {
    const params = { name, arguments: args };
    const request = asTask(this.#connection, { method: 'tools/call', params, options }, ttlMs);
    const result = await recorded(this.#connection, params, () => inRounds(this.#connection, request));
    const created = createdIn(result);
    if (created === undefined) throw new Error(`The server returned the result of "${name}" without a task.`);
    this.#started.set(created.taskId, params);
    return created;
  }

  /** Reads a task. */
  async get(taskId: string): Promise<TaskState> {
    return (await taskRequest(this.#connection, 'tasks/get', { taskId })) as unknown as TaskState;
  }

  /**
   * Answers the questions of a task, waits until it ends, and returns the tool's result.
   * @throws {McpError} if the task has failed with an error of the protocol, or is unknown
   * @throws {Error} if the task is cancelled
   */
  async result(taskId: string, options: RequestOptions = {}): Promise<CallToolResult> {
    const params = this.#started.get(taskId) ?? {};
    const result = await recorded(this.#connection, params, () => ended(this.#connection, taskId, options));
    return result as unknown as CallToolResult;
  }

  /** Answers questions of a task, by key. In 2025-11-25, the client answers while it waits for the result instead. */
  async update(taskId: string, inputResponses: Readonly<Record<string, object>>): Promise<void> {
    await taskRequest(this.#connection, 'tasks/update', { taskId, inputResponses });
  }

  /** Cancels a task. */
  async cancel(taskId: string): Promise<void> {
    await taskRequest(this.#connection, 'tasks/cancel', { taskId });
  }

  /** Lists the caller's tasks on all pages, in 2025-11-25. */
  async list(): Promise<readonly TaskState[]> {
    return (await this.#connection.list('tasks/list', 'tasks')) as unknown as readonly TaskState[];
  }
}

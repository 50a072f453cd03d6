// Shared by tests of tasks: a server whose tools do what the test says, and clients of both revisions.
import type { JsonObject, McpServer, McpServerOptions } from '@decorum/core';
import { tasks, type TasksOptions } from '@decorum/tasks';

import { overHttp } from '../support/http-transports.js';
import { overStdio, RawClient, type RawOptions, type RawTransport } from '../support/raw-client.js';
import { itShows } from '../support/requirements.js';
import { type Handler, serverOf } from './servers.js';

/** The revision whose sessions have tasks. */
export const IN_SESSIONS = '2025-11-25';
/** The revision with the extension. */
export const STATELESS = '2026-07-28';
/** The id of the extension. */
export const TASKS = 'io.modelcontextprotocol/tasks';
/** The `_meta` key that relates a message to a task. */
export const RELATED = 'io.modelcontextprotocol/related-task';
/** Ids that nobody can guess: 122 random bits. */
export const RANDOM_ID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

/** Capabilities of a client that answers all questions and declares the extension. */
export const DECLARED = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {}, extensions: { [TASKS]: {} } };
/** The same without the extension. */
export const { extensions: _extensions, ...UNDECLARED } = DECLARED;

/** The error for ids of tasks that the caller can't have. */
export const NO_TASK = { code: -32602 };

const TRANSPORTS: Readonly<Record<string, RawTransport>> = { stdio: overStdio, HTTP: overHttp };

/** Runs a test over stdio and over HTTP. */
async function overEach(test: (transport: RawTransport) => Promise<void>): Promise<void> {
  for (const transport of Object.values(TRANSPORTS)) await test(transport);
}

/** Registers a test of rows in sessions, over both transports. */
export const inSessions = (rows: readonly string[], sentence: string, test: Parameters<typeof overEach>[0]): void =>
  itShows(
    rows.map((row) => [row, IN_SESSIONS] as const),
    sentence,
    () => overEach(test),
  );

/** Registers a test of rows of the extension, over both transports. */
export const inExtension = (rows: readonly string[], sentence: string, test: Parameters<typeof overEach>[0]): void =>
  itShows(
    rows.map((row) => [row, STATELESS] as const),
    sentence,
    () => overEach(test),
  );

interface Settings extends TasksOptions {
  readonly server?: Partial<McpServerOptions>;
}

/** A server with tools by name. Names that begin with `must` or `plain` are `required` or `forbidden` as tasks. */
export function taskServer(
  tools: Readonly<Record<string, Handler>>,
  { server: options = {}, ...settings }: Settings = {},
): McpServer {
  const server = serverOf({ ...options, plugins: [tasks(settings), ...(options.plugins ?? [])] });
  for (const [name, handler] of Object.entries(tools)) {
    const task = name.startsWith('must') ? 'required' : name.startsWith('plain') ? 'forbidden' : 'optional';
    const run = (args: JsonObject, context: Parameters<Handler>[0]) => handler(context, args);
    server.addTool({ name, task, input: { type: 'object' } }, run as never);
  }
  return server;
}

/** Connects a client with a session. */
export const inSession = async (server: McpServer, transport: RawTransport, options: Partial<RawOptions> = {}) =>
  await RawClient.connect(server, { revision: IN_SESSIONS, capabilities: UNDECLARED, ...options }, transport);

/** Connects a client without a session that declares the extension. */
export const withExtension = async (server: McpServer, transport: RawTransport, options: Partial<RawOptions> = {}) =>
  await RawClient.connect(server, { revision: STATELESS, capabilities: DECLARED, ...options }, transport);

/** What describes a task. */
export interface TaskFields extends JsonObject {
  readonly taskId: string;
  readonly status: string;
  readonly statusMessage?: string;
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
}

/** Calls a tool that becomes a task. */
export async function startTask(client: RawClient, name: string, more: JsonObject = {}): Promise<TaskFields> {
  const task = client.stateless ? {} : { task: {} };
  const result = await client.result('tools/call', { name, ...task, ...more });
  return (client.stateless ? result : result['task']) as TaskFields;
}

/** `tasks/get`. */
export const getTask = async (client: RawClient, taskId: string): Promise<TaskFields> =>
  (await client.result('tasks/get', { taskId })) as TaskFields;

/** Polls until a task has a status. */
export async function statusOf(client: RawClient, taskId: string, status: string): Promise<TaskFields> {
  for (;;) {
    const task = await getTask(client, taskId);
    if (task.status === status) return task;
    if (task.status !== 'working' && task.status !== 'input_required')
      throw new Error(`The task is ${task.status}, not ${status}.`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** The text of a tool's result. */
export const said = (text: string) => ({ content: [{ type: 'text', text }] });

/** Lets a handler get past the turn in which questions belong to the request. */
export const later = async (): Promise<void> => {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

// Validates messages about tasks with the official schemas: those of the revision, and those of the extension.
import { readFileSync } from 'node:fs';

import { Ajv2020 } from 'ajv/dist/2020.js';

import type { RevisionSchema } from './schemas.js';

type Json = Record<string, unknown>;

const RELATED = 'io.modelcontextprotocol/related-task';

const extension = new Ajv2020({ strict: false, allErrors: true, formats: { uri: true, byte: true } });
extension.addSchema(
  { ...JSON.parse(readFileSync(new URL('../data/schema/tasks.json', import.meta.url), 'utf8')), $id: 'tasks' },
  'tasks',
);

/** Checks a value with the schema of the extension, which leaves objects open: other fields are listed here. */
function problemsOf(definition: string, value: Json, more: readonly string[] = []): string[] {
  const validate = extension.compile({ $ref: `tasks#/$defs/${definition}` });
  const known = ['taskId', 'status', 'statusMessage', 'createdAt', 'lastUpdatedAt', 'ttlMs', 'pollIntervalMs', '_meta'];
  const unknown = Object.keys(value).filter((field) => ![...known, ...more].includes(field));
  const problems = validate(value) ? [] : [JSON.stringify(validate.errors)];
  return [...problems, ...unknown.map((field) => `a ${definition} has no ${field}`)];
}

/** What belongs to each status. */
const OWN: Readonly<Record<string, string>> = {
  input_required: 'inputRequests',
  completed: 'result',
  failed: 'error',
};

/** The fields that `tasks/get` may return for a status. */
const own = ({ status }: Json): string[] => [OWN[String(status)]].filter((field) => field !== undefined);

/** The definition of a result in the revision with sessions. */
const IN_SESSIONS: Readonly<Record<string, string>> = {
  // `GetTaskResult` allows any field; this doesn't even allow `_meta`, which these results should not have
  'tasks/get': 'Task',
  'tasks/cancel': 'Task',
  'tasks/list': 'ListTasksResult',
  'tasks/result': 'CallToolResult',
};

function inSession(schema: RevisionSchema, { method: sent, params, result }: Json, method: string | undefined) {
  if (sent === 'notifications/tasks/status') return schema.problems('Task', params);
  if (result === undefined || method === undefined) return undefined;
  if (method === 'tools/call' && 'task' in (result as Json)) return schema.problems('CreateTaskResult', result);
  const definition = IN_SESSIONS[method];
  if (definition === undefined) return undefined;
  const isRelated = RELATED in (((result as Json)['_meta'] ?? {}) as Json);
  const related = isRelated === (method === 'tasks/result') ? [] : [`the related task of ${method} is wrong`];
  return [...schema.problems(definition, result), ...related];
}

/** The result of a task is a whole result of its tool. */
const judgeOutcome = (schema: RevisionSchema, { status, result }: Json) =>
  status === 'completed' ? schema.problems('CallToolResult', result) : [];

function stateless(schema: RevisionSchema, { method: sent, params, result }: Json, method: string | undefined) {
  if (sent === 'notifications/tasks') {
    const told = params as Json;
    return [...problemsOf('TaskStatusNotificationParams', told, own(told)), ...judgeOutcome(schema, told)];
  }
  if (result === undefined || method === undefined) return undefined;
  const given = result as Json;
  if (method === 'tools/call' && given['resultType'] === 'task')
    return problemsOf('CreateTaskResult', given, ['resultType']);
  if (method === 'tasks/get')
    return [...problemsOf('GetTaskResult', given, ['resultType', ...own(given)]), ...judgeOutcome(schema, given)];
  if (method !== 'tasks/update' && method !== 'tasks/cancel') return undefined;
  const more = Object.keys(given).filter((field) => field !== 'resultType' && field !== '_meta');
  return [
    ...problemsOf('UpdateTaskResult', given, ['resultType']),
    ...more.map((field) => `${method} returns ${field}`),
  ];
}

/** Takes out of an acknowledgement the ids of tasks, which the schema of the revision doesn't have. */
export function withoutTaskIds(message: Json): Json {
  if (message['method'] !== 'notifications/subscriptions/acknowledged') return message;
  const { notifications, ...params } = message['params'] as { notifications: Json };
  const { taskIds = [], ...others } = notifications;
  const isRight = Array.isArray(taskIds) && taskIds.every((id) => typeof id === 'string');
  return isRight ? { ...message, params: { ...params, notifications: others } } : message;
}

/** The problems of a message about tasks; undefined if it is about something else. */
export function judgeTask(schema: RevisionSchema, message: Json, method: string | undefined): string[] | undefined {
  if (schema.revision === '2025-11-25') return inSession(schema, message, method);
  return schema.revision === '2026-07-28' ? stateless(schema, message, method) : undefined;
}

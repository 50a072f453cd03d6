import { type JsonObject, McpError } from '@decorum/core';
import { FAILURES, isObject } from '@decorum/core/internal';

import type { Connection } from './connection.js';
import { ConnectionError } from './connection-error.js';
import { ALL_TOOLS, listAll } from './pages.js';
import type { Question } from './questions.js';
import type { AskingCall } from './request.js';

/** Cap on the rounds of questions before a result. */
const MAX_ROUNDS = 10;

/** Cap on the questions of a round. */
const MAX_QUESTIONS = 100;

/** Sends a request. In the stateless era, also answers the server's questions and retries with the answers. */
export async function inRounds(connection: Connection, call: AskingCall): Promise<JsonObject> {
  let given: JsonObject = {};
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const result = await mirrored(connection, { ...call, params: { ...call.params, ...given } });
    if (result['resultType'] !== 'input_required') return result;
    given = await respond(connection, result, call);
  }
  throw new ConnectionError('protocol', `"${call.method}" asked ${MAX_ROUNDS} times without returning a result.`);
}

/** Answers the questions in a result. Returns the parameters to add to the request in the next round. */
export async function respond(connection: Connection, result: JsonObject, call: AskingCall): Promise<JsonObject> {
  const { inputRequests = {}, requestState } = result;
  const asked = Object.entries(inputRequests as object);
  if (
    !isObject(inputRequests) ||
    !asked.every(([, question]) => isQuestion(question)) ||
    asked.length > MAX_QUESTIONS
  ) {
    throw new ConnectionError('protocol', `"${call.method}" was answered with questions that are not valid.`);
  }
  const answers = asked.map(async ([key, { method, params = {} }]: [string, Question]) => [
    key,
    await connection.ask({ method, params }, call),
  ]);
  const inputResponses = Object.fromEntries(await Promise.all(answers)) as JsonObject;
  return { inputResponses, ...(requestState !== undefined && { requestState }) };
}

const isQuestion = (value: unknown): boolean =>
  isObject(value) && typeof value['method'] === 'string' && isObject(value['params'] ?? {});

/** Sends a request. If mirrored arguments are missing, lists the tools to learn which ones to mirror, and retries. */
async function mirrored(connection: Connection, { method, params, options }: AskingCall): Promise<JsonObject> {
  try {
    return await connection.request(method, params, options);
  } catch (error) {
    const isMissing = error instanceof McpError && error.code === FAILURES['header-mismatch'].code;
    if (!isMissing || method !== 'tools/call' || !connection.mirrors) throw error;
    await listAll(connection, { method: 'tools/list', member: 'tools', options: { meta: ALL_TOOLS } });
    return await connection.request(method, params, options);
  }
}

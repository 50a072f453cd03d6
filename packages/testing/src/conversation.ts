import { type JsonObject, McpError } from '@decorum/core';
import { FAILURES } from '@decorum/core/internal';

import type { Connection, RequestOptions } from './connection.js';
import { scriptOf } from './elicits.js';
import { noteOrigin } from './origin.js';

/** Cap on the rounds of questions before a result. */
const MAX_ROUNDS = 10;

/** A request that the server may answer with questions. */
export interface Request {
  readonly method: string;
  readonly params: JsonObject;
  readonly options: RequestOptions;
}

/** Sends a request, answers the questions in its result, and records its origin. */
export const converse = async (connection: Connection, request: Request): Promise<JsonObject> =>
  await recorded(connection, request.params, () => inRounds(connection, request));

/** Runs a request, and records the origin of its result or error for the matchers: its parameters and questions. */
export async function recorded(
  connection: Connection,
  params: JsonObject,
  run: () => Promise<JsonObject>,
): Promise<JsonObject> {
  const asked = connection.questions.length;
  const note = (outcome: object) =>
    noteOrigin(outcome, {
      connection,
      params,
      questions: connection.questions.slice(asked),
    });
  const requireAnswers = () => scriptOf(connection.identity.handlers.onElicit)?.requireComplete();
  try {
    const result = await run();
    requireAnswers();
    note(result);
    return result;
  } catch (error) {
    requireAnswers();
    if (error instanceof Error) note(error);
    throw error;
  }
}

/** Sends a request. In the stateless era, also answers the server's questions and retries with the answers. */
export async function inRounds(connection: Connection, { method, params, options }: Request): Promise<JsonObject> {
  let given: JsonObject = {};
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const result = await mirrored(connection, { method, params: { ...params, ...given }, options });
    if (result['resultType'] !== 'input_required') return result;
    given = await connection.respond(result);
  }
  throw new Error(`"${method}" asked ${MAX_ROUNDS} times without returning a result.`);
}

/** Sends a request. If mirrored arguments are missing, lists the tools to learn which ones to mirror, and retries. */
async function mirrored(connection: Connection, { method, params, options }: Request): Promise<JsonObject> {
  try {
    return await connection.request(method, params, options);
  } catch (error) {
    const isMissing = error instanceof McpError && error.code === FAILURES['header-mismatch'].code;
    if (!isMissing || method !== 'tools/call' || !connection.mirrors) throw error;
    await connection.list('tools/list', 'tools');
    return await connection.request(method, params, options);
  }
}

import { inRounds } from '@decorum/client/internal';
import type { JsonObject } from '@decorum/core';

import type { Connection } from './connection.js';
import { scriptOf } from './elicits.js';
import { noteOrigin } from './origin.js';
import type { RequestOptions } from './request-options.js';

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

import type { JsonObject } from '@decorum/schema/internal';

import type { Question } from '../../protocol/revisions/revision.js';
import { ASK, type Context } from '../context.js';

/**
 * Asks the client of a request a question whose params are complete, and which was checked before.
 * @returns the answer as sent
 * @throws {McpError | QuestionError} if the client cannot answer, or does not
 * @example
 * ```ts
 * const answer = await askClient(ctx, { method: 'roots/list', params: {} });
 * ```
 */
export const askClient = (ctx: Context, question: Question): Promise<JsonObject> => ctx[ASK](question);

import type { JsonObject } from '@decorum/schema/internal';

import type { Question } from '../../protocol/revisions/revision.js';
import type { Context } from '../context.js';
import { ASK } from '../context-keys.js';

/**
 * Asks the client of a request a question whose params are complete. Only the capability for it is checked.
 * @returns the answer as sent
 * @throws {McpError} `missing-capability` if the client has not declared what the question needs
 * @throws {QuestionError} if the client does not answer
 * @example
 * ```ts
 * const answer = await askClient(ctx, { method: 'roots/list', params: {} });
 * ```
 */
export const askClient = (ctx: Context, question: Question): Promise<JsonObject> => ctx[ASK](question);

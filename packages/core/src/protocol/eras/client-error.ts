import { excerpt, isObject } from '@decorum/schema/internal';

import { QuestionError } from '../errors.js';
import type { JsonRpcResponse } from '../jsonrpc.js';

/** The error for a question that the client answered with an error. */
export function clientError(error: JsonRpcResponse['error']): QuestionError {
  // checkMessage has validated only the outer structure of the response
  if (!isObject(error) || !Number.isSafeInteger(error.code))
    return new QuestionError('The client sent an invalid answer.');
  return new QuestionError(`The client answered with an error: ${excerpt(error.message)}`, error);
}

// a test runner may have several of each built-in class
import { types } from 'node:util';

/**
 * Calls a function of the user, which must not disturb the connection.
 * @param failed told of what it throws, or of why its promise rejects
 */
export function guard(callback: () => unknown, failed: (error: Error) => void): void {
  const fail = (error: unknown) => failed(types.isNativeError(error) ? error : new Error(String(error)));
  try {
    const returned = callback();
    if (types.isPromise(returned)) returned.catch(fail);
  } catch (error) {
    fail(error);
  }
}

import type { Exchange } from '../protocol/exchange.js';
import { isPromise } from '../protocol/maybe-promise.js';
import type { Access } from '../protocol/wire.js';
import type { Admits } from '../registry/listing.js';
import type { ErrorReporter } from './error-reporter.js';

/** Whether the caller passes an access function. Fails closed: an error is reported and denies access. */
export function isAdmitted(access: Access, exchange: Exchange, reporter: ErrorReporter): boolean | Promise<boolean> {
  const { principal, transport } = exchange.wire;
  const deny = (error: unknown) => {
    reporter.report(error, exchange);
    return false;
  };
  const decide = (answer: unknown): boolean => {
    // a truthy value, such as a user or a reason, may not mean that access is granted
    if (answer && answer !== true) throw new TypeError('`access` must return true or false, or a promise of one.');
    return answer === true;
  };
  try {
    const answer = access(principal, transport);
    return isPromise(answer) ? Promise.resolve(answer).then(decide).catch(deny) : decide(answer);
  } catch (error) {
    return deny(error);
  }
}

/** Creates the access check for one request. Each function runs once, even if many members share it. */
export function admission(exchange: Exchange, reporter: ErrorReporter): Admits {
  const asked = new Map<Access, boolean | Promise<boolean>>();
  return (access) => {
    const answer = asked.get(access) ?? isAdmitted(access, exchange, reporter);
    asked.set(access, answer);
    return answer;
  };
}

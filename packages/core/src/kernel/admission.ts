import type { Exchange } from '../protocol/exchange.js';
import { isPromise } from '../protocol/maybe-promise.js';
import type { Access } from '../protocol/wire.js';
import type { Admits } from '../registry/listing.js';
import type { ErrorReporter } from './error-reporter.js';

/** Whether the sender of a request is admitted. Fails closed: an error of the function is reported, and refuses. */
export function isAdmitted(access: Access, exchange: Exchange, reporter: ErrorReporter): boolean | Promise<boolean> {
  const { principal, transport } = exchange.wire;
  const refuse = (error: unknown) => {
    reporter.report(error, exchange);
    return false;
  };
  try {
    const answer = access(principal, transport);
    return isPromise(answer) ? Promise.resolve(answer).then((known) => known === true, refuse) : answer === true;
  } catch (error) {
    return refuse(error);
  }
}

/** Says whom members admit for one request. Each function is asked once, however many members share it. */
export function admission(exchange: Exchange, reporter: ErrorReporter): Admits {
  const asked = new Map<Access, boolean | Promise<boolean>>();
  return (access) => {
    const answer = asked.get(access) ?? isAdmitted(access, exchange, reporter);
    asked.set(access, answer);
    return answer;
  };
}

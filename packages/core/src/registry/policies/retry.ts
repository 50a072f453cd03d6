import { invalidOption, isObject, isPromise, type OptionTypes, requireOptions } from '@decorum/schema/internal';

import { mayRepeat } from '../../metadata/class-defaults.js';
import type { PolicyOptions, RetryOptions } from '../../metadata/policy-options.js';
import { HAS_ASKED, WITHIN } from '../caller.js';
import { choiceOf, isOfCall } from './failures.js';
import type { Policy, PolicyParts } from './policy.js';

const DAY_MS = 86_400_000;
const RANGES: OptionTypes<RetryOptions> = { times: [1, 10], on: 'function', baseMs: [0, DAY_MS], maxMs: [0, DAY_MS] };

const NEEDS_HINT =
  'calls the tool again, but nothing says that this does no harm. Add `annotations: { readOnlyHint: true }` or `annotations: { idempotentHint: true }`, or remove `retry`';

/**
 * Milliseconds to wait before an attempt: a random part of a time that doubles, so that callers that failed together
 * don't come back together.
 * @param attempt the number of the attempt that failed, the first being 0
 */
function pauseBefore(attempt: number, { baseMs = 200, maxMs = 10_000 }: RetryOptions): number {
  return Math.random() * Math.min(maxMs, baseMs * 2 ** attempt);
}

/**
 * The policy of a member's `retry`; undefined if it has none.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function retryPolicy(
  option: PolicyOptions['retry'],
  { where, record, defaults: { reporter } }: PolicyParts,
): Policy | undefined {
  if (option === undefined || option === false) return undefined;
  if (!isObject(option as unknown))
    throw invalidOption(where, 'retry', 'must be an object. Write `retry: { times: 2 }`');
  requireOptions(`${where} (retry)`, option, RANGES);
  const { times } = option;
  if ((times as number | undefined) === undefined)
    throw invalidOption(where, 'retry', 'has no `times`. Write `retry: { times: 2 }`');
  if (!mayRepeat(record)) throw invalidOption(where, 'retry', NEEDS_HINT);
  const isChosen = choiceOf(option.on, { where: `${where} (retry)`, reporter });
  return ({ caller }, next) => {
    const attempt = (failures: number): ReturnType<typeof next> => {
      const scope = { hasFailed: false };
      const failed = async (error: unknown) => {
        scope.hasFailed = true;
        if (failures === times || caller[HAS_ASKED] || isOfCall(error, caller) || !isChosen(error)) throw error;
        const pauseMs = pauseBefore(failures, option);
        reporter?.debug?.(
          { member: where, attempt: failures + 1, pauseMs, err: error },
          'a call failed, and is repeated',
        );
        await pause(pauseMs, caller.signal);
        return await attempt(failures + 1);
      };
      try {
        // each has its whole budget, and what it writes to memory is its own
        const result = next(caller[WITHIN](scope));
        return isPromise(result) ? result.catch(failed) : result;
      } catch (error) {
        return failed(error);
      }
    };
    return attempt(0);
  };
}

/** Waits, unless the call is no longer needed. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal.addEventListener('abort', stop, { once: true });
  });
}

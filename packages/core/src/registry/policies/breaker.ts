import { invalidOption, isObject, isPromise, type OptionTypes, requireOptions } from '@decorum/schema/internal';

import type { BreakerOptions, PolicyOptions } from '../../metadata/policy-options.js';
import { recordedCause } from '../../protocol/failure-cause.js';
import type { Caller } from '../caller.js';
import { Circuit } from './circuit.js';
import { choiceOf, isOfCall, isTimeLimit } from './failures.js';
import type { Policy, PolicyParts } from './policy.js';

const TEN_MINUTES_MS = 600_000;
const RANGES: OptionTypes<BreakerOptions> = {
  errorThresholdPercentage: [1, 99],
  volumeThreshold: [1, 1_000_000],
  windowMs: [10, TEN_MINUTES_MS],
  resetMs: [1, 86_400_000],
  on: 'function',
};

/**
 * The policy of a member's `breaker`; undefined if it has none.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function breakerPolicy(
  option: PolicyOptions['breaker'],
  { where, defaults: { reporter } }: PolicyParts,
): Policy | undefined {
  if (option === undefined || option === false) return undefined;
  const options: BreakerOptions = option === true ? {} : option;
  if (!isObject(options as unknown))
    throw invalidOption(where, 'breaker', 'must be true, or an object. Write `breaker: true`');
  requireOptions(`${where} (breaker)`, options, RANGES);
  const circuit = new Circuit(options, (message) => reporter?.warn({ member: where }, `${where} ${message}`));
  const isChosen = choiceOf(options.on, { where: `${where} (breaker)`, reporter });
  const isFailure = (error: unknown, caller: Caller) =>
    isOfCall(error, caller) ? undefined : isTimeLimit(error) || isChosen(error);
  return ({ caller }, next) => {
    const trial = circuit.admit();
    const succeed = <R extends object>(result: R): R => {
      // a result of invalid arguments, for which the handler didn't run
      circuit.record(trial, recordedCause(result) === undefined && !caller.signal.aborted ? false : undefined);
      return result;
    };
    const fail = (error: unknown): never => {
      let outcome: boolean | undefined;
      try {
        outcome = isFailure(error, caller);
      } finally {
        circuit.record(trial, outcome);
      }
      throw error;
    };
    try {
      const result = next(caller);
      return isPromise(result) ? result.then(succeed, fail) : succeed(result);
    } catch (error) {
      return fail(error);
    }
  };
}

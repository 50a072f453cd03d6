import { attempt } from '@decorum/schema/internal';

import type { Observation, ObservedRequest } from '../protocol/observed.js';
import type { Registry } from '../registry/registry.js';
import type { ObserveRun } from './extensions/detached-run.js';
import { observedExchange, outcomeOf, type RequestOutcome } from './observed.js';
import { type Hook, reportingOnce } from './observers.js';

/** A plugin's `detached` function. */
export type DetachedHook = Hook<(request: ObservedRequest) => unknown>;

/** What tells plugins of runs apart from their request; undefined if none listens. */
export function observingRuns(
  hooks: readonly DetachedHook[],
  registry: Registry,
  report: (error: unknown) => void,
): ObserveRun | undefined {
  if (hooks.length === 0) return undefined;
  const reportOnce = reportingOnce(report, "The run isn't affected. Reported once.");
  return (exchange) => {
    const request = observedExchange(exchange, registry);
    const effects = () => exchange.finishedEffects;
    const observation: Observation = { request, ended: undefined, isDenied: false, shown: undefined, effects };
    exchange.observe(observation);
    const begunAt = performance.now();
    let ends = hooks.flatMap((hook) => {
      const fail = (error: unknown) => reportOnce(hook, error);
      const end = attempt(() => hook.call(request), fail);
      if (typeof end === 'function') return [(outcome: RequestOutcome) => attempt(() => end(outcome) as unknown, fail)];
      if (end !== undefined) fail(new TypeError('It did not return a function, or nothing.'));
      return [];
    });
    return (reply) => {
      const outcome = outcomeOf(reply, performance.now() - begunAt, observation);
      for (const end of ends) end(outcome);
      ends = [];
    };
  };
}

import { andThen, jsonRoundTrip } from '@decorum/schema/internal';
import type { JsonObject } from '@decorum/schema/internal';

import { ToolResult } from '../../protocol/content.js';
import { ToolError } from '../../protocol/errors.js';
import { withFailureCause } from '../../protocol/failure-cause.js';
import { NeedInput } from '../../protocol/input.js';
import type { Caller } from '../caller.js';
import { isGenerator } from '../generators.js';
import type { Member } from '../plan.js';
import { type InputCheck, requireValid } from '../tool-input.js';

/** Cap on the bytes of a plan, as JSON. */
const MAX_BYTES = 256 * 1024;

/** Makes a plan. */
export type MakePlan = (args: JsonObject, caller: Caller) => Promise<unknown>;

/**
 * What checks the arguments and calls the method that makes the plan.
 * @param by the name of the method
 * @returns a function that rejects with {ToolError} for invalid arguments and for a plan that is too large, and with
 *   {Error} for a value that is no plan
 */
export function planMethod(member: Member<'tool'>, by: string, input: InputCheck): MakePlan {
  const { methods, host, key, cls } = member;
  const where = `${cls.name}.${by}`;
  return async (args, caller) => {
    const check = () => andThen(input.check(args), requireValid);
    const make = async (): Promise<unknown> => {
      if (host?.preview) return await host.preview({ key, by }, { kind: 'tool', args, check }, caller as never);
      const checked = await check();
      caller.signal.throwIfAborted();
      return await methods[by]?.(checked, caller);
    };
    const made = await make();
    if (made instanceof Error) throw made;
    return requireSize(jsonRoundTrip(requirePlan(made, where), `The plan of ${where}`));
  };
}

function requirePlan(made: unknown, where: string): unknown {
  const isOther =
    made instanceof NeedInput ||
    made instanceof ToolResult ||
    (typeof made === 'object' && made !== null && isGenerator(made));
  if (made !== undefined && !isOther) return made;
  throw new Error(`${where} returned ${made === undefined ? 'no plan' : 'what is no plan'}. Return a JSON value.`);
}

function requireSize(plan: unknown): unknown {
  const bytes = Buffer.byteLength(JSON.stringify(plan));
  if (bytes <= MAX_BYTES) return plan;
  const problem = `The plan is too large: it has ${bytes} bytes, and ${MAX_BYTES} are allowed. Nothing was done. Ask for less at once.`;
  throw withFailureCause(new ToolError(problem), 'limit');
}

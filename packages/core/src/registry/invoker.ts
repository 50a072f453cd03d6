import { andThen, type Checked, isPromise, type Shape, takesObjectsOnly } from '@decorum/schema/internal';

import { McpError, startupError } from '../protocol/errors.js';
import { NeedInput } from '../protocol/input.js';
import { type Caller, COLLECT } from './caller.js';
import type { Member } from './plan.js';

/** Cap on how many times a handler may return `needInput` before it returns a result. */
const MAX_ROUNDS = 10;

/**
 * Asks the client and calls the handler again, until the handler returns a result.
 * @returns an async function that rejects if the handler does not stop asking
 */
export function repeaterOf({ methods, key, where }: Member) {
  return async (needed: NeedInput, input: unknown, caller: Caller): Promise<unknown> => {
    let value: unknown = needed;
    for (let round = 1; round <= MAX_ROUNDS; round++) {
      await caller[COLLECT](value as NeedInput);
      value = await methods[key]?.(input, caller);
      if (!(value instanceof NeedInput)) return value;
    }
    throw new Error(
      `${where} returned needInput ${MAX_ROUNDS} times in a row. Return a result once you have the answers.`,
    );
  };
}

/**
 * Calls a member's method, and calls it again as long as it returns `needInput`. Synchronous if the method returns a
 * result synchronously.
 */
export function invoker(member: Member) {
  const { methods, key } = member;
  const repeat = repeaterOf(member);
  return (input: unknown, caller: Caller): unknown =>
    andThen(methods[key]?.(input, caller), (value) =>
      value instanceof NeedInput ? repeat(value, input, caller) : value,
    );
}

/**
 * Like `invoker`, for handlers whose arguments arrive as strings. With a schema, the strings are parsed and validated.
 * @throws {DecorumError} `DECORUM_OBJECT_ARGUMENT` for fields that a string cannot represent
 */
export function stringInvoker(member: Member, input: Shape | undefined) {
  const call = invoker(member);
  type Strings = Readonly<Record<string, unknown>>;
  const check = (strings: Strings) =>
    input === undefined ? strings : andThen(input.checkStrings(strings), requireInput);
  const hosted = (args: Strings, caller: Caller): unknown =>
    call({ kind: member.kind, args, check: () => check(args) }, caller);
  if (input === undefined) return member.host ? hosted : call;
  const nested = [...input.fields.keys()].find((name) => takesObjectsOnly(input.accepted, name));
  if (nested !== undefined) throw startupError('DECORUM_OBJECT_ARGUMENT', member.where, nested);
  if (member.host) return hosted;
  return (strings: Strings, caller: Caller): unknown => {
    const checked = check(strings);
    return isPromise(checked) ? callAfter(checked, caller, (settled) => call(settled, caller)) : call(checked, caller);
  };
}

/** Calls a handler once its arguments have been checked, unless the request was cancelled in the meantime. */
export async function callAfter<C, R>(
  checked: PromiseLike<C>,
  { signal }: Caller,
  call: (checked: C) => R | Promise<R>,
): Promise<R> {
  const settled = await checked;
  signal.throwIfAborted();
  return await call(settled);
}

/** @throws {McpError} `invalid-params` that lists the problems */
function requireInput(checked: Checked): unknown {
  if (checked.ok) return checked.value;
  const { problems } = checked;
  const list = problems.map(({ path, expected }) => `${path || 'the arguments'} ${expected}`);
  throw new McpError('invalid-params', `Invalid arguments: ${list.join('; ')}`, { problems });
}

import { isObject, type JsonObject } from '@decorum/schema/internal';

/** A request to the client, as the specification defines it. */
export interface InputRequest {
  readonly method: 'elicitation/create' | 'sampling/createMessage' | 'roots/list';
  readonly params?: JsonObject;
}

const isOfTools = (block: unknown): boolean =>
  isObject(block) && (block['type'] === 'tool_use' || block['type'] === 'tool_result');

/** Whether a sampling request offers tools to the model, or contains tool use. */
export function usesTools({ tools, toolChoice, messages }: JsonObject): boolean {
  if (tools !== undefined || toolChoice !== undefined) return true;
  if (!Array.isArray(messages)) return false;
  return messages.some((message) => isObject(message) && [message['content']].flat().some(isOfTools));
}

/** Thrown inside a handler to end the round when an answer is missing. It is not an error: don't catch it. */
export class InputSignal extends Error {
  constructor() {
    super('The client must answer first. Rethrow this if you catch it.');
    this.name = 'InputSignal';
  }
}

/** Returned by `needInput`. A handler that returns it in place of a result runs again once the client has answered. */
export class NeedInput {
  constructor(
    readonly requests: Readonly<Record<string, InputRequest>>,
    readonly state: unknown,
  ) {}
}

/**
 * Asks the client through the handler's return value, which gives you full control over the requests. The handler runs
 * again with the unvalidated answers in `ctx.answers`, and with `state` in `ctx.state`.
 * @param requests requests by key, with parameters as in the specification
 * @param state a JSON value for the next run of the handler; `null` counts as no state
 * @example
 * ```ts
 * class Files {
 *   @Tool({ description: 'Tells where the client works' })
 *   where(_input: NoInput, ctx: Context) {
 *     if (!ctx.answers) return needInput({ roots: { method: 'roots/list' } });
 *     return ctx.answers['roots'];
 *   }
 * }
 * ```
 */
export function needInput(requests: Readonly<Record<string, InputRequest>>, state?: unknown): NeedInput {
  return new NeedInput(requests, state);
}

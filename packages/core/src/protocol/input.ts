import { isObject } from './jsonrpc.js';
import type { JsonObject } from './model.js';

/** A question in the words of the specification: what a client is sent. */
export interface InputRequest {
  readonly method: 'elicitation/create' | 'sampling/createMessage' | 'roots/list';
  readonly params?: JsonObject;
}

const isOfTools = (block: unknown): boolean =>
  isObject(block) && (block['type'] === 'tool_use' || block['type'] === 'tool_result');

/** Whether a request for sampling offers tools to the model, or tells of their use. */
export function usesTools({ tools, toolChoice, messages }: JsonObject): boolean {
  if (tools !== undefined || toolChoice !== undefined) return true;
  if (!Array.isArray(messages)) return false;
  return messages.some((message) => isObject(message) && [message['content']].flat().some(isOfTools));
}

/** Ends a round: thrown out of the handler where an answer is missing. It is no error, and not to be handled. */
export class InputSignal extends Error {
  constructor() {
    super('The client must answer first. Do not catch this; let it pass.');
    this.name = 'InputSignal';
  }
}

/** What `needInput` makes: a handler returns it in place of a result, and runs again when the client has answered. */
export class NeedInput {
  constructor(
    readonly requests: Readonly<Record<string, InputRequest>>,
    readonly state: unknown,
  ) {}
}

/**
 * Asks the client by returning, for handlers that want full control over what is sent. The handler runs again with the
 * answers in `ctx.answers`, unchecked, and with `state` in `ctx.state`.
 * @param requests questions by key, as the client gets them
 * @param state JSON; the next run of the handler finds it. `null` is as good as none.
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

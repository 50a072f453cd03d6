import type { JsonObject } from './model.js';

/** A question in the words of the specification: what a client is sent. */
export interface InputRequest {
  readonly method: 'elicitation/create' | 'sampling/createMessage' | 'roots/list';
  readonly params?: JsonObject;
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
 *
 * ```ts
 * if (!ctx.answers) return needInput({ roots: { method: 'roots/list' } });
 * ```
 *
 * @param requests questions by key, as the client gets them
 * @param state anything; the next run of the handler finds it
 */
export function needInput(requests: Readonly<Record<string, InputRequest>>, state?: unknown): NeedInput {
  return new NeedInput(requests, state);
}

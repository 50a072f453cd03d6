import type { JsonObject, RequestId } from './model.js';

/**
 * What a frame is to its reader. For a slow reader, `progress` and `log` may be dropped and a `change` waits only once;
 * everything else is needed.
 */
export type FrameKind = 'response' | 'question' | 'progress' | 'log' | 'change' | 'notice';

/** A JSON-RPC message that a transport is asked to send. */
export interface Frame {
  readonly kind: FrameKind;
  /** The message as JSON. Two changes with the same text are the same change. */
  readonly text: string;
}

const KINDS: ReadonlyMap<string, FrameKind> = new Map([
  ['notifications/progress', 'progress'],
  ['notifications/message', 'log'],
  ['notifications/resources/updated', 'change'],
  ['notifications/tools/list_changed', 'change'],
  ['notifications/prompts/list_changed', 'change'],
  ['notifications/resources/list_changed', 'change'],
]);

/** A notification; its kind follows from its method. */
export function notificationFrame(method: string, params: JsonObject): Frame {
  return { kind: KINDS.get(method) ?? 'notice', text: JSON.stringify({ jsonrpc: '2.0', method, params }) };
}

/** A request that the server sends. */
export function questionFrame(id: RequestId, method: string, params: JsonObject): Frame {
  return { kind: 'question', text: JSON.stringify({ jsonrpc: '2.0', id, method, params }) };
}

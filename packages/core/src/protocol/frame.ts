import { type JsonObject, requireFinite } from '@decorum/schema/internal';

import type { RequestId } from './model.js';

/**
 * How to treat a frame if the reader is slow: `progress` and `log` may be dropped, a repeated `change` is coalesced,
 * and everything else must arrive.
 */
export type FrameKind = 'response' | 'question' | 'progress' | 'log' | 'change' | 'notice';

/** A JSON-RPC message for a transport to send. */
export interface Frame {
  readonly kind: FrameKind;
  /** The message as JSON. Changes with equal JSON are coalesced. */
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

/** Creates a notification. The method determines its kind. */
export function notificationFrame(method: string, params: JsonObject): Frame {
  return { kind: KINDS.get(method) ?? 'notice', text: JSON.stringify({ jsonrpc: '2.0', method, params }) };
}

/** Creates a request from the server. */
export function questionFrame(id: RequestId, method: string, params: JsonObject): Frame {
  const text = JSON.stringify({ jsonrpc: '2.0', id, method, params });
  requireFinite(params, text);
  return { kind: 'question', text };
}

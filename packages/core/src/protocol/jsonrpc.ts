import { McpError } from './errors.js';
import type { JsonObject, RequestId } from './model.js';

/** A JSON-RPC request (JSON-RPC 2.0, section 4). */
export interface JsonRpcRequest {
  readonly jsonrpc: '2.0';
  readonly id: RequestId;
  readonly method: string;
  readonly params?: JsonObject;
}

/** A JSON-RPC notification: a request that wants no answer. */
export interface JsonRpcNotification {
  readonly jsonrpc: '2.0';
  readonly method: string;
  readonly params?: JsonObject;
}

/** A JSON-RPC response (JSON-RPC 2.0, section 5). */
export interface JsonRpcResponse {
  readonly jsonrpc: '2.0';
  readonly id?: RequestId;
  readonly result?: JsonObject;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** Anything that may travel in either direction, once `checkMessage` has passed it. */
export type JsonRpcMessage = JsonRpcRequest | JsonRpcNotification | JsonRpcResponse;

/** A result that was written as JSON ahead of time. */
export class SerializedResult {
  /** @param json the text of the whole `result` member */
  constructor(readonly json: string) {}
}

/** The text of a response that carries a result. */
export function resultFrame(id: RequestId, result: object): string {
  const json = result instanceof SerializedResult ? result.json : JSON.stringify(result);
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${json}}`;
}

/** The text of a response that carries an error; without `id`, or with null, where the request's could not be read. */
export function errorFrame(
  id: RequestId | null | undefined,
  error: { code: number; message: string; data?: unknown },
): string {
  const { code, message, data } = error;
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, data } });
}

/** The text of a notification. */
export function notificationFrame(method: string, params?: JsonObject): string {
  return JSON.stringify({ jsonrpc: '2.0', method, params });
}

/** The text of a request that the server sends. */
export function requestFrame(id: RequestId, method: string, params?: JsonObject): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params });
}

/**
 * Reads one message from its text.
 * @throws {McpError} `parse-error`
 */
export function parseMessage(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new McpError('parse-error', 'The message is not JSON.');
  }
}

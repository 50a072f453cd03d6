// Messages of both eras, with the headers of those without a session.
import type { JsonObject } from '@decorum/core';

export type Fields = Record<string, string>;

export const request = (id: number | string, method: string, params?: JsonObject) => ({
  jsonrpc: '2.0',
  id,
  method,
  ...(params && { params }),
});

export const call = (id: number | string, name: string, args: JsonObject = {}, meta?: JsonObject) =>
  request(id, 'tools/call', { name, arguments: args, ...(meta && { _meta: meta }) });

/** Cancels a request of a session. */
export const cancelOf = (requestId: number | string) => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId },
});

export const INITIALIZED = { jsonrpc: '2.0', method: 'notifications/initialized' };

export const initialize = (protocolVersion: string) =>
  request(0, 'initialize', {
    protocolVersion,
    capabilities: { elicitation: {} },
    clientInfo: { name: 'test', version: '1.0.0' },
  });

export const INITIALIZE = initialize('2025-11-25');

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** Requests progress notifications. */
export const TOKEN = { progressToken: 1 };

/** Arguments of the tool `add`, whose result is `3`. */
export const SUM = { a: 1, b: 2 };

/** A stateless request. */
export function modern(id: number | string, method: string, params: JsonObject = {}, meta: JsonObject = {}) {
  return request(id, method, { ...params, _meta: { ...META, ...meta } });
}

export const modernCall = (id: number | string, name: string, args: JsonObject = {}, meta: JsonObject = {}) =>
  modern(id, 'tools/call', { name, arguments: args }, meta);

/** The headers of a stateless request. */
export function modernHeaders(method: string, name?: string): Fields {
  const version = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method };
  return name === undefined ? version : { ...version, 'mcp-name': name };
}

/** A stateless call, and its headers. */
export const calling = (name: string, args: JsonObject = {}, meta: JsonObject = {}) =>
  [modernCall(1, name, args, meta), modernHeaders('tools/call', name)] as const;

export const ADD = calling('add', SUM);
export const WAIT = calling('wait');

export interface JsonAnswer {
  readonly id?: unknown;
  readonly result?: Record<string, unknown> & { content?: { text: string }[]; isError?: boolean };
  readonly error?: { code: number; message: string; data?: Record<string, unknown> };
}

export async function json(response: Response): Promise<JsonAnswer> {
  return (await response.json()) as JsonAnswer;
}

import { textAt } from './json-text.js';

/** A JSON-RPC message, or a part of one. */
export type Json = Readonly<Record<string, unknown>>;

/** A JSON-RPC id. */
export type Id = string | number;

/** Whether a value is a JSON object. */
export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A message, or a batch of them. */
export type Message = Json | readonly Json[];

/** A message and its text. The text is what is passed on, because parsing loses the digits of large numbers. */
export interface Written<M = Message> {
  readonly message: M;
  readonly text: string;
}

const isJsonRpc = (value: Json): boolean => value['jsonrpc'] === '2.0';

/** Parses a message or a batch; undefined if the text is neither. */
export function parse(text: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(text);
    // one invalid message doesn't make a batch an array of something else
    if (Array.isArray(value)) return value.every(isJson) && value.some(isJsonRpc) ? value : undefined;
    return isJson(value) && isJsonRpc(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The messages of a batch, or the only one. */
export function messagesOf({ message, text }: Written): Written<Json>[] {
  if (isJson(message)) return [{ message, text }];
  return (message as readonly Json[]).map((each, index) => ({
    message: each,
    text: textAt(text, [String(index)]) ?? '',
  }));
}

/** Whether there is one message, not a batch. */
export const isSingle = (written: Written): written is Written<Json> => isJson(written.message);

/** Whether a value is an id that a response can repeat: others are rejected without one. */
const isId = (id: unknown): boolean => typeof id === 'string' || Number.isSafeInteger(id);

/** Whether a message expects a response. */
export const isRequest = ({ id, method }: Json): boolean => typeof method === 'string' && isId(id);
/** Whether a message is a response. */
export const isResponse = ({ id, method }: Json): boolean => method === undefined && id !== undefined;

/** The params of a message; empty if it has none. */
export const paramsOf = ({ params }: Json): Json => (isJson(params) ? params : {});

/** A map key for an id. Different ids have different keys: `1` is not `"1"`. */
export const keyOf = (id: unknown): string => JSON.stringify(id);

/** A request. */
export const request = (id: Id, method: string, params: Json = {}): Json => ({ jsonrpc: '2.0', id, method, params });

/** A notification. */
export const notification = (method: string, params: Json = {}): Json => ({ jsonrpc: '2.0', method, params });

/** The response to a request that no program answers. */
export const failure = (id: unknown, message: string): Json => ({
  jsonrpc: '2.0',
  id,
  error: { code: -32_603, message },
});

/** The response to a request whose program has ended. */
export const endedFailure = (id: unknown, reason: string): Json => failure(id, `The program has ended: ${reason}.`);

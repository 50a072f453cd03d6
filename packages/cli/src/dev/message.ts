/** A JSON-RPC message, or a part of one. */
export type Json = Readonly<Record<string, unknown>>;

/** A JSON-RPC id. */
export type Id = string | number;

/** Whether a value is a JSON object. */
export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Parses a message or a batch; undefined if the text is neither. */
export function parse(text: string): Json | readonly Json[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value)) return value.length > 0 && value.every(isJson) ? value : undefined;
    return isJson(value) && value['jsonrpc'] === '2.0' ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a message expects a response. */
export const isRequest = ({ id, method }: Json): boolean => typeof method === 'string' && id !== undefined;
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

/** The response to a request that the program can't answer. */
export const failure = (id: unknown, message: string): Json => ({
  jsonrpc: '2.0',
  id,
  error: { code: -32_603, message },
});

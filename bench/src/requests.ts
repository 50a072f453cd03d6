import { type Call, CLIENT, idOf, META, SESSION_REVISION, STATELESS_REVISION, type Style } from './calls.js';

/** A session and its negotiated revision. */
export interface Session {
  readonly id: string;
  readonly revision: string;
}

/** A made-up session for requests to the bare route, which ignores it. */
export const NO_SESSION: Session = { id: '00000000-0000-4000-8000-000000000000', revision: SESSION_REVISION };

/** The parts of a request. */
export interface RequestParts {
  readonly call: Call;
  readonly style: Style;
  /** The session, in style `session`. */
  readonly session?: Session;
  readonly client: number;
  /** Access token. */
  readonly token?: string | undefined;
}

/** The JSON-RPC request of a call. */
export function bodyOf({ call, style, client }: RequestParts): string {
  const params = call.params(client);
  const meta = style === 'stateless' ? { _meta: { ...META, ...(params['_meta'] as object | undefined) } } : {};
  return JSON.stringify({ jsonrpc: '2.0', id: idOf(client), method: call.method, params: { ...params, ...meta } });
}

/** The headers of a call, without those that HTTP itself needs. */
export function headersOf(parts: RequestParts): Record<string, string> {
  const { call, style, session = NO_SESSION, client, token } = parts;
  const json = { 'Content-Type': 'application/json', ...(token !== undefined && { Authorization: `Bearer ${token}` }) };
  if (style === 'plain') return json;
  const { name } = call.params(client);
  const mcp =
    style === 'session'
      ? { 'MCP-Protocol-Version': session.revision, 'Mcp-Session-Id': session.id }
      : {
          'MCP-Protocol-Version': STATELESS_REVISION,
          'Mcp-Method': call.method,
          ...(name !== undefined && { 'Mcp-Name': name }),
        };
  return { ...json, Accept: 'application/json, text/event-stream', ...mcp };
}

/** A complete HTTP request, ready to write to a socket. */
export function requestOf(url: URL, parts: RequestParts): Buffer {
  const body = bodyOf(parts);
  const headers = { Host: url.host, ...headersOf(parts), 'Content-Length': String(Buffer.byteLength(body)) };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`POST ${url.pathname} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
}

/** A function that sends a request: `fetch`, or a handler in this process. */
export type Fetch = (request: Request) => Promise<Response>;

/** Starts a session with `initialize` and `notifications/initialized`. */
export async function openSession(url: URL | string, send: Fetch = fetch): Promise<Session> {
  const params = { protocolVersion: SESSION_REVISION, capabilities: {}, clientInfo: CLIENT };
  const { headers, text } = await post(url, send, { body: { jsonrpc: '2.0', id: 1, method: 'initialize', params } });
  const id = headers.get('mcp-session-id');
  const revision = /"protocolVersion":"([^"]+)"/.exec(text)?.[1];
  if (id === null || revision === undefined) throw new Error(`initialize started no session: ${text}`);
  const session = { id, revision };
  await post(url, send, { body: { jsonrpc: '2.0', method: 'notifications/initialized' }, session });
  return session;
}

/** Ends a session. */
export async function closeSession(url: URL, session: Session): Promise<void> {
  await fetch(url, { method: 'DELETE', headers: sessionHeaders(session) });
}

/** The headers of a request in a session. */
export const sessionHeaders = ({ id, revision }: Session): Record<string, string> => ({
  'mcp-session-id': id,
  'mcp-protocol-version': revision,
});

async function post(
  url: URL | string,
  send: Fetch,
  { body, session }: { readonly body: object; readonly session?: Session },
): Promise<{ readonly headers: Headers; readonly text: string }> {
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(session && sessionHeaders(session)),
  };
  const message = JSON.stringify(body);
  const response = await send(new Request(url, { method: 'POST', headers, body: message }));
  const text = await response.text();
  if (!response.ok) throw new Error(`${message.slice(0, 100)} got status ${response.status}: ${text}`);
  return { headers: response.headers, text };
}

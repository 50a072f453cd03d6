/** The two ways of living with a server: with a session, or each request for itself. */
export type Era = 'session' | 'stateless';

/** The tools whose calls are measured. */
export type ToolName = 'add' | 'echo';

/** One request of a client, and how to tell the right answer. */
export interface PreparedCall {
  readonly request: Buffer;
  /** @throws {Error} when the body is not the answer to the request */
  verify(body: string): void;
}

/** What a call is made of. */
export interface CallOptions {
  readonly url: URL;
  readonly era: Era;
  readonly tool: ToolName;
  /** In the session era. */
  readonly session: string;
  /** Tells calls of several clients apart: it is in the id and in the arguments. */
  readonly client: number;
}

const SESSION_REVISION = '2025-11-25';
const STATELESS_REVISION = '2026-07-28';
const CLIENT = { name: 'bench-load', version: '1.0.0' };
const META = {
  'io.modelcontextprotocol/protocolVersion': STATELESS_REVISION,
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': CLIENT,
};
const ORDER_LINES = 50;

function argumentsOf(tool: ToolName, client: number): Record<string, unknown> {
  if (tool === 'add') return { a: client, b: 1000 };
  return {
    id: `order-${1000 + client}`,
    createdAt: '2026-11-21T10:00:00.000Z',
    status: 'paid',
    priority: 2,
    gift: false,
    note: 'Leave it with the neighbour, please.',
    currency: 'EUR',
    total: 1234.5,
    tags: ['books', 'fragile', 'returning'],
    customer: { name: 'Ada Lovelace', email: 'ada@example.com', age: 36 },
    address: { street: 'St James Square 12', city: 'London', zip: 'SW1Y 4JH', country: 'GB' },
    items: Array.from({ length: ORDER_LINES }, (_, line) => ({
      sku: `SKU-${10_000 + line}`,
      qty: 1 + (line % 5),
      price: 9.5 + line,
      name: `Volume ${line} of the collected notes`,
    })),
  };
}

/** Writes one `tools/call`, ready for the socket. */
export function prepareCall({ url, era, tool, session, client }: CallOptions): PreparedCall {
  const args = argumentsOf(tool, client);
  const id = 1000 + client;
  const meta = era === 'stateless' ? { _meta: META } : {};
  const message = { jsonrpc: '2.0', id, method: 'tools/call', params: { name: tool, arguments: args, ...meta } };
  const body = JSON.stringify(message);
  const lines = [
    `POST ${url.pathname} HTTP/1.1`,
    `Host: ${url.host}`,
    'Content-Type: application/json',
    'Accept: application/json, text/event-stream',
    ...headersOf(era, tool, session),
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  return {
    request: Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`),
    verify: (answer) => verify(answer, { id, tool, args }),
  };
}

function headersOf(era: Era, tool: ToolName, session: string): string[] {
  if (era === 'session') return [`MCP-Protocol-Version: ${SESSION_REVISION}`, `Mcp-Session-Id: ${session}`];
  return [`MCP-Protocol-Version: ${STATELESS_REVISION}`, 'Mcp-Method: tools/call', `Mcp-Name: ${tool}`];
}

interface Expected {
  readonly id: number;
  readonly tool: ToolName;
  readonly args: Record<string, unknown>;
}

interface Answer {
  readonly id?: unknown;
  readonly result?: {
    readonly content?: readonly { readonly text?: string }[];
    readonly structuredContent?: { readonly sum?: number };
  };
}

function verify(answer: string, { id, tool, args }: Expected): void {
  const { id: answered, result } = JSON.parse(answer) as Answer;
  const text = result?.content?.[0]?.text ?? 'null';
  const sum = Number(args['a']) + Number(args['b']);
  const right =
    tool === 'add'
      ? text === String(sum) && result?.structuredContent?.sum === sum
      : // the order of the members is the server's choice
        sorted(JSON.parse(text)) === sorted(args);
  if (answered !== id || !right) throw new Error(`wrong answer to ${tool} ${id}: ${answer.slice(0, 300)}`);
}

function sorted(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}

/** Begins a session: `initialize`, then `notifications/initialized`. Gives its id. */
export async function openSession(url: URL): Promise<string> {
  const params = { protocolVersion: SESSION_REVISION, capabilities: {}, clientInfo: CLIENT };
  const { headers } = await post(url, { jsonrpc: '2.0', id: 1, method: 'initialize', params });
  const id = headers.get('mcp-session-id');
  if (id === null) throw new Error('initialize gave no Mcp-Session-Id');
  await post(url, { jsonrpc: '2.0', method: 'notifications/initialized' }, sessionHeaders(id));
  return id;
}

/** Ends a session. */
export async function closeSession(url: URL, session: string): Promise<void> {
  await fetch(url, { method: 'DELETE', headers: sessionHeaders(session) });
}

/** Asks for the input schemas of all tools, by name. */
export async function inputSchemas(url: URL): Promise<Record<string, object>> {
  const session = await openSession(url);
  const { text } = await post(url, { jsonrpc: '2.0', id: 2, method: 'tools/list' }, sessionHeaders(session));
  await closeSession(url, session);
  const { result } = JSON.parse(text) as { result: { tools: { name: string; inputSchema: object }[] } };
  return Object.fromEntries(result.tools.map(({ name, inputSchema }) => [name, inputSchema]));
}

const sessionHeaders = (session: string) => ({
  'mcp-session-id': session,
  'mcp-protocol-version': SESSION_REVISION,
});

interface Posted {
  readonly headers: Headers;
  readonly text: string;
}

async function post(url: URL, message: object, session: Record<string, string> = {}): Promise<Posted> {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...session };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(message) });
  const text = await response.text();
  if (!response.ok)
    throw new Error(`${JSON.stringify(message).slice(0, 100)} was answered ${response.status}: ${text}`);
  return { headers: response.headers, text };
}

import { Agent, type IncomingMessage, request } from 'node:http';

/** A request to send. */
export interface Sent {
  readonly method?: string;
  /** Appended to the path of the URL. */
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** Called with each message of an event stream. */
  readonly onMessage?: (message: Message) => void;
  /** Whether to disconnect after the response headers, because the stream would stay open. */
  readonly leaves?: boolean;
}

/** A JSON-RPC message from the server. */
export interface Message {
  readonly id?: string | number;
  readonly method?: string;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number };
}

/** A response, possibly incomplete. */
export interface Received {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

const JSON_HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
export const SESSION_REVISION = '2025-11-25';
export const STATELESS_REVISION = '2026-07-28';
const ABILITIES = { elicitation: {}, sampling: {}, roots: {} };
export const META = {
  'io.modelcontextprotocol/protocolVersion': STATELESS_REVISION,
  'io.modelcontextprotocol/clientCapabilities': ABILITIES,
};

/** The message that starts a session. */
export const INITIALIZE = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: {
    protocolVersion: SESSION_REVISION,
    capabilities: ABILITIES,
    clientInfo: { name: 'prices', version: '1.0.0' },
  },
};

/** A client that can send anything, over keep-alive connections. */
export class Client {
  private readonly agent = new Agent({ keepAlive: true });

  constructor(readonly url: string) {}

  /** Sends a request, and reads the response to its end. Rejects if the connection breaks. */
  send(message: Sent): Promise<Received> {
    const { method = 'POST', query = '', headers = JSON_HEADERS, body, onMessage, leaves } = message;
    return new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
      const options = { method, headers: { ...headers, ...length }, agent: this.agent };
      const sent = request(this.url + query, options, (response) => {
        let text = '';
        let read = 0;
        const finish = () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
          if (onMessage) read = readEvents(text, read, onMessage);
        });
        response.on('end', finish).on('error', reject);
        if (!leaves) return;
        finish();
        sent.destroy();
      });
      sent.on('error', (error: NodeJS.ErrnoException) => {
        // the server closes idle connections, and may just have closed this one
        if (sent.reusedSocket && error.code === 'ECONNRESET') resolve(this.send(message));
        else reject(error);
      });
      sent.end(body);
    });
  }

  /** Starts a session, and returns the headers for its requests. */
  async session(revision = SESSION_REVISION): Promise<Record<string, string>> {
    const body = JSON.stringify({ ...INITIALIZE, params: { ...INITIALIZE.params, protocolVersion: revision } });
    const { headers, status } = await this.send({ body });
    const id = headers['mcp-session-id'];
    if (typeof id !== 'string') throw new Error(`initialize got status ${status} and no session.`);
    const session = { ...JSON_HEADERS, 'mcp-session-id': id, 'mcp-protocol-version': revision };
    await this.send({
      headers: session,
      body: JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }),
    });
    return session;
  }

  close(): void {
    this.agent.destroy();
  }
}

/** Reads the events that have arrived completely, and returns where the next one begins. */
function readEvents(text: string, from: number, onMessage: (message: Message) => void): number {
  let begin = from;
  // a message ends with an empty line
  for (let end = text.indexOf('\n\n', begin); end !== -1; end = text.indexOf('\n\n', begin)) {
    const data = /^data: (\{.*\})$/m.exec(text.slice(begin, end))?.[1];
    if (data !== undefined) onMessage(JSON.parse(data) as Message);
    begin = end + 2;
  }
  return begin;
}

/** The headers and body of a stateless request. */
export function stateless(
  method: string,
  params: Readonly<Record<string, unknown>>,
): { headers: Record<string, string>; body: string } {
  const subject = params['name'] ?? params['uri'];
  return {
    headers: {
      ...JSON_HEADERS,
      'mcp-protocol-version': STATELESS_REVISION,
      'mcp-method': method,
      ...(typeof subject === 'string' && { 'mcp-name': inHeader(subject) }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { _meta: META, ...params } }),
  };
}

/** Encodes text for a header. */
function inHeader(text: string): string {
  return /^[\x21-\x7e]{1,8000}$/.test(text)
    ? text
    : `=?base64?${Buffer.from(text).toString('base64').slice(0, 8000)}?=`;
}

/** An ordinary call. */
export const CALL = stateless('tools/call', { name: 'texts', arguments: { date: '2026-01-31' } });

import type { McpServer } from '@decorum/core';
import { type Auth, type HttpOptions } from '@decorum/http';
import { fetchHandler } from '@decorum/http/fetch';

/** The revision whose requests have no sessions. */
export const STATELESS = '2026-07-28';

/** What a request has besides its method and params. */
export interface Sent {
  readonly revision?: string;
  /** The subject and the scopes of the caller, such as `ann orders`. */
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly meta?: object;
  /** Sends requests with these params together. */
  readonly batch?: readonly object[];
}

/** What a server answers over HTTP. */
export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly challenge: string | null;
  readonly result: Record<string, unknown> | undefined;
  readonly error: { readonly code: number; readonly message: string } | undefined;
}

/** Credentials are a subject and scopes. */
export const AUTH: Auth = {
  authenticate({ authorizations: [given] }) {
    const [subject, ...scopes] = given?.split(' ') ?? [];
    return subject === undefined ? undefined : { subject, scopes };
  },
};

/** Serves a server over HTTP without sessions, and returns what sends requests to it. */
export async function senderTo(server: McpServer, options: Partial<HttpOptions<Request>> = {}) {
  const handler = fetchHandler(server, { allowedHosts: ['mcp.example.com'], sessions: false, ...options });
  await handler.ready;
  return async (method: string, params: object = {}, sent: Sent = {}): Promise<Answer> => {
    const { revision = STATELESS, token, headers = {}, meta = {}, batch } = sent;
    const { name } = params as { name?: string };
    const isStateless = revision === STATELESS;
    const whole = {
      ...meta,
      ...(isStateless && {
        'io.modelcontextprotocol/protocolVersion': revision,
        'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1.0.0' },
        'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
      }),
    };
    const message = (each: object, id: number) => ({ jsonrpc: '2.0', id, method, params: { ...each, _meta: whole } });
    const response = await handler(
      new Request('https://mcp.example.com/mcp', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': revision,
          ...(isStateless && { 'mcp-method': method, ...(name !== undefined && { 'mcp-name': name }) }),
          ...(token !== undefined && { authorization: token }),
          ...headers,
        },
        body: JSON.stringify(batch?.map(message) ?? message(params, 0)),
      }),
    );
    const text = await response.text();
    const data = text.startsWith('{') ? text : (/^data: (\{.*)$/m.exec(text)?.[1] ?? '{}');
    const { result, error } = JSON.parse(data) as Pick<Answer, 'result' | 'error'>;
    return { status: response.status, text, challenge: response.headers.get('www-authenticate'), result, error };
  };
}

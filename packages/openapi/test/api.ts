import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { McpServer } from '@decorum/core';
import { openapi, type OpenApiOptions } from '@decorum/openapi';
import { connect } from '@decorum/testing';

/** A request that an API has received. */
export interface Received {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** What an API answers. */
export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Takes over the answer to a request. */
export type Responder = (received: Received, response: ServerResponse) => Answer | void;

/** An HTTP API that records what it receives. */
export interface Api extends AsyncDisposable {
  readonly url: string;
  readonly received: Received[];
}

const open: (() => Promise<void>)[] = [];

/** Closes the APIs and clients of a test. */
export async function closeAll(): Promise<void> {
  for (const close of open.splice(0).toReversed()) await close();
}

/** Starts an API. */
export async function startApi(respond: Responder = () => ({ body: { ok: true } })): Promise<Api> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method, url, headers } = request;
      const got = { method, url, headers, body: Buffer.concat(chunks).toString('latin1') };
      received.push(got);
      const answer = respond(got, response);
      if (answer === undefined) return;
      const { status = 200, headers: extra = {}, body } = answer;
      const isRaw = typeof body === 'string' || body instanceof Uint8Array;
      response.writeHead(status, { ...(!isRaw && { 'content-type': 'application/json' }), ...extra });
      response.end(body === undefined || isRaw ? body : JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  open.push(close);
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, received, [Symbol.asyncDispose]: close };
}

/** A document with these paths. */
export const documentOf = (paths: object, more: object = {}): object => ({
  openapi: '3.1.0',
  info: { title: 'Test', version: '1.0.0' },
  paths,
  ...more,
});

/** A document with one operation, `GET /things` unless told otherwise. */
export const operationOf = (operation: object, path = '/things', method = 'get'): object =>
  documentOf({ [path]: { [method]: { operationId: 'op', responses: { 200: { description: 'OK' } }, ...operation } } });

/** A client of a server with the operations of a document. */
export async function serve(
  document: string | URL | object,
  options: OpenApiOptions,
  how: Parameters<typeof connect>[1] = {},
): ReturnType<typeof connect> {
  const providers = [await openapi(document, options)];
  const client = await connect(new McpServer({ name: 'test', version: '1.0.0', providers }), how);
  open.push(async () => await client.close());
  return client;
}

/** Calls the operation of a document, and returns what the API has received. */
export async function requestFor(document: object, args: object = {}, options: Partial<OpenApiOptions> = {}) {
  const api = await startApi();
  const client = await serve(document, { baseUrl: api.url, validate: false, ...options });
  const result = await client.callTool('op', args as Record<string, unknown>);
  return { result, request: api.received[0], api };
}

/** The text of a result. */
export const textOf = ({ content }: { readonly content: readonly unknown[] }): string =>
  content.map((block) => (block as { readonly text?: string }).text ?? '').join('\n');

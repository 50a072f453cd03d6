// What HTTP tests of a revision send and look at: whole requests and whole responses, with nothing hidden.
import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';

import type { JsonObject } from '@decorum/core';

import { EventReader, type ServerEvent } from '../../packages/http/test/events.js';
import { afterwards, call, type Fields, modern, post, request } from '../../packages/http/test/fixture.js';
import { statelessHeaders } from '../support/http-transports.js';
import type { Message } from '../support/raw-client.js';
import { type Revision, STATELESS } from '../support/requirements.js';

/** Asks for progress. */
export const TOKEN = { progressToken: 'token' };

/** Arguments of the tool `add`, which answers `3`. */
export const ADD = { a: 1, b: 2 };

/** Bodies that are no message, and the code of the error that tells why. */
export const MALFORMED = [
  ['{bad', -32700],
  ['', -32700],
  // not UTF-8
  [Buffer.from('{"jsonrpc":"2.0","method":"\xff"}', 'latin1'), -32700],
  ['1', -32600],
  ['null', -32600],
  ['{"jsonrpc":"2.0"}', -32600],
  ['{"jsonrpc":"1.0","method":"x"}', -32600],
  ['{"jsonrpc":"2.0","method":"x","params":[1]}', -32602],
] as const;

/** The header exists since 2025-06-18. */
const versionHeader = (revision: Revision): Fields =>
  revision >= '2025-06-18' ? { 'mcp-protocol-version': revision } : {};

/** What a client of the revision begins its session with. */
export const initialize = (revision: Revision) =>
  request('hello', 'initialize', {
    protocolVersion: revision,
    capabilities: { elicitation: {} },
    clientInfo: { name: 'http', version: '1' },
  });

/** The parts of a call beside its tool. */
interface CallOptions {
  readonly args?: JsonObject;
  readonly meta?: JsonObject;
  readonly headers?: Fields;
  readonly signal?: AbortSignal;
}

/** A client of Streamable HTTP in one revision. */
export class HttpClient {
  private constructor(
    readonly url: string,
    readonly revision: Revision,
    /** Those that come with everything it sends. */
    readonly headers: Fields,
  ) {}

  /** Connects; shakes hands where there are sessions. */
  static async open(url: string, revision: Revision, headers: Fields = {}): Promise<HttpClient> {
    if (revision === STATELESS) return new HttpClient(url, revision, { ...headers, ...versionHeader(revision) });
    const response = await post(url, initialize(revision), headers);
    const id = response.headers.get('mcp-session-id');
    if (response.status !== 200 || id === null) throw new Error(`${response.status} ${await response.text()}`);
    await response.text();
    const client = new HttpClient(url, revision, { ...headers, 'mcp-session-id': id, ...versionHeader(revision) });
    const ready = await client.post({ jsonrpc: '2.0', method: 'notifications/initialized' });
    if (ready.status !== 202) throw new Error(`${ready.status} ${await ready.text()}`);
    return client;
  }

  /** A client of a server that keeps no sessions. */
  static alone(url: string, revision: Revision): HttpClient {
    return new HttpClient(url, revision, versionHeader(revision));
  }

  get stateless(): boolean {
    return this.revision === STATELESS;
  }

  /** A request in the words of the revision. */
  buildMessage(id: string | number, method: string, params: JsonObject = {}): Message {
    const { _meta, ...others } = params as { _meta?: JsonObject };
    return (this.stateless ? modern(id, method, others, _meta) : request(id, method, params)) as Message;
  }

  /** The headers that the revision asks for beside a message. */
  headersOf(message: unknown): Fields {
    return { ...this.headers, ...(this.stateless && isRequest(message) && statelessHeaders(message)) };
  }

  /** Posts anything, with the headers that the revision asks for; `undefined` leaves one out. */
  async post(message: unknown, headers: Record<string, string | undefined> = {}, signal?: AbortSignal) {
    const all = Object.entries({ ...this.headersOf(message), ...headers }).filter(([, value]) => value !== undefined);
    return await post(this.url, message, Object.fromEntries(all) as Fields, signal);
  }

  /** Calls a tool. */
  async call(id: string | number, name: string, { args, meta, headers, signal }: CallOptions = {}): Promise<Response> {
    const { params } = call(id, name, args, meta);
    return await this.post(this.buildMessage(id, 'tools/call', params), headers, signal);
  }

  /** Calls a tool, and reads the events that come. */
  async stream(id: string | number, name: string, options: CallOptions = {}): Promise<EventReader> {
    const response = await this.call(id, name, { meta: TOKEN, ...options });
    const type = response.headers.get('content-type');
    if (type !== 'text/event-stream') throw new Error(`${response.status} ${type} ${await response.text()}`);
    return new EventReader(response);
  }

  /** Asks for a stream beside those of requests. */
  async get(headers: Fields = {}): Promise<Response> {
    return await fetch(this.url, { headers: { accept: 'text/event-stream', ...this.headers, ...headers } });
  }

  /** Opens a stream beside those of requests, or comes back to one that broke off after an event. */
  async listen(after?: string): Promise<EventReader> {
    const response = await this.get(after === undefined ? {} : { 'last-event-id': after });
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
    return new EventReader(response);
  }

  /** Ends the session. */
  async end(headers: Fields = {}): Promise<number> {
    const response = await fetch(this.url, { method: 'DELETE', headers: { ...this.headers, ...headers } });
    await response.text();
    return response.status;
  }

  /** Whether its session still is there. */
  async status(): Promise<number> {
    const response = await this.post(this.buildMessage('status', 'tools/list'));
    await response.text();
    return response.status;
  }
}

function isRequest(message: unknown): message is Message {
  return typeof message === 'object' && message !== null && 'method' in message && 'id' in message;
}

/** What the events carry, in order: how far a request is, or the id of the response. */
export const carried = (events: readonly ServerEvent[]) =>
  events.flatMap(({ message }) => (message ? [message.params?.['progress'] ?? message.method ?? message.id] : []));

/** A client of HTTP+SSE, which knows the URL of the stream and nothing else. */
export class SseClient {
  private constructor(
    readonly reader: EventReader,
    readonly first: ServerEvent,
    /** Where messages go. */
    readonly target: string,
    private readonly headers: Fields,
  ) {}

  /** Opens the stream. */
  static async connect(url: string, headers: Fields = {}): Promise<SseClient> {
    const response = await fetch(url, { headers: { accept: 'text/event-stream', ...headers } });
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
    const reader = new EventReader(response);
    const first = (await reader.next()) as ServerEvent;
    return new SseClient(reader, first, new URL(first.data as string, url).href, headers);
  }

  /** Shakes hands too. */
  static async open(url: string, headers: Fields = {}): Promise<SseClient> {
    const client = await SseClient.connect(url, headers);
    await client.ask(initialize('2024-11-05'));
    await client.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return client;
  }

  /** Posts anything. */
  async send(message: unknown, headers: Fields = {}): Promise<Response> {
    return await post(this.target, message, { ...this.headers, ...headers });
  }

  /** Sends a request, and gives the next message of the stream. */
  async ask(message: unknown): Promise<ServerEvent['message']> {
    const response = await this.send(message);
    if (response.status !== 202) throw new Error(`${response.status} ${await response.text()}`);
    return (await this.reader.message()).message;
  }
}

/** A request that would be served. */
export interface Door {
  readonly name: string;
  readonly url: string;
  readonly method: string;
  readonly headers: Fields;
  readonly body?: string;
  /** The status of its answer. */
  readonly served: number;
}

const JSON_TYPE = { 'content-type': 'application/json' };
const STREAM_TYPE = { accept: 'text/event-stream' };

/**
 * Every way in for the clients of a revision. That which ends a session comes last.
 * @param url of a server with HTTP+SSE
 * @param headers come with everything
 */
export async function doorsOf(url: string, revision: Revision, headers: Fields = {}): Promise<Door[]> {
  const client = await HttpClient.open(url, revision, headers);
  const message = client.buildMessage(1, 'tools/call', { name: 'add', arguments: ADD });
  const usual = { ...client.headers, ...(client.stateless && statelessHeaders(message)) };
  const posted = { method: 'POST', headers: { ...JSON_TYPE, ...usual }, body: JSON.stringify(message) };
  const preflight = { ...headers, 'access-control-request-method': 'POST' };
  const streams = client.stateless ? 405 : 200;
  return [
    { name: 'POST', url, ...posted, served: 200 },
    { name: 'OPTIONS', url, method: 'OPTIONS', headers: preflight, served: 204 },
    ...(revision === '2024-11-05' ? await oldDoorsOf(url, headers) : []),
    { name: 'GET', url, method: 'GET', headers: { ...STREAM_TYPE, ...usual }, served: streams },
    { name: 'DELETE', url, method: 'DELETE', headers: usual, served: client.stateless ? 405 : 204 },
  ];
}

async function oldDoorsOf(url: string, headers: Fields): Promise<Door[]> {
  const sse = new URL('/sse', url).href;
  const { target } = await SseClient.open(sse, headers);
  const body = JSON.stringify(call(1, 'add', ADD));
  return [
    { name: 'GET /sse', url: sse, method: 'GET', headers: { ...STREAM_TYPE, ...headers }, served: 200 },
    { name: 'POST /messages', url: target, method: 'POST', headers: { ...JSON_TYPE, ...headers }, body, served: 202 },
  ];
}

/** Goes through a door, with any headers whatever. Gives the text of refusals; streams are not waited for. */
export async function enter(door: Door, headers: Fields = {}): Promise<{ status: number; text: string }> {
  const sent = httpRequest(door.url, { method: door.method, headers: { ...door.headers, ...headers }, agent: false });
  sent.end(door.body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const status = response.statusCode as number;
  if (response.headers['content-type'] === 'text/event-stream') {
    afterwards(() => response.destroy());
    return { status, text: '' };
  }
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += chunk as string;
  return { status, text };
}

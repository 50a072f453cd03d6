// Clients for HTTP tests that expose complete requests and responses.
import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';

import type { JsonObject } from '@decorum/core';

import { EventReader, inspectors, type ServerEvent } from '../../packages/http/test/events.js';
import { afterwards, call, type Fields, modern, post, request } from '../../packages/http/test/fixture.js';
import { statelessHeaders, versionHeader } from './http-transports.js';
import type { Message } from './raw-client.js';
import { type Revision, STATELESS } from './requirements.js';
import { judge } from './schemas.js';

/** Requests progress notifications. */
export const TOKEN = { progressToken: 'token' };

/** Arguments of the tool `add`, which returns `3`. */
export const ADD = { a: 1, b: 2 };

/** Invalid bodies and their error codes. */
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

/** The `initialize` request of a revision. */
export const initialize = (revision: Revision) =>
  request('hello', 'initialize', {
    protocolVersion: revision,
    capabilities: { elicitation: {} },
    clientInfo: { name: 'http', version: '1' },
  });

/** Options of a tool call. */
interface CallOptions {
  readonly args?: JsonObject;
  readonly meta?: JsonObject;
  readonly headers?: Fields;
  readonly signal?: AbortSignal;
}

/** Validates the messages of responses with the official schema of a revision. */
class Judge {
  /** The methods of requests by id. */
  private readonly asked = new Map<unknown, string>();

  constructor(private readonly revision: Revision) {}

  /** Remembers the methods of requests. */
  note(posted: unknown): void {
    for (const message of [posted].flat()) if (isRequest(message)) this.asked.set(message.id, message.method as string);
  }

  /** @throws {Error} for an invalid message, including one in an array */
  check(received: unknown): void {
    for (const message of [received].flat() as Message[]) {
      const method = message.method === undefined ? this.asked.get(message.id) : undefined;
      const problems = judge(this.revision, message, method);
      if (problems.length > 0) throw new Error(`${problems.join('\n')}\n  in ${JSON.stringify(message)}`);
    }
  }

  /** Validates the parts of a response that the test reads, regardless of how it reads them. */
  watch(response: Response): Response {
    inspectors.set(response, (message) => this.check(message));
    const read = response.text.bind(response);
    const text = async () => {
      const body = await read();
      if (!response.headers.get('content-type')?.startsWith('application/json')) return body;
      const received = JSON.parse(body) as Message;
      // an HTTP error may have an error without an id, which older schemas don't allow
      this.check(!response.ok && received.id === undefined ? { ...received, id: 0 } : received);
      return body;
    };
    return Object.assign(response, { text, json: async () => JSON.parse(await text()) as unknown });
  }
}

/** A Streamable HTTP client of one revision. It validates every message that the test reads. */
export class HttpClient {
  private readonly checker: Judge;

  private constructor(
    readonly url: string,
    readonly revision: Revision,
    /** Headers of all requests. */
    readonly headers: Fields,
  ) {
    this.checker = new Judge(revision);
  }

  /** Connects and initializes the session, if the revision has sessions. */
  static async open(url: string, revision: Revision, headers: Fields = {}): Promise<HttpClient> {
    if (revision === STATELESS) return new HttpClient(url, revision, { ...headers, ...versionHeader(revision) });
    const response = await post(url, initialize(revision), headers);
    const id = response.headers.get('mcp-session-id');
    if (response.status !== 200 || id === null) throw new Error(`${response.status} ${await response.text()}`);
    const hello = new Judge(revision);
    hello.note(initialize(revision));
    await hello.watch(response).text();
    const client = new HttpClient(url, revision, { ...headers, 'mcp-session-id': id, ...versionHeader(revision) });
    const ready = await client.post({ jsonrpc: '2.0', method: 'notifications/initialized' });
    if (ready.status !== 202) throw new Error(`${ready.status} ${await ready.text()}`);
    return client;
  }

  /** A client for a server without sessions. */
  static alone(url: string, revision: Revision): HttpClient {
    return new HttpClient(url, revision, versionHeader(revision));
  }

  /** The same client, with its session, for another server. */
  at(url: string): HttpClient {
    return new HttpClient(url, this.revision, this.headers);
  }

  get stateless(): boolean {
    return this.revision === STATELESS;
  }

  /** A request in the format of the revision. */
  buildMessage(id: string | number, method: string, params: JsonObject = {}): Message {
    const { _meta, ...others } = params as { _meta?: JsonObject };
    return (this.stateless ? modern(id, method, others, _meta) : request(id, method, params)) as Message;
  }

  /** The headers that the revision requires for a message. */
  headersOf(message: unknown): Fields {
    return { ...this.headers, ...(this.stateless && isRequest(message) && statelessHeaders(message)) };
  }

  /** Posts a message with the required headers. Pass `undefined` to omit a header. */
  async post(message: unknown, headers: Record<string, string | undefined> = {}, signal?: AbortSignal) {
    const all = Object.entries({ ...this.headersOf(message), ...headers }).filter(([, value]) => value !== undefined);
    this.checker.note(message);
    return this.checker.watch(await post(this.url, message, Object.fromEntries(all) as Fields, signal));
  }

  /** Calls a tool. */
  async call(id: string | number, name: string, { args, meta, headers, signal }: CallOptions = {}): Promise<Response> {
    const { params } = call(id, name, args, meta);
    return await this.post(this.buildMessage(id, 'tools/call', params), headers, signal);
  }

  /** Calls a tool and reads the event stream. */
  async stream(id: string | number, name: string, options: CallOptions = {}): Promise<EventReader> {
    const response = await this.call(id, name, { meta: TOKEN, ...options });
    const type = response.headers.get('content-type');
    if (type !== 'text/event-stream') throw new Error(`${response.status} ${type} ${await response.text()}`);
    return new EventReader(response);
  }

  /** Sends a GET for a stream. */
  async get(headers: Fields = {}): Promise<Response> {
    const response = await fetch(this.url, { headers: { accept: 'text/event-stream', ...this.headers, ...headers } });
    return this.checker.watch(response);
  }

  /** Opens a GET stream, or resumes a stream after an event. */
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

  /** The HTTP status of a request in the session. */
  async status(): Promise<number> {
    const response = await this.post(this.buildMessage('status', 'tools/list'));
    await response.text();
    return response.status;
  }
}

function isRequest(message: unknown): message is Message {
  return typeof message === 'object' && message !== null && 'method' in message && 'id' in message;
}

/** The contents of events in order: progress, method or response id. */
export const carried = (events: readonly ServerEvent[]) =>
  events.flatMap(({ message }) => (message ? [message.params?.['progress'] ?? message.method ?? message.id] : []));

/** An HTTP+SSE client. It starts with only the URL of the stream. */
export class SseClient {
  private constructor(
    readonly reader: EventReader,
    readonly first: ServerEvent,
    /** URL for messages. */
    readonly target: string,
    private readonly headers: Fields,
    private readonly checker: Judge,
  ) {}

  /** Opens the stream. */
  static async connect(url: string, headers: Fields = {}, revision: Revision = '2024-11-05'): Promise<SseClient> {
    const response = await fetch(url, { headers: { accept: 'text/event-stream', ...headers } });
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
    const judging = new Judge(revision);
    const reader = new EventReader(judging.watch(response));
    const first = (await reader.next()) as ServerEvent;
    return new SseClient(reader, first, new URL(first.data as string, url).href, headers, judging);
  }

  /** Opens the stream and initializes the session. */
  static async open(url: string, headers: Fields = {}, revision: Revision = '2024-11-05'): Promise<SseClient> {
    const client = await SseClient.connect(url, headers, revision);
    await client.ask(initialize(revision));
    await client.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return client;
  }

  /** Posts a message. */
  async send(message: unknown, headers: Fields = {}): Promise<Response> {
    this.checker.note(message);
    return this.checker.watch(await post(this.target, message, { ...this.headers, ...headers }));
  }

  /** Sends a request and returns the next message of the stream. */
  async ask(message: unknown): Promise<ServerEvent['message']> {
    const response = await this.send(message);
    if (response.status !== 202) throw new Error(`${response.status} ${await response.text()}`);
    return (await this.reader.message()).message;
  }
}

/** A valid request to some entry point of the server. */
export interface Door {
  readonly name: string;
  readonly url: string;
  readonly method: string;
  readonly headers: Fields;
  readonly body?: string;
  /** HTTP status of the response. */
  readonly served: number;
}

const JSON_TYPE = { 'content-type': 'application/json' };
const STREAM_TYPE = { accept: 'text/event-stream' };

/**
 * All entry points for clients of a revision. The one that ends a session comes last.
 * @param url URL of a server with HTTP+SSE
 * @param headers sent with all requests
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

/** The response at a door. */
export interface Entered {
  readonly status: number;
  readonly challenge: string | undefined;
  /** Empty for a stream. */
  readonly text: string;
}

/** Sends the request of a door with extra headers. Returns the body of a rejection, and does not wait for streams. */
export async function enter(door: Door, headers: Fields = {}): Promise<Entered> {
  const sent = httpRequest(door.url, { method: door.method, headers: { ...door.headers, ...headers }, agent: false });
  sent.end(door.body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const status = response.statusCode as number;
  const challenge = response.headers['www-authenticate'];
  if (response.headers['content-type'] === 'text/event-stream') {
    afterwards(() => response.destroy());
    return { status, challenge, text: '' };
  }
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += chunk as string;
  return { status, challenge, text };
}

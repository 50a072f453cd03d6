// HTTP transports for clients of each revision. They do only what the revision requires.
import { setTimeout as wait } from 'node:timers/promises';

import { afterEach } from '@jest/globals';
import type { McpServer, Principal } from '@decorum/core';
import { listen, type Listening } from '@decorum/http';

import { type Posted, problemsOfBody, problemsOfHead, StreamCheck } from './http-answers.js';
import {
  type RawTransport,
  RAW_TRANSPORTS,
  type Line,
  type Message,
  type RawOptions,
  type Receiver,
} from './raw-client.js';
import { type Revision, STATELESS } from './requirements.js';

type Headers = Record<string, string>;

/** Milliseconds until a client opens a stream again. */
const COMING_BACK_MS = 20;

const LISTENING = new Map<McpServer, Promise<Listening>>();

afterEach(async () => {
  const all = [...LISTENING.values()];
  LISTENING.clear();
  await Promise.all(all.map(async (listening) => await (await listening).close()));
});

/** The endpoint of a server. All its clients share it. */
export async function endpointOf(server: McpServer): Promise<Listening> {
  let listening = LISTENING.get(server);
  if (listening === undefined) {
    listening = listen(server, { port: 0, legacySse: true, closeDeadlineMs: 50, principal: principalOf });
    LISTENING.set(server, listening);
  }
  return await listening;
}

function principalOf({ headers }: { headers: Record<string, string | string[] | undefined> }): Principal | undefined {
  const user = headers['x-user'];
  return typeof user === 'string' ? { subject: user } : undefined;
}

/** One event of a stream. */
export interface StreamEvent {
  readonly id?: string;
  readonly event?: string;
  readonly data?: string;
  readonly retry?: string;
}

/** Yields the events of a stream until it ends or the connection is lost. */
export async function* eventsOf({ body }: Response): AsyncGenerator<StreamEvent, void, void> {
  if (body === null) return;
  let rest = '';
  try {
    for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
      const blocks = (rest + chunk).split('\n\n');
      rest = blocks.pop() as string;
      for (const block of blocks) {
        const fields = block.split('\n').map((line) => [line.split(':')[0], line.replace(/^[^:]*: ?/, '')]);
        yield Object.fromEntries(fields) as StreamEvent;
      }
    }
  } catch {
    // the client has aborted the stream
  }
}

function read(text: string): Message | Message[] | undefined {
  try {
    return JSON.parse(text) as Message | Message[];
  } catch {
    return undefined;
  }
}

/** The params that name the subject of a request. */
const SUBJECTS: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};

/** The headers of one message in the stateless revision. Encodes names that aren't valid in a header. */
export function statelessHeaders({ method = '', params = {} }: Message): Headers {
  const name = params[SUBJECTS[method] ?? ''];
  const named = typeof name === 'string';
  const plain = (text: string) => /^[\x21-\x7e]+$/.test(text) && !text.startsWith('=?');
  const encoded = (text: string) => (plain(text) ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`);
  return {
    'mcp-protocol-version': STATELESS,
    'mcp-method': method,
    ...(named && { 'mcp-name': encoded(name) }),
  };
}

/** A stream that the client reads, for one request or for the messages that belong to no request. */
interface Reading {
  readonly controller: AbortController;
  /** Id of the last event received. */
  lastEventId?: string;
}

class HttpLine implements Line {
  private readonly readings = new Map<unknown, Reading>();
  /** Ids of cancelled requests. They get no answer. */
  private readonly cancelled = new Set<unknown>();
  private session: Headers = {};
  private isClosed = false;

  constructor(
    private readonly url: string,
    private readonly receive: Receiver,
    private readonly options: RawOptions,
    /** Whether it opens a stream again that ends too early. */
    private readonly comesBack = false,
  ) {}

  async send(text: string): Promise<void> {
    const message = read(text);
    const asks = [message].flat().find((each) => each?.method !== undefined && 'id' in each);
    const { method, params } = (message ?? {}) as Partial<Message>;
    if (method === 'notifications/cancelled') this.cancelled.add(params?.['requestId']);
    const posted = this.post(text, message);
    if (asks) return void posted;
    await posted;
    if (method === 'notifications/initialized') await this.open(undefined, {});
  }

  closeRequest(id: unknown): void {
    this.readings.get(id)?.controller.abort();
  }

  async resume(id: unknown, meanwhile: () => Promise<void>): Promise<void> {
    const { lastEventId, controller } = this.readings.get(id) as Reading;
    controller.abort();
    await meanwhile();
    if (lastEventId === undefined) throw new Error('The stream had no event to resume from.');
    await this.open(id, { 'last-event-id': lastEventId });
  }

  async close(): Promise<void> {
    this.isClosed = true;
    for (const { controller } of this.readings.values()) controller.abort();
    if (this.sessionId === undefined) return;
    // the test may have closed the server
    const ended = await fetch(this.url, { method: 'DELETE', headers: this.headers() }).catch(() => undefined);
    await ended?.text();
  }

  get sessionId(): string | undefined {
    return this.session['mcp-session-id'];
  }

  private headers(): Headers {
    const { principal } = this.options;
    return { ...this.session, ...(principal && { 'x-user': principal.subject }) };
  }

  private async post(text: string, message: Posted): Promise<void> {
    const single = Array.isArray(message) ? undefined : (message as Message | undefined);
    const reading: Reading = { controller: new AbortController() };
    if (single?.method !== undefined && 'id' in single) this.readings.set(single.id, reading);
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...this.headers(),
      ...(this.options.revision === STATELESS && single && statelessHeaders(single)),
    };
    const { signal } = reading.controller;
    const response = await fetch(this.url, { method: 'POST', headers, body: text, signal }).catch(() => undefined);
    if (!response) return;
    this.report(problemsOfHead(response));
    const id = response.headers.get('mcp-session-id');
    if (id !== null) this.session = { 'mcp-session-id': id, ...versionHeader(this.options.revision) };
    if (response.headers.get('content-type') === 'text/event-stream') {
      const check = new StreamCheck(message);
      return await this.follow(single?.id, response, reading, (each) => this.report(check.next(each)));
    }
    const body = await response.text().catch(() => undefined);
    if (body === undefined) return;
    const cancelled = single !== undefined && response.status === 202 && body === '' && this.cancelled.has(single.id);
    if (!cancelled) this.report(problemsOfBody(message, response.status, body));
    if (body !== '') this.receive(body);
  }

  private report(problems: readonly string[]): void {
    for (const problem of problems) this.receive.report(problem);
  }

  private async take(response: Response, reading: Reading, check = (_data: string) => {}): Promise<void> {
    for await (const event of eventsOf(response)) {
      // the rest of a chunk that arrived before the client cut the connection
      if (reading.controller.signal.aborted) return;
      if (event.id !== undefined) reading.lastEventId = event.id;
      if (!event.data) continue;
      check(event.data);
      this.receive(event.data);
    }
  }

  /** Opens a stream. `id` is undefined for the messages that belong to no request. */
  private async open(id: unknown, more: Headers): Promise<void> {
    const reading: Reading = { controller: new AbortController() };
    const { 'last-event-id': lastEventId } = more;
    if (lastEventId !== undefined) reading.lastEventId = lastEventId;
    this.readings.set(id, reading);
    const headers = { accept: 'text/event-stream', ...this.headers(), ...more };
    const response = await fetch(this.url, { headers, signal: reading.controller.signal });
    const type = response.headers.get('content-type');
    if (response.status !== 200 || type !== 'text/event-stream')
      throw new Error(`${response.status} ${type} ${await response.text()}`);
    void this.follow(id, response, reading);
  }

  private async follow(
    id: unknown,
    response: Response,
    reading: Reading,
    check = (_message: Message) => {},
  ): Promise<void> {
    let isAnswered = false;
    await this.take(response, reading, (data) => {
      for (const each of [JSON.parse(data) as Message | Message[]].flat()) {
        isAnswered ||= each.id === id && each.method === undefined;
        check(each);
      }
    });
    const { controller, lastEventId } = reading;
    if (!this.comesBack || isAnswered || (id !== undefined && lastEventId === undefined)) return;
    let isBack = false;
    while (!isBack) {
      await wait(COMING_BACK_MS);
      if (this.isClosed || controller.signal.aborted) return;
      const opened = this.open(id, lastEventId === undefined ? {} : { 'last-event-id': lastEventId });
      isBack = await opened.then(
        () => true,
        (error: Error) => error.message.startsWith('404'),
      );
    }
  }
}

/** Clients send this header as of 2025-06-18. */
export function versionHeader(revision: Revision): Headers {
  return revision >= '2025-06-18' ? { 'mcp-protocol-version': revision } : {};
}

/** Streamable HTTP. */
export const overHttp: RawTransport = async (server, receive, options) => {
  const { url } = await endpointOf(server);
  return new HttpLine(url, receive, options);
};

/** Streamable HTTP to a server in another process. It takes no server. */
export const overUrl =
  (url: URL): RawTransport =>
  async (_server, receive, options) =>
    new HttpLine(url.href, receive, options, true);

/** HTTP+SSE, for 2024-11-05 only. */
export const overHttpSse: RawTransport = async (server, receive, { principal }) => {
  const { url } = await endpointOf(server);
  const controller = new AbortController();
  const user: Headers = principal ? { 'x-user': principal.subject } : {};
  const headers = { accept: 'text/event-stream', ...user };
  const stream = await fetch(new URL('/sse', url), { headers, signal: controller.signal });
  if (stream.headers.get('content-type') !== 'text/event-stream') throw new Error(`${stream.status}`);
  const events = eventsOf(stream);
  const first = (await events.next()).value as StreamEvent;
  const target = new URL(first.data as string, new URL('/sse', url));
  void (async () => {
    for await (const { data } of events) if (data) receive(data);
  })();
  return {
    async send(text) {
      const posted = { 'content-type': 'application/json', ...user };
      const response = await fetch(target, { method: 'POST', headers: posted, body: text });
      const body = await response.text();
      // the response comes on the stream; a body that isn't a message is rejected
      if (response.status !== 202 && (response.status !== 400 || read(text) !== undefined))
        receive.report(`a message was taken with ${response.status} ${body}`);
    },
    close: () => controller.abort(),
  };
};

/** All transports of a revision. */
export function transportsOf(revision: Revision): Readonly<Record<string, RawTransport>> {
  return { ...RAW_TRANSPORTS, HTTP: overHttp, ...(revision === '2024-11-05' && { 'HTTP+SSE': overHttpSse }) };
}

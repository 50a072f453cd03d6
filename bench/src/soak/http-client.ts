import type { ClientRequest, IncomingMessage } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

import type { Call } from './call.js';
import { Client, type Identity } from './client.js';
import { type Message, type Revision, STATELESS } from './messages.js';
import { Requests } from './requests.js';
import { SseReader } from './sse.js';

/** Headers of a request. */
export type Fields = Readonly<Record<string, string>>;

/** Cap on the connections of a client. */
const SOCKETS = 16;

/** A response that the client reads: to a POST, or a stream. */
export class Reading {
  /** The id of the last event, for resuming. */
  lastEventId: string | undefined;
  /** Milliseconds after which the server wants the client to reconnect. */
  retryMs: number | undefined;
  response: IncomingMessage | undefined;
  /** Whether the client has cut the connection and gets the same events on another stream. */
  isCut = false;

  /** @param body the message, if it is a POST */
  constructor(
    readonly sent: ClientRequest,
    readonly call: Call | undefined,
    readonly body?: string,
  ) {}
}

/** A Streamable HTTP client. */
export class HttpClient extends Client {
  private readonly requests = new Requests(SOCKETS);
  /** The current response to each request. */
  private readonly readings = new Map<Call, Reading>();
  private session: Fields = {};
  protected gone = false;

  constructor(
    identity: Identity,
    readonly url: URL,
  ) {
    super(identity);
  }

  /** Opens the stream for messages that belong to no request. */
  override async listen(): Promise<void> {
    if (!this.stateless) await this.get({});
  }

  override async cancel(call: Call): Promise<void> {
    call.abandon();
    if (this.stateless) this.readings.get(call)?.sent.destroy();
    else this.notify('notifications/cancelled', { requestId: call.id });
  }

  override pause(call: Call): () => void {
    const response = this.readings.get(call)?.response;
    response?.pause();
    return () => void response?.resume();
  }

  /** Cuts the connection of a request in a session, and resumes its stream. */
  async interrupt(call: Call): Promise<void> {
    const reading = this.readings.get(call);
    const after = reading?.lastEventId;
    this.require(after !== undefined, 'a stream had no event id');
    if (reading) reading.isCut = true;
    reading?.sent.destroy();
    await this.get({ 'last-event-id': after as string }, call);
  }

  /** Posts anything, and resolves with the status, which is 0 if the server stopped reading before the end. */
  async post(body: string | Buffer, headers: Fields): Promise<number> {
    return await this.status('POST', { ...this.headers, ...headers }, body);
  }

  override async leave(): Promise<void> {
    this.gone = true;
    if (!this.stateless) {
      const status = await this.status('DELETE', this.headers);
      this.require(status === 204, `DELETE got status ${status}`);
    }
    this.cut();
  }

  protected override cut(): void {
    this.gone = true;
    this.readings.clear();
    this.requests.cut();
  }

  protected override transmit(message: Message | readonly Message[], call?: Call): void {
    this.send(JSON.stringify(message), call);
  }

  /** Posts a message. */
  protected send(body: string, call?: Call): void {
    const message = JSON.parse(body) as Message;
    const headers = { ...POSTED, ...this.headers, ...(this.stateless && call && routing(message)) };
    const sent = this.requests.send(this.url, { method: 'POST', headers });
    const reading = new Reading(sent, call, body);
    if (call) this.readings.set(call, reading);
    sent.on('error', (error) => this.broke(reading, error.message));
    sent.on('response', (response) => this.read(reading, response));
    sent.end(body);
  }

  /** Opens a stream: of an interrupted request, or of no request. */
  protected async get(headers: Fields, call?: Call): Promise<void> {
    const fields = { accept: 'text/event-stream', ...this.headers, ...headers };
    const sent = this.requests.send(this.url, { headers: fields });
    const reading = new Reading(sent, call);
    reading.lastEventId = headers['last-event-id'];
    if (call) this.readings.set(call, reading);
    await new Promise<void>((resolve) => {
      sent.on('close', resolve);
      sent.on('error', (error) => this.broke(reading, error.message));
      sent.on('response', (response) => {
        this.read(reading, response);
        resolve();
      });
      sent.end();
    });
  }

  protected async status(method: string, headers: Fields, body?: string | Buffer): Promise<number> {
    return await new Promise((resolve, reject) => {
      const sent = this.requests.send(this.url, { method, headers });
      sent.on('error', (error: NodeJS.ErrnoException) => {
        if (STOPPED.has(error.code)) resolve(0);
        else reject(error);
      });
      sent.on('response', (response) => {
        response.resume().once('close', () => resolve(response.statusCode ?? 0));
      });
      sent.end(body);
    });
  }

  protected get headers(): Fields {
    return this.session;
  }

  private read(reading: Reading, response: IncomingMessage): void {
    reading.response = response;
    const { statusCode, headers } = response;
    const id = headers['mcp-session-id'];
    if (typeof id === 'string') this.session = { 'mcp-session-id': id, ...versionHeader(this.revision) };
    const isStream = headers['content-type'] === 'text/event-stream';
    const events = new SseReader();
    let text = '';
    response.setEncoding('utf8').on('data', (chunk: string) => {
      if (isStream) for (const event of events.feed(chunk)) this.event(reading, event);
      else text += chunk;
    });
    response.on('error', () => {});
    response.once('close', () => {
      if (!response.complete) return this.broke(reading, 'was in flight when its connection closed');
      if (text !== '' && reading.call && this.accepts(reading)) this.receive(text, reading.call);
      this.finished(reading, `status ${statusCode} ${text.slice(0, 300)}`);
    });
  }

  private event(reading: Reading, { id, data, retry }: ReturnType<SseReader['feed']>[number]): void {
    if (reading.isCut) return;
    if (id !== undefined) reading.lastEventId = id;
    if (retry !== undefined) reading.retryMs = Number(retry);
    if (data !== undefined && data !== '') this.receive(data, reading.call);
  }

  /** Whether the body of a response is the answer. */
  protected accepts(_reading: Reading): boolean {
    return true;
  }

  /** Called when a response has ended properly. */
  protected finished(reading: Reading, what: string): void {
    const { call, retryMs, isCut } = reading;
    if (call === undefined) return this.checkNotification(reading, what);
    if (isCut || this.gone) return;
    this.readings.delete(call);
    if (call.state !== 'open') return;
    if (retryMs === undefined) call.lose(`got no answer in a complete response: ${what}`);
    else void this.comeBack(reading, retryMs);
  }

  /** Checks that a notification or an answer was accepted, and that a stream stays open until its session ends. */
  private checkNotification({ response, sent }: Reading, what: string): void {
    if (this.gone) return;
    if (sent.method === 'GET') this.fail(`a stream ended with ${what}`);
    else if (response?.statusCode !== 202) this.fail(`a notification or an answer got ${what}`);
  }

  private async comeBack({ call, lastEventId = '' }: Reading, retryMs: number): Promise<void> {
    await wait(retryMs);
    if (!this.gone) await this.get({ 'last-event-id': lastEventId }, call);
  }

  protected broke({ call, isCut }: Reading, problem: string): void {
    if (this.gone || isCut) return;
    if (call === undefined) return this.fail(`a stream, a notification or an answer ${problem}`);
    this.readings.delete(call);
    call.lose(problem);
  }
}

/** The errors of a client that is still sending when the server closes the connection. */
const STOPPED = new Set<string | undefined>(['EPIPE', 'ECONNRESET']);

const POSTED: Fields = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

/** Clients send this header as of 2025-06-18. */
const versionHeader = (revision: Revision): Fields =>
  revision >= '2025-06-18' ? { 'mcp-protocol-version': revision } : {};

/** The headers that mirror a request of the stateless revision. */
function routing({ method = '', params = {} }: Message): Fields {
  const name = params[method === 'resources/read' ? 'uri' : 'name'];
  const isNamed = ['tools/call', 'prompts/get', 'resources/read'].includes(method) && typeof name === 'string';
  return {
    'mcp-protocol-version': STATELESS,
    'mcp-method': method,
    ...(isNamed && { 'mcp-name': name }),
  };
}

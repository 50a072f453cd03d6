import { EventEmitter, once } from 'node:events';
import { PassThrough } from 'node:stream';

import { afterEach } from '@jest/globals';
import { connectMemory, type JsonObject, type McpServer, type Principal, serveStdio } from '@decorum/core';

import { type Revision, STATELESS } from './requirements.js';
import { judge } from './schemas.js';

/** A message as it came. */
export interface Message extends JsonObject {
  readonly jsonrpc: '2.0';
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: JsonObject;
  readonly result?: JsonObject;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: JsonObject };
}

/** Answers one kind of request of the server: with a result, or with what goes into `error`. */
export type Answer = (params: JsonObject, id: string | number) => { result: object } | { error: object } | undefined;

/** Options of a `RawClient`. */
export interface RawOptions {
  readonly revision: Revision;
  readonly capabilities?: JsonObject;
  /** By method. What has no answer here is left without one. */
  readonly answers?: Readonly<Record<string, Answer>>;
  /** Who calls; over HTTP by the header `x-user`. */
  readonly principal?: Principal;
  /** The least severe log messages to see, where each request says so. */
  readonly logLevel?: string;
  /** False: does not send `initialize`. */
  readonly begins?: boolean;
}

/** What carries text in both directions. */
export interface Line {
  /** Resolves when the server has taken the text; where a request is answered on its own, when it is sent. */
  send(text: string): void | Promise<void>;
  /** Gives up a request by closing its own stream, where it has one. */
  hangUp?(id: unknown): void;
  /** Loses the stream of a request, and comes back later for the rest of it. */
  comeBack?(id: unknown, meanwhile: () => Promise<void>): Promise<void>;
  close(): void | Promise<void>;
}

/** Opens a line to a server; each text that comes is handed to `receive`. */
export type RawTransport = (server: McpServer, receive: (text: string) => void, options: RawOptions) => Promise<Line>;

export const overMemory: RawTransport = async (server, receive, { principal }) =>
  await connectMemory(server, {
    receive: (message) => receive(JSON.stringify(message)),
    ...(principal && { principal }),
  });

export const overStdio: RawTransport = async (server, receive) => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const connection = await serveStdio(server, { input, output, drainMs: 50 });
  let rest = '';
  output.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() as string;
    for (const line of lines) receive(line);
  });
  return {
    send: (text) => void input.write(`${text}\n`),
    close: async () => {
      input.end();
      await connection.closed;
    },
  };
};

/** The transports that need no network. */
export const RAW_TRANSPORTS: Readonly<Record<'memory' | 'stdio', RawTransport>> = {
  memory: overMemory,
  stdio: overStdio,
};

const META = 'io.modelcontextprotocol/';

/** The only revision in which several messages may come at once. */
const BATCHES: Revision = '2025-03-26';

/** How often a request may be answered with questions. */
const MAX_ROUNDS = 20;

const OPEN = new Set<RawClient>();

// whatever came is judged, whether the test looked at it or not
afterEach(async () => {
  const clients = [...OPEN];
  OPEN.clear();
  await Promise.all(clients.map((client) => client.close()));
  const problems = clients.flatMap((client) => client.problems);
  if (problems.length > 0) throw new Error(`What the server sent is not in its revision:\n${problems.join('\n')}`);
});

/**
 * A client of one revision that says what it is told to, and nothing else. Every message that comes is validated by the
 * official schema of the revision, and the test fails where one does not fit.
 */
export class RawClient {
  /** What the server has asked, in either way. */
  readonly questions: { readonly method: string; readonly params: JsonObject }[] = [];
  /** Every message, in order; those of a batch one by one. */
  readonly received: Message[] = [];
  /** Every text, as it came. */
  readonly texts: string[] = [];
  /** What was wrong with what came. */
  readonly problems: string[] = [];
  private readonly arrivals = new EventEmitter().setMaxListeners(0);
  private readonly asked = new Map<unknown, string>();
  private line!: Line;
  private closed = false;
  private sent = 0;

  private constructor(readonly options: RawOptions) {}

  /** Connects, and begins the session. */
  static async connect(
    server: McpServer,
    options: RawOptions,
    transport: RawTransport = overMemory,
  ): Promise<RawClient> {
    const client = new RawClient(options);
    OPEN.add(client);
    client.line = await transport(server, (text) => client.receive(text), options);
    if (options.begins !== false && !client.stateless) await client.begin();
    return client;
  }

  get revision(): Revision {
    return this.options.revision;
  }

  /** The client belongs to no session. */
  get stateless(): boolean {
    return this.revision === STATELESS;
  }

  /** Begins the session; without one, asks what the server is. */
  async begin(): Promise<JsonObject> {
    if (this.stateless) return await this.result('server/discover');
    const { revision, capabilities = {} } = this.options;
    const hello = await this.result('initialize', { protocolVersion: revision, capabilities, clientInfo });
    await this.notify('notifications/initialized');
    return hello;
  }

  /** Sends anything, as text or as JSON. */
  async send(message: string | object): Promise<void> {
    const text = typeof message === 'string' ? message : JSON.stringify(message);
    this.note(text);
    await this.line.send(text);
  }

  /** Sends a request and gives the whole response. */
  async request(method: string, params?: JsonObject, id: string | number = `r${++this.sent}`): Promise<Message> {
    const sent = this.send(this.worded(id, method, params));
    const [response] = await Promise.all([this.response(id), sent]);
    return response;
  }

  /** A request in the words of the revision: without a session, each says who sends it. */
  worded(id: string | number, method: string, params?: JsonObject): Message {
    if (!this.stateless) return { jsonrpc: '2.0', id, method, ...(params && { params }) };
    const { revision, capabilities = {}, logLevel } = this.options;
    const envelope = {
      [`${META}protocolVersion`]: revision,
      [`${META}clientInfo`]: clientInfo,
      [`${META}clientCapabilities`]: capabilities,
      ...(logLevel !== undefined && { [`${META}logLevel`]: logLevel }),
      ...(params?.['_meta'] as JsonObject | undefined),
    };
    return { jsonrpc: '2.0', id, method, params: { ...params, _meta: envelope } };
  }

  /** The result of a request, after all questions that come in its place, as far as the client has answers. */
  async result(method: string, params?: JsonObject): Promise<JsonObject> {
    let { result, error } = await this.request(method, params);
    for (let round = 0; result?.['resultType'] === 'input_required'; round += 1) {
      if (round === MAX_ROUNDS) throw new Error(`"${method}" has asked ${MAX_ROUNDS} times.`);
      const given = this.answersTo(result);
      if (given === undefined) break;
      ({ result, error } = await this.request(method, { ...params, ...given }));
    }
    if (result === undefined) throw new Error(`"${method}" was answered with ${JSON.stringify(error)}`);
    return result;
  }

  /** The error of a request. */
  async error(method: string, params?: JsonObject): Promise<NonNullable<Message['error']>> {
    const { result, error } = await this.request(method, params);
    if (error === undefined) throw new Error(`"${method}" was answered with ${JSON.stringify(result)}`);
    return error;
  }

  /** The result of a tool. */
  async call(name: string, args?: JsonObject): Promise<JsonObject> {
    return await this.result('tools/call', { name, ...(args && { arguments: args }) });
  }

  async notify(method: string, params?: JsonObject): Promise<void> {
    await this.send({ jsonrpc: '2.0', method, ...(params && { params }) });
  }

  /** The response to a request, now or when it comes. */
  async response(id: unknown): Promise<Message> {
    return await this.find((message) => message.id === id && message.method === undefined);
  }

  /** The first message that fits, now or when it comes. */
  async find(fits: (message: Message) => boolean): Promise<Message> {
    for (;;) {
      const found = this.received.find(fits);
      if (found) return found;
      await once(this.arrivals, 'message');
    }
  }

  /** The message after the first `count`, now or when it comes. */
  async at(count: number): Promise<Message> {
    while (this.received.length <= count) await once(this.arrivals, 'message');
    return this.received[count] as Message;
  }

  /** What has come with this method. */
  of(method: string): Message[] {
    return this.received.filter((message) => message.method === method);
  }

  /** Gives a request up, as the revision does it. */
  async cancel(id: string | number, reason?: string): Promise<void> {
    if (this.stateless && this.line.hangUp) return this.line.hangUp(id);
    await this.notify('notifications/cancelled', { requestId: id, ...(reason !== undefined && { reason }) });
  }

  /** Loses the stream of a request, and comes back for the rest of it when something else has happened. */
  async comeBack(id: string | number, meanwhile: () => Promise<void>): Promise<void> {
    if (!this.line.comeBack) throw new Error('What carries this client has no streams to come back to.');
    await this.line.comeBack(id, meanwhile);
  }

  /** Resolves when everything that was sent before is done with, as far as it does not wait for something. */
  async settled(): Promise<void> {
    await this.result(this.stateless ? 'server/discover' : 'ping');
    await new Promise((resolve) => setImmediate(resolve));
  }

  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    await this.line.close();
  }

  /** Remembers which method has which id, as far as the text can be read. */
  private note(text: string): void {
    try {
      for (const { id, method } of [JSON.parse(text) as Message | Message[]].flat()) {
        if (method !== undefined) this.asked.set(id, method);
      }
    } catch {
      // what cannot be read is sent all the same
    }
  }

  private receive(text: string): void {
    this.texts.push(text);
    const parsed = JSON.parse(text) as Message | Message[];
    if (Array.isArray(parsed) && parsed.length === 0) this.problems.push('an array with nothing in it');
    if (Array.isArray(parsed) && this.revision !== BATCHES)
      this.problems.push(`${this.revision} has no arrays: ${text}`);
    for (const message of [parsed].flat()) {
      const method = message.method === undefined ? this.asked.get(message.id) : undefined;
      const wrong = judge(this.revision, message, method);
      if (wrong.length > 0) this.problems.push(`${wrong.join('\n')}\n  in ${JSON.stringify(message)}`);
      this.received.push(message);
      if (message.method !== undefined && message.id !== undefined) this.answer(message);
    }
    this.arrivals.emit('message');
  }

  private answer({ id, method, params }: Message): void {
    const answer = this.ask(method as string, params ?? {}, id as string);
    if (answer) void this.send({ jsonrpc: '2.0', id, ...answer });
  }

  private ask(method: string, params: JsonObject, id: string): ReturnType<Answer> {
    this.questions.push({ method, params });
    return this.options.answers?.[method]?.(params, id);
  }

  /** What goes into the next round; undefined where an answer is missing. */
  private answersTo({ inputRequests = {}, requestState }: JsonObject): JsonObject | undefined {
    const inputResponses: Record<string, unknown> = {};
    for (const [key, { method, params = {} }] of Object.entries(inputRequests as Record<string, Message>)) {
      const answer = this.ask(method as string, params, key);
      if (!answer || !('result' in answer)) return undefined;
      inputResponses[key] = answer.result;
    }
    return { inputResponses, ...(requestState !== undefined && { requestState }) };
  }
}

const clientInfo = { name: 'raw', version: '1' };

/** The text of the first block of a tool's result. */
export function textOf(result: JsonObject): string | undefined {
  return (result['content'] as { text?: string }[])[0]?.text;
}

import { EventEmitter, once } from 'node:events';
import { PassThrough } from 'node:stream';

import { afterEach } from '@jest/globals';
import { connectMemory, type JsonObject, type McpServer, type Principal, serveStdio } from '@decorum/core';

import { type Revision, STATELESS } from './requirements.js';
import { judge } from './schemas.js';

/** A received message. */
export interface Message extends JsonObject {
  readonly jsonrpc: '2.0';
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: JsonObject;
  readonly result?: JsonObject;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: JsonObject };
}

/** Answers one kind of server request, with a result or an error. */
export type Answer = (params: JsonObject, id: string | number) => { result: object } | { error: object } | undefined;

/** Options of a `RawClient`. */
export interface RawOptions {
  readonly revision: Revision;
  readonly capabilities?: JsonObject;
  /** Answers by method. Requests without an entry stay unanswered. */
  readonly answers?: Readonly<Record<string, Answer>>;
  /** The caller. Sent over HTTP as the header `x-user`. */
  readonly principal?: Principal;
  /** The minimum log level, for the stateless revision. */
  readonly logLevel?: string;
  /** Takes out of a message what extensions add to it, before the message is validated. */
  readonly withoutExtensions?: (message: Message) => Message;
  /** Pass `false` to connect without `initialize`. */
  readonly begins?: boolean;
}

/** A bidirectional text connection. */
export interface Line {
  /** Resolves when the server has received the text or, over HTTP, when the request is sent. */
  send(text: string): void | Promise<void>;
  /** Cancels a request by closing its stream, if it has one. */
  closeRequest?(id: unknown): void;
  /** Drops the stream of a request, and resumes it after `meanwhile`. */
  resume?(id: unknown, meanwhile: () => Promise<void>): Promise<void>;
  /** The session, over HTTP. */
  readonly sessionId?: string | undefined;
  close(): void | Promise<void>;
}

/** Receives texts from a transport. */
export interface Receiver {
  (text: string): void;
  /** Reports that the server uses the transport incorrectly, which fails the test. */
  readonly report: (problem: string) => void;
}

/** Connects to a server. Calls `receive` for each text. */
export type RawTransport = (server: McpServer, receive: Receiver, options: RawOptions) => Promise<Line>;

export const overMemory: RawTransport = async (server, receive, { principal }) =>
  await connectMemory(server, {
    receive: (message) => receive(JSON.stringify(message)),
    ...(principal && { principal }),
  });

export const overStdio: RawTransport = async (server, receive, { principal }) => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const connection = await serveStdio(server, { input, output, drainMs: 50, principal });
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

/** The transports that don't need a network. */
export const RAW_TRANSPORTS: Readonly<Record<'memory' | 'stdio', RawTransport>> = {
  memory: overMemory,
  stdio: overStdio,
};

const META = 'io.modelcontextprotocol/';

/** The only revision with batches. */
const BATCHES: Revision = '2025-03-26';

/** Cap on the rounds of questions of a request. */
const MAX_ROUNDS = 20;

const OPEN = new Set<RawClient>();

// validates all received messages, even those that the test doesn't look at
afterEach(async () => {
  const clients = [...OPEN];
  OPEN.clear();
  await Promise.all(clients.map((client) => client.close()));
  const problems = clients.flatMap((client) => client.problems);
  if (problems.length > 0) throw new Error(`The server sent invalid messages:\n${problems.join('\n')}`);
});

/**
 * A client of one revision that sends only what the test tells it to. It validates every received message with the
 * official schema of the revision, and the test fails if one is invalid.
 */
export class RawClient {
  /** The server's questions, sent as requests or in results. */
  readonly questions: { readonly method: string; readonly params: JsonObject }[] = [];
  /** All messages in order. Batches are split. */
  readonly received: Message[] = [];
  /** All received texts. */
  readonly texts: string[] = [];
  /** The problems found in received messages. */
  readonly problems: string[] = [];
  private readonly arrivals = new EventEmitter().setMaxListeners(0);
  private readonly asked = new Map<unknown, string>();
  /** How many responses may still arrive, by id. */
  private readonly due = new Map<unknown, number>();
  private line!: Line;
  private closed = false;
  private sent = 0;

  private constructor(readonly options: RawOptions) {}

  /** Connects and starts the session. */
  static async connect(
    server: McpServer,
    options: RawOptions,
    transport: RawTransport = overMemory,
  ): Promise<RawClient> {
    const client = new RawClient(options);
    OPEN.add(client);
    const report = (problem: string) => void client.problems.push(problem);
    const receive = Object.assign((text: string) => client.receive(text), { report });
    client.line = await transport(server, receive, options);
    if (options.begins !== false && !client.stateless) await client.begin();
    return client;
  }

  get revision(): Revision {
    return this.options.revision;
  }

  /** Whether the client has no session. */
  get stateless(): boolean {
    return this.revision === STATELESS;
  }

  /** Starts the session, or sends `server/discover` in the stateless revision. */
  async begin(): Promise<JsonObject> {
    if (this.stateless) return await this.result('server/discover');
    const { revision, capabilities = {} } = this.options;
    const hello = await this.result('initialize', { protocolVersion: revision, capabilities, clientInfo });
    await this.notify('notifications/initialized');
    return hello;
  }

  /** Sends a text, or an object as JSON. */
  async send(message: string | object): Promise<void> {
    const text = typeof message === 'string' ? message : JSON.stringify(message);
    this.note(text);
    await this.line.send(text);
  }

  /** Sends a request and returns the whole response. */
  async request(method: string, params?: JsonObject, id: string | number = `r${++this.sent}`): Promise<Message> {
    const sent = this.send(this.buildMessage(id, method, params));
    const [response] = await Promise.all([this.response(id), sent]);
    return response;
  }

  /** A request in the format of the revision. In the stateless revision, it includes the client info. */
  buildMessage(id: string | number, method: string, params?: JsonObject): Message {
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

  /** Sends a request and returns its result. Answers questions as long as it has answers. */
  async result(method: string, params?: JsonObject): Promise<JsonObject> {
    let { result, error } = await this.request(method, params);
    for (let round = 0; result?.['resultType'] === 'input_required'; round += 1) {
      if (round === MAX_ROUNDS) throw new Error(`"${method}" asked ${MAX_ROUNDS} times.`);
      const given = this.answersTo(result);
      if (given === undefined) break;
      ({ result, error } = await this.request(method, { ...params, ...given }));
    }
    if (result === undefined) throw new Error(`"${method}" returned the error ${JSON.stringify(error)}`);
    return result;
  }

  /** Sends a request and returns its error. */
  async error(method: string, params?: JsonObject): Promise<NonNullable<Message['error']>> {
    const { result, error } = await this.request(method, params);
    if (error === undefined) throw new Error(`"${method}" returned the result ${JSON.stringify(result)}`);
    return error;
  }

  /** Calls a tool. */
  async call(name: string, args?: JsonObject): Promise<JsonObject> {
    return await this.result('tools/call', { name, ...(args && { arguments: args }) });
  }

  async notify(method: string, params?: JsonObject): Promise<void> {
    await this.send({ jsonrpc: '2.0', method, ...(params && { params }) });
  }

  /** Waits for the response to a request. */
  async response(id: unknown): Promise<Message> {
    return await this.find((message) => message.id === id && message.method === undefined);
  }

  /** Waits for the first matching message. */
  async find(fits: (message: Message) => boolean): Promise<Message> {
    for (;;) {
      const found = this.received.find(fits);
      if (found) return found;
      await once(this.arrivals, 'message');
    }
  }

  /** Waits for the message at index `count`. */
  async at(count: number): Promise<Message> {
    while (this.received.length <= count) await once(this.arrivals, 'message');
    return this.received[count] as Message;
  }

  /** The received messages with this method. */
  of(method: string): Message[] {
    return this.received.filter((message) => message.method === method);
  }

  /** Cancels a request as the revision requires. */
  async cancel(id: string | number, reason?: string): Promise<void> {
    if (this.stateless && this.line.closeRequest) return this.line.closeRequest(id);
    await this.notify('notifications/cancelled', { requestId: id, ...(reason !== undefined && { reason }) });
  }

  /** Drops the stream of a request, and resumes it after `meanwhile`. */
  async resume(id: string | number, meanwhile: () => Promise<void>): Promise<void> {
    if (!this.line.resume) throw new Error('This transport has no streams to resume.');
    await this.line.resume(id, meanwhile);
  }

  /** Resolves when the server has handled everything sent so far, except for calls that wait for something. */
  async settled(): Promise<void> {
    await this.result(this.stateless ? 'server/discover' : 'ping');
    await new Promise((resolve) => setImmediate(resolve));
  }

  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    await this.line.close();
  }

  /** Remembers the methods of requests by id. Anything else with an id may get an error. */
  private note(text: string): void {
    try {
      for (const { id, method } of [JSON.parse(text) as Message | Message[]].flat()) {
        if (method !== undefined) this.asked.set(id, method);
        this.due.set(id, (this.due.get(id) ?? 0) + 1);
      }
    } catch {
      // tests also send invalid text
    }
  }

  private receive(text: string): void {
    this.texts.push(text);
    const parsed = JSON.parse(text) as Message | Message[];
    if (Array.isArray(parsed) && parsed.length === 0) this.problems.push('an empty array');
    if (Array.isArray(parsed) && this.revision !== BATCHES)
      this.problems.push(`${this.revision} has no arrays: ${text}`);
    for (const message of [parsed].flat()) {
      const method = message.method === undefined ? this.asked.get(message.id) : undefined;
      const wrong = judge(this.revision, this.options.withoutExtensions?.(message) ?? message, method);
      if (message.method === undefined) wrong.push(...this.settle(message.id));
      if (wrong.length > 0) this.problems.push(`${wrong.join('\n')}\n  in ${JSON.stringify(message)}`);
      this.received.push(message);
      if (message.method !== undefined && message.id !== undefined) this.answer(message);
    }
    this.arrivals.emit('message');
  }

  /** The problem with a response whose request was already answered or never sent. */
  private settle(id: Message['id']): string[] {
    // the id could not be read
    if (id === undefined || id === null) return [];
    const left = (this.due.get(id) ?? 0) - 1;
    this.due.set(id, left);
    return left < 0 ? [`an answer too many for ${JSON.stringify(id)}`] : [];
  }

  private answer({ id, method, params }: Message): void {
    const answer = this.ask(method as string, params ?? {}, id as string);
    if (answer) void this.send({ jsonrpc: '2.0', id, ...answer });
  }

  private ask(method: string, params: JsonObject, id: string): ReturnType<Answer> {
    this.questions.push({ method, params });
    return this.options.answers?.[method]?.(params, id);
  }

  /** The parameters of the next round; undefined if an answer is missing. */
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

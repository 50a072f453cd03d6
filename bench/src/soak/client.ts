import { EventEmitter, once } from 'node:events';

import { Call, LOST_MS } from './call.js';
import type { Ledger } from './ledger.js';
import {
  answerTo,
  ENVELOPE,
  excerpt,
  helloOf,
  type Members,
  type Message,
  type Revision,
  STATELESS,
} from './messages.js';

/** The id of the `subscriptions/listen` request that a notification belongs to. */
const subscriptionOf = ({ params }: Message): unknown =>
  (params?.['_meta'] as Members | undefined)?.['io.modelcontextprotocol/subscriptionId'];

/** Identity of a client. */
export interface Identity {
  /** Unique in the run. Answers to questions contain it. */
  readonly name: string;
  readonly revision: Revision;
  readonly ledger: Ledger;
}

/** A subscription. */
export interface Following {
  /** Waits for an update. */
  updated(): Promise<void>;
  end(): Promise<void>;
}

/** Options of a request. */
export interface CallOptions {
  /** Ask for progress notifications. */
  readonly progress?: boolean;
}

/** A client of one revision, over some transport. It checks that every request gets exactly one answer. */
export abstract class Client {
  readonly name: string;
  readonly revision: Revision;
  readonly ledger: Ledger;
  /** Whether the client answers questions. */
  answers = true;
  /** Number of errors without an id. Only garbage causes them. */
  unaddressed = 0;
  /** Log messages received. */
  logged = 0;
  protected readonly calls = new Map<unknown, Call>();
  /** Notifications that belong to no request. */
  private readonly pushed: Message[] = [];
  private readonly arrivals = new EventEmitter().setMaxListeners(0);
  protected last = 0;

  constructor({ name, revision, ledger }: Identity) {
    this.name = name;
    this.revision = revision;
    this.ledger = ledger;
  }

  /** Whether the client has no session. */
  get stateless(): boolean {
    return this.revision === STATELESS;
  }

  /** Opens a stream for messages that belong to no request, if the transport has such streams. */
  abstract listen(): Promise<void>;
  /** Cancels a request as the revision requires. */
  abstract cancel(call: Call): Promise<void>;
  /** Stops reading the answer to a request, and returns a function that resumes reading. */
  abstract pause(call: Call): () => void;
  /** Disconnects cleanly. */
  abstract leave(): Promise<void>;
  /** Cuts all connections. */
  protected abstract cut(): void;
  /** Sends a message or a batch. `call` is the request, or the first one of the batch. */
  protected abstract transmit(message: Message | readonly Message[], call?: Call): void;

  /** Starts the session. */
  async begin(): Promise<void> {
    if (this.stateless) {
      await this.result('server/discover');
      return;
    }
    const hello = await this.result('initialize', helloOf(this.revision));
    this.require(hello['protocolVersion'] === this.revision, `negotiated ${excerpt(hello)}`);
    this.notify('notifications/initialized');
  }

  /** Sends a request. */
  start(method: string, params: Members = {}, options: CallOptions = {}): Call {
    const call = this.open(method);
    this.transmit(this.worded(call, params, options), call);
    return call;
  }

  /** Sends a request and resolves with its response. */
  async request(method: string, params?: Members, options?: CallOptions): Promise<Message> {
    return await this.start(method, params, options).answer;
  }

  /** Sends a request and resolves with its result. */
  async result(method: string, params?: Members): Promise<Members> {
    const answer = await this.request(method, params);
    this.require(answer.result !== undefined, `${method} got ${excerpt(answer)}`);
    return answer.result ?? {};
  }

  /**
   * Sends a request, answers its questions, and repeats it until there are none. In sessions, answers them as they
   * arrive.
   */
  async ask(method: string, params: Members): Promise<Message> {
    let answer = await this.request(method, params);
    while (answer.result?.['resultType'] === 'input_required') {
      const { inputRequests, requestState } = answer.result;
      const questions = Object.entries(inputRequests as Record<string, Message>);
      const answers = questions.map(([key, question]) => [key, answerTo(question.method ?? '', this.name)]);
      answer = await this.request(method, { ...params, inputResponses: Object.fromEntries(answers), requestState });
    }
    return answer;
  }

  /** Calls a tool. */
  tool(name: string, args: Members = {}, options?: CallOptions): Call {
    return this.start('tools/call', { name, arguments: args }, options);
  }

  /** Calls a tool several times in one batch. */
  batch(name: string, argsOfEach: readonly Members[]): Call[] {
    const calls = argsOfEach.map(() => this.open('tools/call'));
    const messages = calls.map((call, at) => this.worded(call, { name, arguments: argsOfEach[at] }));
    this.transmit(messages, calls[0]);
    return calls;
  }

  notify(method: string, params?: Members): void {
    this.transmit({ jsonrpc: '2.0', method, ...(params && { params }) });
  }

  /** Subscribes to a resource. */
  async follow(uri: string): Promise<Following> {
    const updated = async (of: (message: Message) => unknown, value: () => unknown) => {
      await this.pushedNote(
        (message) => message.method === 'notifications/resources/updated' && of(message) === value(),
      );
    };
    if (!this.stateless) {
      await this.listen();
      await this.result('resources/subscribe', { uri });
      const end = async () => void (await this.result('resources/unsubscribe', { uri }));
      return {
        updated: async () =>
          await updated(
            ({ params }) => params?.['uri'],
            () => uri,
          ),
        end,
      };
    }
    const call = this.start('subscriptions/listen', { notifications: { resourceSubscriptions: [uri] } });
    const isAcknowledged = 'notifications/subscriptions/acknowledged';
    await this.pushedNote((message) => message.method === isAcknowledged && subscriptionOf(message) === call.id);
    return {
      updated: async () => await updated(subscriptionOf, () => call.id),
      end: async () => await this.cancel(call),
    };
  }

  /** Cuts all connections, and abandons all requests. */
  vanish(): void {
    for (const call of this.calls.values()) call.abandon();
    this.cut();
  }

  /** Waits for a notification that belongs to no request. */
  async pushedNote(fits: (message: Message) => boolean): Promise<Message> {
    const signal = AbortSignal.timeout(LOST_MS);
    for (;;) {
      const found = this.pushed.find(fits);
      if (found) return found;
      try {
        await once(this.arrivals, 'pushed', { signal });
      } catch {
        throw new Error(`A notification was lost. There were ${excerpt(this.pushed)}`);
      }
    }
  }

  /** Waits until this many errors without an id have arrived. */
  async unaddressedError(count: number): Promise<void> {
    const signal = AbortSignal.timeout(LOST_MS);
    while (this.unaddressed < count) await once(this.arrivals, 'unaddressed', { signal });
  }

  /** @throws {Error} if the server has done something wrong */
  require(isRight: boolean, problem: string): void {
    if (!isRight) throw new Error(problem);
  }

  /** Records that the server has done something wrong. */
  protected fail(problem: string): void {
    this.ledger.fail(this.name, problem);
  }

  /** Creates a request with a new id. */
  private open(method: string): Call {
    const call = new Call((this.last += 1), method, this);
    this.calls.set(call.id, call);
    return call;
  }

  /** The message of a request. Its id is also the progress token. */
  private worded({ id, method }: Call, params: Members, { progress = false }: CallOptions = {}): Message {
    const meta = { ...(this.stateless && ENVELOPE), ...(progress && { progressToken: id }) };
    const isPlain = Object.keys(meta).length === 0;
    return { jsonrpc: '2.0', id, method, params: isPlain ? params : { ...params, _meta: meta } };
  }

  /**
   * Handles received text.
   * @param call the request on whose own stream the text arrived, if any
   */
  protected receive(text: string, call?: Call): void {
    const parsed = JSON.parse(text) as Message | Message[];
    for (const message of Array.isArray(parsed) ? parsed : [parsed]) this.take(message, call);
  }

  /** Marks all open requests as lost, because the connection has ended without being cut. */
  protected lost(problem: string): void {
    for (const call of this.calls.values()) call.lose(problem);
  }

  private take(message: Message, call: Call | undefined): void {
    const { id, method, params } = message;
    if (method === undefined) return this.settle(message);
    if (id !== undefined && id !== null) return this.answerQuestion(message);
    if (method === 'notifications/message') this.logged += 1;
    const ofToken = method === 'notifications/progress' ? this.calls.get(params?.['progressToken']) : undefined;
    const owner = ofToken ?? call;
    if (owner && subscriptionOf(message) === undefined) return owner.note(message);
    this.pushed.push(message);
    this.arrivals.emit('pushed');
  }

  protected settle(message: Message): void {
    const { id } = message;
    if (id === undefined || id === null) {
      this.unaddressed += 1;
      this.arrivals.emit('unaddressed');
      return;
    }
    const call = this.calls.get(id);
    if (call) call.receive(message);
    else this.fail(`an answer to no request: ${excerpt(message)}`);
  }

  private answerQuestion({ id, method = '' }: Message): void {
    if (!this.answers) return;
    this.transmit({ jsonrpc: '2.0', id: id as string, result: answerTo(method, this.name) });
  }
}

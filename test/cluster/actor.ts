import { EventEmitter, once } from 'node:events';

import type { Message } from '../support/raw-client.js';

/** A notification. */
export type Note = Pick<Message, 'method' | 'params'>;

/** The notifications that a client has received. */
export class Notes {
  private readonly all: Note[] = [];
  private readonly arrivals = new EventEmitter().setMaxListeners(0);

  add(note: Note): void {
    this.all.push(note);
    this.arrivals.emit('note');
  }

  /** How many have this method. */
  count(method: string): number {
    return this.all.filter((note) => note.method === method).length;
  }

  /** Waits until this many have the method. */
  async reach(method: string, count: number): Promise<void> {
    await this.until(() => this.count(method) >= count);
  }

  /** Waits for something that notifications bring about. */
  async until(isTrue: () => boolean): Promise<void> {
    while (!isTrue()) await once(this.arrivals, 'note');
  }

  /** Waits for an update of a resource. */
  async updated(uri: string): Promise<void> {
    const isUpdate = ({ method, params }: Note) => method === UPDATED && params?.['uri'] === uri;
    await this.until(() => this.all.some(isUpdate));
  }

  /** Whether the server has acknowledged the subscription that this request asked for. */
  acknowledges(id: string): boolean {
    return this.all.some(
      ({ method, params }) =>
        method === 'notifications/subscriptions/acknowledged' &&
        (params?.['_meta'] as Record<string, unknown> | undefined)?.['io.modelcontextprotocol/subscriptionId'] === id,
    );
  }

  /** Their methods, in order. */
  get methods(): (string | undefined)[] {
    return this.all.map(({ method }) => method);
  }
}

export const UPDATED = 'notifications/resources/updated';
export const CHANGED = 'notifications/tools/list_changed';

/** A call that has begun. */
export interface Running {
  /** The text of its result. */
  readonly result: Promise<string>;
  /** The values of its progress. */
  readonly steps: readonly number[];
  /** Waits for this many. */
  stepped(count: number): Promise<void>;
  cancel(): Promise<void>;
  /** Cuts its connection. The client goes on reading elsewhere. */
  cut(): Promise<void>;
}

/** The name that all clients have. */
const NAME = 'ada';

type Questions = Readonly<Record<string, (params?: object) => object>>;

/** Their answers to questions, by method. */
export const ANSWERS = {
  'elicitation/create': (params: object = {}) => {
    const { requestedSchema = {} } = params as { requestedSchema?: { properties?: Record<string, { type?: string }> } };
    const { properties = {} } = requestedSchema;
    const content = Object.entries(properties).map(([name, { type }]) => [name, type === 'boolean' ? true : NAME]);
    return { action: 'accept' as const, content: Object.fromEntries(content) as Record<string, string | boolean> };
  },
  'sampling/createMessage': () => ({
    role: 'assistant' as const,
    model: 'm',
    content: { type: 'text' as const, text: NAME },
  }),
  'roots/list': () => ({ roots: [{ uri: `file:///${NAME}` }] }),
} satisfies Questions;

/** What the tests do with a client of any kind. It answers all questions with its name. */
export interface Actor {
  readonly notes: Notes;
  /** Calls a tool, and returns the text of its result. */
  call(name: string, args?: Message['params']): Promise<string>;
  begin(name: string, args?: Message['params']): Promise<Running>;
  /** Waits until list changes, and updates of a resource, reach the client. */
  follow(uri: string): Promise<void>;
  setLevel(level: 'debug' | 'error'): Promise<void>;
  /** Cuts the stream of notifications. The client opens another one. */
  cutStream(): Promise<void>;
  /** Ends the session, and waits until no node knows it any more. */
  end(): Promise<void>;
  close(): Promise<void>;
}

/** A kind of client. */
export interface Kind {
  readonly name: string;
  readonly revision: string;
  connect(door: Door): Promise<Actor>;
}

/** Where clients connect. */
export interface Door {
  readonly url: URL;
  /** Cuts the responses in progress of a session's requests with this method. */
  cut(session: string, method: 'GET' | 'POST'): number;
}

/** Waits until requests in a session that has ended get 404. The other nodes learn of its end a moment later. */
export async function ended(url: URL, session: string, revision: string): Promise<void> {
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-session-id': session,
    ...(revision >= '2025-06-18' && { 'mcp-protocol-version': revision }),
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 'late', method: 'ping' });
  // in a row, so each node has answered so
  for (let times = 0; times < 3;) {
    const response = await fetch(url, { method: 'POST', headers, body });
    await response.text();
    times = response.status === 404 ? times + 1 : 0;
  }
}

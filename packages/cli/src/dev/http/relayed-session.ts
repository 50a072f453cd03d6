import type { IncomingHttpHeaders } from 'node:http';

import { withText } from '../json-text.js';
import { Memory } from '../memory.js';
import { isJson, isRequest, isResponse, type Json, keyOf, type Written } from '../message.js';
import type { Program } from '../program.js';
import { Questions } from '../questions.js';
import { type Answered, converse, endToEnd, SESSION } from './upstream.js';

let count = 0;
/** An id for one of the relay's own requests, as JSON. */
const ownId = (): string => `"decorum-dev-${++count}"`;

/** Thrown if a program doesn't accept a session. Holds the program's answer. */
export class NotAccepted extends Error {
  constructor(readonly answered: Answered) {
    super(`The program answered \`initialize\` with status ${answered.status}.`);
  }
}

/** The headers of a message that also apply to the client's other messages to the same path. */
export function lasting(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const all = Object.entries(endToEnd(headers)).filter(
    ([name]) => !/^(mcp-.*|last-event-id|accept(-encoding)?|content-.*)$/.test(name),
  );
  return Object.fromEntries(all);
}

/** A path without its query, which may say what to do. */
export const withoutQuery = (path: string): string => path.replace(/[?#].*$/, '');

/** A stream that a client holds open. */
export interface Stream {
  reopen(program: Program): Promise<void>;
  notify(method: string, params?: Json): boolean;
  end(): void;
}

/** A client's session. Behind it, each program has its own session, which the client never sees. */
export class RelayedSession {
  readonly memory = new Memory();
  readonly questions = new Questions();
  /** The programs of the client's requests in flight, by request id. */
  readonly inFlight = new Map<string, Program>();
  readonly streams = new Set<Stream>();
  /** Notifications that the client hasn't received, because it had no stream open. */
  readonly missed = new Set<string>();
  private readonly ids = new Map<Program, Promise<string>>();
  /** The version of the memory with which the client was introduced to each program. */
  private readonly introduced = new Map<Program, number>();

  constructor(
    readonly id: string,
    /** Where the client sends its messages, with its query. Its headers, which may hold credentials, go nowhere else. */
    readonly path: string,
    /** The headers of the last message that a program has accepted. */
    public headers: IncomingHttpHeaders,
  ) {}

  /** Records the session's id in the program that has begun it. */
  began(program: Program, id: string): void {
    this.ids.set(program, Promise.resolve(id));
  }

  /**
   * The session's id in a program. Introduces the client to the program first, if necessary.
   * @param headers those of the message that needs the id
   * @throws {NotAccepted}
   */
  idIn(program: Program, headers = this.headers): Promise<string> {
    const known = this.ids.get(program);
    if (known) return known;
    const id = this.introduce(program, headers);
    this.ids.set(program, id);
    // try again with the client's next message: it may have other credentials
    id.catch(() => this.ids.delete(program));
    return id;
  }

  /** Begins the session again if the client has changed it since then. */
  async catchUp(program: Program): Promise<void> {
    if (this.introduced.get(program) === this.memory.version) return;
    this.ids.delete(program);
    await this.idIn(program).catch(() => {});
  }

  /** Records a message that a program has accepted, and its headers. Returns whether the message affects the session. */
  accept(written: Written<Json>, headers: IncomingHttpHeaders): boolean {
    this.headers = headers;
    if (isResponse(written.message)) this.questions.close(written.message);
    return this.memory.note(written);
  }

  /** Sends a message to a program that has not received it. */
  async repeat(program: Program, written: Written<Json>): Promise<void> {
    const session = await this.idIn(program);
    await this.tell(program, written, { headers: this.headers, session });
  }

  /** Sends notifications, now or once the client has a stream open. Returns whether it has one and gets any. */
  notify(methods: readonly string[]): boolean {
    const [stream] = this.streams;
    for (const method of methods) {
      if (stream) stream.notify(method);
      else this.missed.add(method);
    }
    return stream !== undefined && methods.length > 0;
  }

  /** Forgets a program that has ended. */
  forget(program: Program): void {
    this.ids.delete(program);
    this.introduced.delete(program);
    this.questions.forget(program);
  }

  /** Records a request that is in flight until the returned function is called. */
  begin(id: unknown, program: Program): () => void {
    const key = keyOf(id);
    this.inFlight.set(key, program);
    return () => {
      if (this.inFlight.get(key) === program) this.inFlight.delete(key);
    };
  }

  private async introduce(program: Program, headers: IncomingHttpHeaders): Promise<string> {
    const [initialize, ...more] = this.memory.messages();
    this.introduced.set(program, this.memory.version);
    const own = lasting(headers);
    const begun = await this.tell(program, initialize as Written<Json>, { headers: own });
    const session = begun.headers[SESSION];
    const result = begun.message?.['result'];
    if (typeof session !== 'string' || !isJson(result)) throw new NotAccepted(begun);
    this.headers = headers;
    const version = result['protocolVersion'];
    const withVersion = { ...own, ...(typeof version === 'string' && { 'mcp-protocol-version': version }) };
    for (const each of more) await this.tell(program, each, { headers: withVersion, session });
    return session;
  }

  /** Sends a client's message once more. A request gets an id of the relay's own. */
  private tell(
    program: Program,
    { message, text }: Written<Json>,
    more: { readonly headers: IncomingHttpHeaders; readonly session?: string },
  ): Promise<Answered> {
    const body = isRequest(message) ? withText(text, ['id'], ownId()) : text;
    return converse(program, { path: this.path, body, ...more });
  }
}

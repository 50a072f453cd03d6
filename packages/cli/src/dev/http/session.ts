import type { IncomingHttpHeaders } from 'node:http';

import { INITIALIZE } from '@decorum/core/transport';

import { Memory } from '../memory.js';
import { isJson, type Json, keyOf, request } from '../message.js';
import type { Program } from '../program.js';
import { Questions } from '../questions.js';
import { type Answered, converse } from './upstream.js';

/** The header with the session id. */
export const SESSION = 'mcp-session-id';
const OWN_ID = 'decorum-dev-';

/** Thrown if a program doesn't accept a session. Holds the program's answer. */
export class NotAccepted extends Error {
  constructor(readonly answered: Answered) {
    super(`The program answered \`initialize\` with status ${answered.status}.`);
  }
}

/** The headers of a message that also apply to the client's other messages. */
export function lasting(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const all = Object.entries(headers).filter(([name]) => !/^(mcp-.*|last-event-id|accept-encoding)$/.test(name));
  return Object.fromEntries(all);
}

/** A stream that a session's client holds open. */
export interface SessionStream {
  reopen(program: Program): Promise<void>;
  notify(method: string, params?: Json): void;
  end(): void;
}

/** A client's session. Behind it, each program has its own session, which the client never sees. */
export class HttpSession {
  readonly memory = new Memory();
  readonly questions = new Questions();
  /** The programs of the client's requests in flight, by request id. */
  readonly inFlight = new Map<string, Program>();
  readonly streams = new Set<SessionStream>();
  /** Notifications that the client hasn't received, because it had no stream open. */
  readonly untold = new Set<string>();
  private readonly ids = new Map<Program, Promise<string>>();
  /** The version of the memory that was replayed to each program. */
  private readonly replayed = new Map<Program, number>();

  constructor(
    readonly id: string,
    /** Where the client sends its messages. */
    readonly path: string,
    /** The headers of the client's last message. */
    public headers: IncomingHttpHeaders,
  ) {}

  /** Records the session's id in the program that has begun it. */
  began(program: Program, id: string): void {
    this.ids.set(program, Promise.resolve(id));
  }

  /**
   * The session's id in a program. Replays the session to the program first, if necessary.
   * @throws {NotAccepted}
   */
  idIn(program: Program): Promise<string> {
    const known = this.ids.get(program);
    if (known) return known;
    const id = this.replay(program);
    this.ids.set(program, id);
    // try again with the client's next message: it may have other credentials
    id.catch(() => this.ids.delete(program));
    return id;
  }

  /** Begins the session again if the client has changed it since the replay. */
  async catchUp(program: Program): Promise<void> {
    if (this.replayed.get(program) === this.memory.version) return;
    this.ids.delete(program);
    await this.idIn(program).catch(() => {});
  }

  /** Forgets a program that has ended. */
  forget(program: Program): void {
    this.ids.delete(program);
    this.replayed.delete(program);
    this.questions.forget(program);
  }

  /** Records a request that is in flight until the returned function is called. */
  flies(id: unknown, program: Program): () => void {
    const key = keyOf(id);
    this.inFlight.set(key, program);
    return () => {
      if (this.inFlight.get(key) === program) this.inFlight.delete(key);
    };
  }

  private async replay(program: Program): Promise<string> {
    this.replayed.set(program, this.memory.version);
    const begun = await this.tell(program, request(`${OWN_ID}0`, INITIALIZE, this.memory.initialize));
    const id = begun.headers[SESSION];
    if (typeof id !== 'string') throw new NotAccepted(begun);
    const result = begun.message?.['result'];
    const version = isJson(result) ? result['protocolVersion'] : undefined;
    const more = { [SESSION]: id, ...(typeof version === 'string' && { 'mcp-protocol-version': version }) };
    let count = 0;
    for (const message of this.memory.replay()) {
      const isNotification = message['jsonrpc'] !== undefined;
      const sent = isNotification ? message : { jsonrpc: '2.0', id: `${OWN_ID}${++count}`, ...message };
      await this.tell(program, sent, more);
    }
    return id;
  }

  private tell(program: Program, message: Json, more: IncomingHttpHeaders = {}): Promise<Answered> {
    return converse(program, {
      method: 'POST',
      path: this.path,
      headers: {
        ...lasting(this.headers),
        ...more,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify(message),
    });
  }
}

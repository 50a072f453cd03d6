import type { IncomingHttpHeaders } from 'node:http';

import { INITIALIZE } from '@decorum/core/transport';

import { Memory } from '../memory.js';
import { isJson, type Json, keyOf, request } from '../message.js';
import type { Program } from '../program.js';
import { Questions } from '../questions.js';
import { type Answered, converse } from './upstream.js';

/** The header that names a session. */
export const SESSION = 'mcp-session-id';
const OWN_ID = 'decorum-dev-';

/** A program doesn't accept the session: what it answered. */
export class NotAccepted extends Error {
  constructor(readonly answered: Answered) {
    super(`The program answered \`initialize\` with status ${answered.status}.`);
  }
}

/** The headers of a message that fit others of its client too. */
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

/** A client's session. Each program has its own session for it, and the client never learns of them. */
export class HttpSession {
  readonly memory = new Memory();
  readonly questions = new Questions();
  /** Which program has which request of the client in flight. */
  readonly inFlight = new Map<string, Program>();
  readonly streams = new Set<SessionStream>();
  /** Changes that the client has not been told, because it had no stream open. */
  readonly untold = new Set<string>();
  private readonly ids = new Map<Program, Promise<string>>();
  /** The version of the memory that a program was told. */
  private readonly replayed = new Map<Program, number>();

  constructor(
    readonly id: string,
    /** Where the client sends its messages. */
    readonly path: string,
    /** The headers of the client's last message. */
    public headers: IncomingHttpHeaders,
  ) {}

  /** Takes note of the session's id in the program that has begun it. */
  began(program: Program, id: string): void {
    this.ids.set(program, Promise.resolve(id));
  }

  /**
   * The session's id in a program, which is told what the client told those before.
   * @throws {NotAccepted}
   */
  idIn(program: Program): Promise<string> {
    const known = this.ids.get(program);
    if (known) return known;
    const id = this.replay(program);
    this.ids.set(program, id);
    // the client's next message has other credentials, perhaps
    id.catch(() => this.ids.delete(program));
    return id;
  }

  /** Begins the session again if the client has said more since. */
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

  /** Takes note of a request that is in flight. */
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

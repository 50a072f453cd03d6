import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

import { INITIALIZE, LISTEN } from '@decorum/core/internal';

import type { ActiveProgram } from '../active-program.js';
import { isMcpAnswer, isStateless } from '../answers.js';
import type { RequestCounts } from '../request-counts.js';
import { inTime } from '../in-time.js';
import {
  failure,
  isJson,
  isRequest,
  isSingle,
  type Json,
  keyOf,
  type Message,
  messagesOf,
  paramsOf,
  type Written,
} from '../message.js';
import type { Program } from '../program.js';
import type { Addressed } from '../questions.js';
import { Bodies, type Unread } from './bodies.js';
import type { Clients } from './clients.js';
import { RelayedPost } from './relayed-post.js';
import type { Incoming } from './incoming.js';
import { RelayedSession, NotAccepted, withoutQuery } from './relayed-session.js';
import { Streams } from './streams.js';
import { send, SESSION } from './upstream.js';

const ENDING_MS = 1000;

/** The session and the program of a message. */
interface Target {
  readonly session: RelayedSession | undefined;
  readonly program: Program;
}

/** The status and the answer for a body that was not read. */
const REFUSALS: Readonly<Record<Unread, readonly [number, object]>> = {
  busy: [503, failure(undefined, 'Too many bodies are arriving.')],
  'too large': [413, failure(undefined, 'The body is too large.')],
};

const isJsonBody = (incoming: Incoming): boolean => /^application\/json\b/i.test(incoming.header('content-type') ?? '');

const isRefused = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ECONNREFUSED';

/** Whether a message belongs to no session, or begins one. */
const needsNoSession = (message: Message): boolean =>
  isJson(message) && (message['method'] === INITIALIZE || isStateless(message));

const idOf = (message: Message): unknown => (isJson(message) && isRequest(message) ? message['id'] : undefined);

/** Routes each client request to the right program. */
export class Router {
  private readonly bodies = new Bodies();
  private readonly streams: Streams;

  constructor(
    private readonly active: ActiveProgram,
    private readonly clients: Clients,
    private readonly inFlight: RequestCounts,
  ) {
    this.streams = new Streams(active, clients, inFlight);
  }

  async route(incoming: Incoming): Promise<void> {
    const program = await this.serving(incoming);
    if (program === undefined) return;
    const session = this.sessionOf(incoming);
    if (incoming.method === 'POST') return this.post(incoming, session);
    if (session && incoming.method === 'GET') return this.streams.open(incoming, session, program);
    if (session && incoming.method === 'DELETE') return this.end(incoming, session, program);
    return this.pass(incoming, { session, program });
  }

  /** The program for a request; undefined if the request must not have one, or if its client has left. */
  private async serving(incoming: Incoming): Promise<Program | undefined> {
    const program = await this.active.serving();
    if (incoming.gone.aborted) return undefined;
    if (!program.isStandIn || incoming.isTrusted) return program;
    incoming.reject();
    return undefined;
  }

  /** The session of a request. Its credentials are for one path, so elsewhere there is none. */
  private sessionOf(incoming: Incoming): RelayedSession | undefined {
    const session = this.clients.sessions.get(incoming.header(SESSION) ?? '');
    return session && withoutQuery(session.path) === withoutQuery(incoming.path) ? session : undefined;
  }

  private async post(incoming: Incoming, session: RelayedSession | undefined): Promise<void> {
    const body = isJsonBody(incoming) ? await this.bodies.read(incoming.request, incoming.gone) : undefined;
    // without a session, nothing in it has to be changed, and a program may accept more
    if (session && typeof body === 'string') return incoming.answerInPlace(...REFUSALS[body]);
    const { written, bytes } = typeof body === 'object' ? body : {};
    if (written && session && isSingle(written) && !isRequest(written.message)) {
      const addressed = this.addressOf(written, session);
      if (addressed) {
        const { program, text } = addressed;
        return this.forward(incoming, { message: written.message, text }, { session, program });
      }
    }
    const program = await this.serving(incoming);
    if (program === undefined) return;
    return written
      ? this.dispatch(incoming, written, { session, program })
      : this.pass(incoming, { session, program }, bytes);
  }

  /** Passes on a request that holds no message. */
  private async pass(incoming: Incoming, target: Target, bytes?: Buffer): Promise<void> {
    const problem = this.absence(incoming);
    if (problem === undefined || incoming.method === 'OPTIONS') return this.proxy(incoming, target, bytes);
    incoming.answerInPlace(503, { error: problem });
  }

  /**
   * Why nobody handles a request without a session; undefined if the program can. A stand-in serves MCP only, so its
   * answer would be about a session that the client doesn't need.
   */
  private absence(incoming: Incoming): string | undefined {
    return incoming.header(SESSION) === undefined ? this.active.refusal() : undefined;
  }

  /**
   * Passes a request on as is.
   * @param bytes its body, if that was read
   */
  private async proxy(incoming: Incoming, { session, program }: Target, bytes?: Buffer): Promise<void> {
    void incoming.over.then(this.inFlight.begin(program));
    try {
      await incoming.proxy(program, await session?.idIn(program, incoming.headers), bytes);
    } catch (error) {
      if (error instanceof NotAccepted) return incoming.answerLike(error.answered);
      incoming.answerInPlace(502, { error: 'The program did not respond.' });
    }
  }

  private async dispatch(incoming: Incoming, written: Written, { session, program }: Target): Promise<void> {
    const { message } = written;
    const refusal = isJson(message) && isRequest(message) ? this.active.refusal(String(message['method'])) : undefined;
    if (refusal !== undefined) return incoming.answerInPlace(200, failure(idOf(message), refusal));
    const absence = needsNoSession(message) ? undefined : this.absence(incoming);
    if (absence !== undefined) return incoming.answerInPlace(503, failure(idOf(message), absence));
    if (isSingle(written) && written.message['method'] === LISTEN)
      return this.streams.listen(incoming, written, program);
    const isOutside = isJson(message) && isStateless(message);
    return this.forward(incoming, written, { session: isOutside ? undefined : session, program });
  }

  /** The program that a client's response is for, or a notification about a request; undefined for other messages. */
  private addressOf(written: Written<Json>, { questions, inFlight }: RelayedSession): Addressed | undefined {
    const { message, text } = written;
    if (message['method'] !== 'notifications/cancelled') return questions.toProgram(written);
    const program = inFlight.get(keyOf(paramsOf(message)['requestId']));
    return program && { program, text };
  }

  private async forward(incoming: Incoming, written: Written, { session, program }: Target): Promise<void> {
    const post = this.relayed(incoming, written, { session, program });
    this.clients.posts.add(post);
    const ends = [this.inFlight.begin(program), () => this.clients.posts.delete(post)];
    for (const { message } of messagesOf(written)) {
      if (session && isRequest(message)) ends.push(session.begin(message['id'], program));
    }
    try {
      const own = await session?.idIn(program, incoming.headers);
      const { path, headers, gone: signal } = incoming;
      // without sessions, clients cancel a request by disconnecting
      const sent = { method: 'POST', path, headers, session: own, body: written.text, signal };
      await post.answer(await send(program, sent));
      return await incoming.over;
    } catch (error) {
      if (error instanceof NotAccepted) return incoming.answerLike(error.answered);
      if (incoming.gone.aborted) return;
      if (!isRefused(error)) return await post.failWhenKnown();
    } finally {
      for (const end of ends) end();
    }
    // the program ended before it got the request, so the next program may get it
    const reason = await inTime(program.ended, ENDING_MS);
    if (reason === undefined) {
      return incoming.answerInPlace(200, failure(idOf(written.message), 'The program no longer listens.'));
    }
    const next = await this.serving(incoming);
    if (next) await this.dispatch(incoming, written, { session, program: next });
  }

  private relayed(incoming: Incoming, written: Written, { session, program }: Target): RelayedPost {
    const begins = isSingle(written) && written.message['method'] === INITIALIZE && !session;
    let begun: RelayedSession | undefined;
    return new RelayedPost(incoming, program, {
      written,
      questions: session?.questions,
      sessionFor: (headers) => {
        begun = begins ? this.begin(incoming, written, { program, headers }) : undefined;
        return (session ?? begun)?.id;
      },
      accepted: (message, answer) => {
        const isMcp = answer !== undefined && isMcpAnswer(answer, message.message);
        if (begun && isMcp) this.clients.add(begun);
        if (session) this.accept(incoming, message, { session, program });
        if (answer && !program.isStandIn && (session || isMcp)) this.clients.serves(incoming);
      },
    });
  }

  /** Records a message that a program has accepted. Rejected messages are never repeated. */
  private accept(
    incoming: Incoming,
    written: Written<Json>,
    { session, program }: { readonly session: RelayedSession; readonly program: Program },
  ): void {
    const affects = session.accept(written, incoming.headers);
    const { current } = this.active;
    // the session may have moved in the meantime
    if (affects && current && current !== program) void session.repeat(current, written).catch(() => {});
  }

  /** A session that a program begins. The client keeps its first id. */
  private begin(
    incoming: Incoming,
    written: Written<Json>,
    { program, headers }: { readonly program: Program; readonly headers: IncomingHttpHeaders },
  ): RelayedSession | undefined {
    const given = headers[SESSION];
    if (typeof given !== 'string') return undefined;
    const id = this.clients.sessions.has(given) ? randomUUID() : given;
    const session = new RelayedSession(id, incoming.path, incoming.headers);
    session.memory.note(written);
    session.began(program, given);
    return session;
  }

  private async end(incoming: Incoming, session: RelayedSession, program: Program): Promise<void> {
    await this.proxy(incoming, { session, program });
    if (incoming.response.statusCode >= 300) return;
    this.clients.sessions.delete(session.id);
    for (const stream of session.streams) stream.end();
  }
}

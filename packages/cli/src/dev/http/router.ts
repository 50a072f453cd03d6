import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

import { INITIALIZE, LISTEN } from '@decorum/core/transport';

import { isMcpAnswer, isStateless } from '../answers.js';
import type { Flights } from '../flights.js';
import type { Stage } from '../front.js';
import {
  failure,
  isJson,
  isRequest,
  isResponse,
  isSingle,
  type Json,
  keyOf,
  type Message,
  messagesOf,
  paramsOf,
  type Written,
} from '../message.js';
import type { Program } from '../program.js';
import { forAsker } from '../questions.js';
import { Bodies } from './bodies.js';
import type { Clients } from './clients.js';
import { Exchange } from './exchange.js';
import { type Incoming, proxy } from './incoming.js';
import { HttpSession, NotAccepted, SESSION, withoutQuery } from './session.js';
import { Streams } from './streams.js';
import { send } from './upstream.js';

const ENDING_MS = 1000;

/** The session and the program of a message. */
interface Target {
  readonly session: HttpSession | undefined;
  readonly program: Program;
}

/** Who sent a message that a program has accepted, and the response; undefined if it isn't a request. */
interface Acceptance extends Target {
  readonly answer: Json | undefined;
}

const isJsonBody = (incoming: Incoming): boolean => /^application\/json\b/i.test(incoming.header('content-type') ?? '');

const isRefused = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ECONNREFUSED';

/** Whether a message belongs to no session, or begins one. */
const needsNoSession = (message: Message): boolean =>
  isJson(message) && (message['method'] === INITIALIZE || isStateless(message));

/** Routes each client request to the right program. */
export class Router {
  private readonly bodies = new Bodies();
  private readonly streams: Streams;

  constructor(
    private readonly stage: Stage,
    private readonly clients: Clients,
    private readonly flights: Flights,
  ) {
    this.streams = new Streams(stage, clients, flights);
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
    const program = this.stage.current ?? (await this.stage.serving());
    if (incoming.gone.aborted) return undefined;
    if (!program.isStandIn || incoming.isTrusted) return program;
    incoming.reject();
    return undefined;
  }

  /** The session of a request. Its credentials are for one path, so elsewhere there is none. */
  private sessionOf(incoming: Incoming): HttpSession | undefined {
    const session = this.clients.sessions.get(incoming.header(SESSION) ?? '');
    return session && withoutQuery(session.path) === withoutQuery(incoming.path) ? session : undefined;
  }

  private async post(incoming: Incoming, session: HttpSession | undefined): Promise<void> {
    const body = isJsonBody(incoming) ? await this.bodies.read(incoming.request, incoming.gone) : undefined;
    // without a session, nothing in it has to be changed, and a program may accept more
    if (session && (body === 'too large' || body === 'busy')) return this.refuseBody(incoming, body);
    const { written, bytes } = typeof body === 'object' ? body : {};
    if (written && session && isSingle(written) && !isRequest(written.message)) {
      const target = this.targetOf(written, session);
      if (target) return this.forward(incoming, target.written, { session, program: target.program });
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
    incoming.discard();
  }

  /**
   * Why nobody handles a request without a session; undefined if the program can. A stand-in serves MCP only, so its
   * answer would be about a session that the client doesn't need.
   */
  private absence(incoming: Incoming): string | undefined {
    return incoming.header(SESSION) === undefined ? this.stage.refusal() : undefined;
  }

  private refuseBody(incoming: Incoming, why: 'too large' | 'busy'): void {
    const [status, problem] = why === 'busy' ? [503, 'Too many bodies are arriving.'] : [413, 'The body is too large.'];
    incoming.answerInPlace(status, failure(undefined, problem));
    incoming.discard();
  }

  /**
   * Passes a request on as is.
   * @param bytes its body, if that was read
   */
  private async proxy(incoming: Incoming, { session, program }: Target, bytes?: Buffer): Promise<void> {
    const release = this.flights.take(program);
    incoming.gone.addEventListener('abort', release, { once: true });
    try {
      const id = await session?.idIn(program, incoming.headers);
      await proxy(incoming, program, { id, bytes });
    } catch (error) {
      if (error instanceof NotAccepted) return incoming.refused(error);
      incoming.answerInPlace(502, { error: 'The program did not respond.' });
      incoming.discard();
    }
  }

  private dispatch(incoming: Incoming, written: Written, { session, program }: Target): Promise<void> {
    const absence = needsNoSession(written.message) ? undefined : this.absence(incoming);
    if (!isSingle(written)) {
      if (absence !== undefined) return this.refuse(incoming, written.message, { problem: absence, status: 503 });
      return this.forward(incoming, written, { session, program });
    }
    const { message } = written;
    const refusal = isRequest(message) ? this.stage.refusal(String(message['method'])) : undefined;
    if (refusal !== undefined) return this.refuse(incoming, message, { problem: refusal });
    if (absence !== undefined) return this.refuse(incoming, message, { problem: absence, status: 503 });
    if (message['method'] === LISTEN) return this.streams.listen(incoming, written, program);
    return this.forward(incoming, written, { session: isStateless(message) ? undefined : session, program });
  }

  /** Finds the program for a response, or a notification about a request, and puts the program's ids into its text. */
  private targetOf(
    written: Written<Json>,
    session: HttpSession,
  ): { written: Written<Json>; program: Program } | undefined {
    const { message } = written;
    const { questions } = session;
    const isProgress = message['method'] === 'notifications/progress';
    if (isResponse(message) || isProgress) {
      const question = isProgress ? questions.progress(message) : questions.answeredBy(message);
      return question && { written: { message, text: forAsker(written, question) }, program: question.program };
    }
    if (message['method'] !== 'notifications/cancelled') return undefined;
    const program = session.inFlight.get(keyOf(paramsOf(message)['requestId']));
    return program && { written, program };
  }

  private async forward(incoming: Incoming, written: Written, { session, program }: Target): Promise<void> {
    const release = this.flights.take(program);
    const requests = messagesOf(written).filter(({ message }) => isRequest(message));
    const landings = session ? requests.map(({ message }) => session.flies(message['id'], program)) : [];
    const begins = isSingle(written) && written.message['method'] === INITIALIZE && !session;
    let begun: HttpSession | undefined;
    const exchange = new Exchange(incoming, program, {
      written,
      questions: session?.questions,
      sessionHeader: (headers) => {
        begun = begins ? this.begin(incoming, written, { program, headers }) : undefined;
        const { id } = session ?? begun ?? {};
        return id === undefined ? {} : { [SESSION]: id };
      },
      accepted: (message, answer) => {
        if (begun && answer && isMcpAnswer(answer, message.message)) this.clients.add(begun);
        this.accepted(incoming, message, { session, program, answer });
      },
    });
    this.clients.exchanges.add(exchange);
    try {
      const id = await session?.idIn(program, incoming.headers);
      await this.exchange(exchange, incoming, { text: written.text, id });
      await exchange.over;
    } catch (error) {
      if (error instanceof NotAccepted) incoming.refused(error);
      else if (isRefused(error) && !incoming.gone.aborted) exchange.withdraw();
      else if (!incoming.gone.aborted) await exchange.failWhenKnown();
    } finally {
      this.clients.exchanges.delete(exchange);
      for (const land of landings) land();
      release();
    }
    if (!exchange.isWithdrawn) return;
    // the program ended before it got the request, so the next program may get it
    const reason = await Promise.race([program.ended, wait(ENDING_MS, undefined, { ref: false })]);
    if (reason === undefined)
      return this.refuse(incoming, written.message, { problem: 'The program no longer listens.' });
    const next = await this.serving(incoming);
    if (next) await this.dispatch(incoming, written, { session, program: next });
  }

  /** Records what is known of a client once a program has accepted its message. Rejected messages are never repeated. */
  private accepted(incoming: Incoming, written: Written<Json>, { session, program, answer }: Acceptance): void {
    const { message } = written;
    if (session) {
      const affects = session.accept(written, incoming.headers);
      const { current } = this.stage;
      // the session may have moved in the meantime
      if (affects && current && current !== program) void session.repeat(current, written).catch(() => {});
    }
    if (answer && !program.isStandIn && (session || isMcpAnswer(answer, message))) this.clients.serves(incoming);
  }

  private async refuse(
    incoming: Incoming,
    message: Message,
    { problem, status = 200 }: { readonly problem: string; readonly status?: number },
  ): Promise<void> {
    const id = isJson(message) && isRequest(message) ? message['id'] : undefined;
    incoming.answerInPlace(status, failure(id, problem));
  }

  private async exchange(
    exchange: Exchange,
    incoming: Incoming,
    { text, id }: { text: string; id: string | undefined },
  ): Promise<void> {
    const { 'accept-encoding': _encoding, ...headers } = incoming.headers;
    const received = await send(exchange.program, {
      method: 'POST',
      path: incoming.path,
      headers: { ...headers, ...(id !== undefined && { [SESSION]: id }) },
      body: text,
      // without sessions, clients cancel a request by disconnecting
      signal: incoming.gone,
    });
    await exchange.answer(received);
  }

  /** A session that a program begins. The client keeps its first id. */
  private begin(
    incoming: Incoming,
    written: Written<Json>,
    { program, headers }: { program: Program; headers: IncomingHttpHeaders },
  ): HttpSession | undefined {
    const given = headers[SESSION];
    if (typeof given !== 'string') return undefined;
    const id = this.clients.sessions.has(given) ? randomUUID() : given;
    const session = new HttpSession(id, incoming.path, incoming.headers);
    session.memory.note(written);
    session.began(program, given);
    return session;
  }

  private async end(incoming: Incoming, session: HttpSession, program: Program): Promise<void> {
    await this.proxy(incoming, { session, program });
    if (incoming.response.statusCode >= 300) return;
    this.clients.sessions.delete(session.id);
    for (const stream of session.streams) stream.end();
  }
}

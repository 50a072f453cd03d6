import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

import { INITIALIZE, LISTEN } from '@decorum/core/transport';

import { isStateless } from '../answers.js';
import type { Flights } from '../flights.js';
import type { Stage } from '../front.js';
import { failure, type Id, isJson, isRequest, isResponse, type Json, keyOf, paramsOf, parse } from '../message.js';
import type { Program } from '../program.js';
import type { Question } from '../questions.js';
import type { Clients } from './clients.js';
import { Exchange } from './exchange.js';
import { type Incoming, proxy } from './incoming.js';
import { ListenStream } from './listen-stream.js';
import { PushStream } from './push-stream.js';
import { HttpSession, NotAccepted, SESSION } from './session.js';
import { readBody, send } from './upstream.js';

const ENDING_MS = 1000;

/** The session and the program of a message. */
interface Target {
  readonly session: HttpSession | undefined;
  readonly program: Program;
}

type Headers = NodeJS.Dict<string | string[]>;

const isRefused = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ECONNREFUSED';

/** Routes each client request to the right program. */
export class Router {
  constructor(
    private readonly stage: Stage,
    private readonly clients: Clients,
    private readonly flights: Flights,
  ) {}

  async route(incoming: Incoming): Promise<void> {
    const session = this.clients.sessions.get(incoming.header(SESSION) ?? '');
    if (incoming.method === 'POST') return this.post(incoming, session);
    const program = this.stage.current ?? (await this.stage.serving());
    if (session && incoming.method === 'GET') return this.open(incoming, session, program);
    if (session && incoming.method === 'DELETE') return this.end(incoming, session, program);
    const release = this.flights.take(program);
    void incoming.gone.addEventListener('abort', release, { once: true });
    return proxy(incoming, program, await readBody(incoming.request));
  }

  private async post(incoming: Incoming, session: HttpSession | undefined): Promise<void> {
    const body = await readBody(incoming.request);
    const message = parse(body.toString());
    const isMcp = /^application\/json\b/i.test(incoming.header('content-type') ?? '') && message !== undefined;
    if (isMcp && isJson(message) && session && !isRequest(message)) {
      const target = this.targetOf(message, session);
      if (target) return this.forward(incoming, target.message, { session, program: target.program });
    }
    const program = this.stage.current ?? (await this.stage.serving());
    if (!isMcp) {
      const release = this.flights.take(program);
      incoming.gone.addEventListener('abort', release, { once: true });
      return proxy(incoming, program, body);
    }
    this.clients.posts(incoming.path);
    return this.dispatch(incoming, message, { session, program });
  }

  private dispatch(incoming: Incoming, message: Json | readonly Json[], { session, program }: Target): Promise<void> {
    if (!isJson(message)) return this.forward(incoming, message, { session, program });
    const refusal = isRequest(message) ? this.stage.refusal(String(message['method'])) : undefined;
    if (refusal !== undefined) return this.refuse(incoming, message, refusal);
    if (message['method'] === LISTEN) return this.listen(incoming, message, program);
    return this.forward(incoming, message, { session: isStateless(message) ? undefined : session, program });
  }

  /** Finds the program for a response, or a notification about a request, and puts the program's ids into the message. */
  private targetOf(message: Json, session: HttpSession): { message: Json; program: Program } | undefined {
    const renamed = (question: Question | undefined, change: (id: Id) => Json) =>
      question && { message: change(question.id), program: question.program };
    if (isResponse(message)) return renamed(session.questions.answer(message), (id) => ({ ...message, id }));
    const params = paramsOf(message);
    if (message['method'] === 'notifications/progress') {
      const question = session.questions.progress(message);
      return renamed(question, () => ({ ...message, params: { ...params, progressToken: question?.token } }));
    }
    if (message['method'] !== 'notifications/cancelled') return undefined;
    const program = session.inFlight.get(keyOf(params['requestId']));
    return program && { message, program };
  }

  private async forward(
    incoming: Incoming,
    message: Json | readonly Json[],
    { session, program }: Target,
  ): Promise<void> {
    const release = this.flights.take(program);
    const requests = [message].flat().filter((each) => isRequest(each as Json)) as Json[];
    const landings = session ? requests.map(({ id }) => session.flies(id, program)) : [];
    const begins = isJson(message) && message['method'] === INITIALIZE && !session;
    const exchange = new Exchange(incoming, program, {
      message,
      questions: session?.questions,
      sessionHeader: (headers) =>
        begins ? this.begin(incoming, message, { program, headers }) : session ? { [SESSION]: session.id } : {},
    });
    this.clients.exchanges.add(exchange);
    try {
      if (session) {
        session.headers = incoming.request.headers;
        const id = await session.idIn(program);
        // after the replay, which would otherwise repeat the message
        for (const each of [message].flat()) session.memory.note(each as Json);
        await this.exchange(exchange, incoming, { message, id });
      } else await this.exchange(exchange, incoming, { message, id: undefined });
      await exchange.over;
    } catch (error) {
      if (error instanceof NotAccepted) this.reject(incoming, error);
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
    if (reason === undefined) return this.refuse(incoming, message, 'The program no longer listens.');
    return this.dispatch(incoming, message, { session, program: await this.stage.serving() });
  }

  private async refuse(incoming: Incoming, message: Json | readonly Json[], problem: string): Promise<void> {
    incoming.answer(200, failure(isJson(message) ? message['id'] : undefined, problem));
  }

  private async exchange(
    exchange: Exchange,
    incoming: Incoming,
    { message, id }: { message: Json | readonly Json[]; id: string | undefined },
  ): Promise<void> {
    const { 'accept-encoding': _encoding, ...headers } = incoming.request.headers;
    const received = await send(exchange.program, {
      method: 'POST',
      path: incoming.path,
      headers: { ...headers, ...(id !== undefined && { [SESSION]: id }) },
      body: JSON.stringify(message),
      // without sessions, clients cancel a request by disconnecting
      signal: incoming.gone,
    });
    await exchange.answer(received);
  }

  /** Records a session that a program has begun. The client keeps its first id. */
  private begin(
    incoming: Incoming,
    message: Json,
    { program, headers }: { program: Program; headers: IncomingHttpHeaders },
  ): Headers {
    const given = headers[SESSION];
    if (typeof given !== 'string') return {};
    const id = this.clients.sessions.has(given) ? randomUUID() : given;
    const session = new HttpSession(id, incoming.path, incoming.request.headers);
    session.memory.note(message);
    session.began(program, given);
    this.clients.add(session);
    return { [SESSION]: id };
  }

  private reject(incoming: Incoming, { answered }: NotAccepted): void {
    const { status, headers, body, message } = answered;
    if (message) incoming.answer(status, message, headers);
    else incoming.response.writeHead(status, { 'content-type': headers['content-type'] ?? 'text/plain' }).end(body);
  }

  private async listen(incoming: Incoming, message: Json, program: Program): Promise<void> {
    const stream = new ListenStream(incoming, message, (changed) => this.clients.changed(changed));
    this.clients.listens.add(stream);
    try {
      await stream.open(program);
      await stream.over;
    } catch {
      incoming.answer(200, failure(message['id'], `The program has ended: ${await program.ended}.`));
    } finally {
      this.clients.listens.delete(stream);
    }
  }

  private async open(incoming: Incoming, session: HttpSession, program: Program): Promise<void> {
    const stream = new PushStream(incoming, session, (changed) => this.clients.changed(changed));
    const [, number, eventId] = /^(\d+)-(.*)$/.exec(incoming.header('last-event-id') ?? '') ?? [];
    session.streams.add(stream);
    try {
      // the events of earlier programs are lost
      await stream.open(program, Number(number) === program.number ? eventId : undefined);
      await stream.over;
    } catch (error) {
      if (error instanceof NotAccepted) this.reject(incoming, error);
      else incoming.response.destroy();
    } finally {
      session.streams.delete(stream);
    }
  }

  private async end(incoming: Incoming, session: HttpSession, program: Program): Promise<void> {
    const id = await session.idIn(program).catch(() => undefined);
    const { headers } = incoming.request;
    if (id !== undefined) incoming.request.headers = { ...headers, [SESSION]: id };
    await proxy(incoming, program, Buffer.alloc(0));
    if (incoming.response.statusCode >= 300) return;
    this.clients.sessions.delete(session.id);
    for (const stream of session.streams) stream.end();
  }
}

import type { IncomingMessage } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

import { adapt, isAdapted } from '../answers.js';
import { failure, isJson, isRequest, type Json, keyOf, parse } from '../message.js';
import type { Program } from '../program.js';
import type { Questions } from '../questions.js';
import type { Incoming } from './incoming.js';
import { readEvents, type ServerEvent, writeEvent } from './sse.js';
import { endToEnd, isEventStream, readBody, type Received } from './upstream.js';

const WHY_MS = 1000;

/** A client's request that a program is answering. */
export class Exchange {
  private settled = false;
  isWithdrawn = false;
  private received: Received | undefined;
  private finish!: () => void;
  /** Resolves when the client has its response or has disconnected. */
  readonly over = new Promise<void>((resolve) => (this.finish = resolve));

  constructor(
    private readonly incoming: Incoming,
    readonly program: Program,
    private readonly parts: {
      /** The client's message; an array is a batch. */
      readonly message: Json | readonly Json[];
      readonly questions: Questions | undefined;
      /** The header with the session's id for the client. */
      readonly sessionHeader: (headers: IncomingMessage['headers']) => NodeJS.Dict<string | string[]>;
    },
  ) {
    incoming.gone.addEventListener('abort', () => this.leave(), { once: true });
  }

  /** Passes on the program's response. */
  async answer(received: Received): Promise<void> {
    this.received = received;
    if (this.settled) return received.abandon();
    const { response } = received;
    response.once('close', () => {
      if (!response.complete) void this.failWhenKnown();
    });
    if (isEventStream(response)) return this.stream(response);
    const body = await readBody(response).catch(() => undefined);
    if (body === undefined || this.settled) return;
    this.settle();
    this.whole(response, body);
  }

  /** Answers with an error in place of the program. */
  fail(problem: string): void {
    if (this.settled) return;
    this.settle();
    const { incoming } = this;
    const answers = this.unanswered.map(({ id }) => failure(id, `The program has ended: ${problem}.`));
    if (incoming.response.headersSent) {
      for (const each of answers) incoming.response.write(`event: message\ndata: ${JSON.stringify(each)}\n\n`);
      incoming.response.end();
    } else if (Array.isArray(this.parts.message)) incoming.answer(200, answers);
    else incoming.answer(200, answers[0] ?? {});
  }

  /** Leaves the request to another exchange. */
  withdraw(): void {
    this.isWithdrawn = true;
    this.settle();
  }

  /** Fails the request after its connection was lost, as soon as it is known why. */
  async failWhenKnown(): Promise<void> {
    const unknown = wait(WHY_MS, 'it closed the connection', { ref: false });
    this.fail(await Promise.race([this.program.ended, unknown]));
  }

  private readonly answered = new Set<string>();

  private get requests(): Json[] {
    return [this.parts.message].flat().filter((each) => isRequest(each as Json)) as Json[];
  }

  private get unanswered(): Json[] {
    return this.requests.filter(({ id }) => !this.answered.has(keyOf(id)));
  }

  private whole(response: IncomingMessage, body: Buffer): void {
    const { incoming } = this;
    const { message, sessionHeader } = this.parts;
    const headers = { ...response.headers, ...sessionHeader(response.headers) };
    const found = isJson(message) && isAdapted(message['method']) ? parse(body.toString()) : undefined;
    if (!isJson(found)) return incoming.pass(Object.assign(response, { headers }), body);
    const adapted = adapt(found, message as Json);
    // the program's error was replaced with a result
    const status = adapted !== found && 'error' in found ? 200 : (response.statusCode ?? 200);
    incoming.answer(status, adapted, headers);
  }

  private stream(response: IncomingMessage): void {
    const client = this.incoming.response;
    const headers = { ...response.headers, ...this.parts.sessionHeader(response.headers) };
    client.writeHead(response.statusCode ?? 200, endToEnd(headers));
    client.flushHeaders();
    readEvents(response, (event) => {
      if (this.settled) return;
      if (!client.write(writeEvent(this.adaptEvent(event)))) {
        response.pause();
        client.once('drain', () => response.resume());
      }
    });
    response.once('end', () => {
      if (this.settled) return;
      this.settle();
      client.end();
    });
  }

  private adaptEvent(event: ServerEvent): ServerEvent {
    const { program } = this;
    const { questions, message } = this.parts;
    const found = event.data === undefined ? undefined : parse(event.data);
    let adapted = found;
    if (isJson(found)) {
      const original = this.requests.find(({ id }) => keyOf(id) === keyOf(found['id']));
      if (found['method'] !== undefined) adapted = passOn(found, program, questions);
      else if (original) {
        this.answered.add(keyOf(found['id']));
        if (isJson(message)) adapted = adapt(found, original);
      }
    }
    const id = event.id === undefined ? undefined : `${program.number}-${event.id}`;
    return { ...event, id, data: adapted === found ? event.data : JSON.stringify(adapted) };
  }

  private leave(): void {
    if (this.settled) return;
    this.settle();
    this.received?.abandon();
  }

  private settle(): void {
    this.settled = true;
    this.finish();
  }
}

/** Gives a program's questions new ids, because two programs may use the same ones. */
export function passOn(message: Json, program: Program, questions: Questions | undefined): Json {
  if (questions === undefined) return message;
  if (isRequest(message)) return questions.ask(program, message);
  return message['method'] === 'notifications/cancelled' ? questions.cancel(program, message) : message;
}

import type { IncomingMessage } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

import { adapt } from '../answers.js';
import { failure, isJson, isRequest, isSingle, type Json, keyOf, messagesOf, parse, type Written } from '../message.js';
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
      readonly written: Written;
      readonly questions: Questions | undefined;
      /** The header with the session's id for the client. */
      readonly sessionHeader: (headers: IncomingMessage['headers']) => NodeJS.Dict<string | string[]>;
      /**
       * Called when the program has handled one of the messages without an error.
       * @param answer its response; undefined for a message that isn't a request
       */
      readonly accepted: (message: Written<Json>, answer: Json | undefined) => void;
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
    } else incoming.answerInPlace(200, this.isBatch ? answers : (answers[0] ?? {}));
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
    return messagesOf(this.parts.written).flatMap(({ message }) => (isRequest(message) ? [message] : []));
  }

  private get unanswered(): Json[] {
    return this.requests.filter(({ id }) => !this.answered.has(keyOf(id)));
  }

  private get isBatch(): boolean {
    return !isSingle(this.parts.written);
  }

  /** Reports the messages that expect no response, as soon as the program has taken them. */
  private take({ statusCode = 500 }: IncomingMessage): void {
    if (statusCode >= 300) return;
    for (const each of messagesOf(this.parts.written))
      if (!isRequest(each.message)) this.parts.accepted(each, undefined);
  }

  /** Records the response to one of the requests, and returns that request. */
  private settleOne(answer: Json): Json | undefined {
    const key = keyOf(answer['id']);
    const request = messagesOf(this.parts.written).find(
      ({ message }) => isRequest(message) && keyOf(message['id']) === key,
    );
    if (request === undefined || answer['method'] !== undefined) return undefined;
    this.answered.add(key);
    if (isJson(answer['result'])) this.parts.accepted(request, answer);
    return request.message;
  }

  private whole(response: IncomingMessage, body: Buffer): void {
    const { incoming } = this;
    const headers = { ...response.headers, ...this.parts.sessionHeader(response.headers) };
    this.take(response);
    const text = body.toString();
    const answer = parse(text);
    const answers = answer === undefined ? [] : messagesOf({ message: answer, text });
    const [request] = answers.map(({ message }) => this.settleOne(message));
    const adapted = request && !this.isBatch ? adapt(answers[0] as Written<Json>, request) : text;
    if (adapted === text) return incoming.pass(Object.assign(response, { headers }), body);
    // if the program's error was replaced with a result
    const status = isJson(answer) && 'error' in answer ? 200 : (response.statusCode ?? 200);
    incoming.answer(status, adapted, headers);
  }

  private stream(response: IncomingMessage): void {
    const client = this.incoming.response;
    const headers = { ...response.headers, ...this.parts.sessionHeader(response.headers) };
    this.take(response);
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
    const id = event.id === undefined ? undefined : `${program.number}-${event.id}`;
    return { ...event, id, data: event.data === undefined ? undefined : this.adaptData(event.data) };
  }

  private adaptData(text: string): string {
    const message = parse(text);
    if (!isJson(message)) {
      for (const each of message ?? []) this.settleOne(each);
      return text;
    }
    if (message['method'] !== undefined) return passOn({ message, text }, this.program, this.parts.questions);
    const request = this.settleOne(message);
    return request && !this.isBatch ? adapt({ message, text }, request) : text;
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

/** The text of a program's message to the client. Questions get new ids, because two programs may use the same ones. */
export function passOn({ message, text }: Written<Json>, program: Program, questions: Questions | undefined): string {
  if (questions === undefined) return text;
  if (isRequest(message)) return questions.ask(program, text);
  return message['method'] === 'notifications/cancelled' ? questions.cancel(program, text) : text;
}

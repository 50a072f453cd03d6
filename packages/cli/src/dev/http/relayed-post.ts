import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

import { adapt } from '../answers.js';
import { inTime } from '../in-time.js';
import {
  endedFailure,
  isJson,
  isRequest,
  isSingle,
  type Json,
  keyOf,
  messagesOf,
  parse,
  type Written,
} from '../message.js';
import type { Program } from '../program.js';
import type { Questions } from '../questions.js';
import type { Incoming } from './incoming.js';
import { messageEvent, readEvents } from './sse.js';
import { isEventStream, readBody, type Received, SESSION } from './upstream.js';

const WHY_MS = 1000;

/** What a client has posted, and who needs to know of its answers. */
interface Posted {
  readonly written: Written;
  readonly questions: Questions | undefined;
  /** The session's id for the client, if it has a session or begins one. */
  readonly sessionFor: (headers: IncomingHttpHeaders) => string | undefined;
  /**
   * Called when the program has handled one of the messages without an error.
   * @param answer its response; undefined for a message that isn't a request
   */
  readonly accepted: (message: Written<Json>, answer: Json | undefined) => void;
}

/** A client's message, or a batch, that a program is answering. */
export class RelayedPost {
  /** The requests without a response, by id. */
  private readonly unanswered: Map<string, Written<Json>>;
  private isSettled = false;
  private received: Received | undefined;

  constructor(
    private readonly incoming: Incoming,
    readonly program: Program,
    private readonly posted: Posted,
  ) {
    const requests = messagesOf(posted.written).filter(({ message }) => isRequest(message));
    this.unanswered = new Map(requests.map((each) => [keyOf(each.message['id']), each]));
    incoming.gone.addEventListener('abort', () => this.leave(), { once: true });
  }

  /** Passes on the program's response. */
  async answer(received: Received): Promise<void> {
    this.received = received;
    if (this.isSettled) return received.abandon();
    const { response } = received;
    response.once('close', () => {
      if (!response.complete) void this.failWhenKnown();
    });
    if (isEventStream(response)) return this.stream(response);
    const body = await readBody(response).catch(() => undefined);
    if (body === undefined || this.isSettled) return;
    this.isSettled = true;
    this.whole(response, body);
  }

  /** Answers with an error in place of the program. */
  fail(reason: string): void {
    if (this.isSettled) return;
    this.isSettled = true;
    const { incoming } = this;
    const answers = [...this.unanswered.values()].map(({ message }) => endedFailure(message['id'], reason));
    if (!incoming.response.headersSent) {
      return incoming.answerInPlace(200, this.isBatch ? answers : (answers[0] ?? {}));
    }
    for (const each of answers) incoming.response.write(messageEvent(each));
    incoming.response.end();
  }

  /** Fails the request after its connection was lost, as soon as it is known why. */
  async failWhenKnown(): Promise<void> {
    this.fail((await inTime(this.program.ended, WHY_MS)) ?? 'it closed the connection');
  }

  private get isBatch(): boolean {
    return !isSingle(this.posted.written);
  }

  /** The headers for the client. Reports the messages that expect no response, if the program has taken them. */
  private begin({ statusCode = 500, headers }: IncomingMessage): NodeJS.Dict<string | string[]> {
    const session = this.posted.sessionFor(headers);
    if (statusCode < 300) {
      for (const each of messagesOf(this.posted.written))
        if (!isRequest(each.message)) this.posted.accepted(each, undefined);
    }
    return { ...headers, ...(session !== undefined && { [SESSION]: session }) };
  }

  /** Records a response. Returns the request that it answers. */
  private settle(answer: Json): Json | undefined {
    const key = keyOf(answer['id']);
    const request = answer['method'] === undefined ? this.unanswered.get(key) : undefined;
    if (request === undefined) return undefined;
    this.unanswered.delete(key);
    if (isJson(answer['result'])) this.posted.accepted(request, answer);
    return request.message;
  }

  /** The text for the client of a program's message. Batches, and text that isn't a message, stay as they are. */
  private adapt(text: string): string {
    const message = parse(text);
    if (!isJson(message)) {
      for (const each of message ?? []) this.settle(each);
      return text;
    }
    const written = { message, text };
    if (message['method'] !== undefined) return this.posted.questions?.toClient(this.program, written) ?? text;
    const request = this.settle(message);
    return request && !this.isBatch ? adapt(written, request) : text;
  }

  private whole(response: IncomingMessage, body: Buffer): void {
    const headers = this.begin(response);
    const text = body.toString();
    const adapted = this.adapt(text);
    if (adapted === text) this.incoming.pass({ statusCode: response.statusCode ?? 200, headers }, body);
    // also if the program's error was replaced with a result
    else this.incoming.answer(200, adapted, headers);
  }

  private stream(response: IncomingMessage): void {
    const { statusCode = 200 } = response;
    this.incoming.beginStream({ statusCode, headers: this.begin(response) });
    readEvents(response, ({ data, ...event }) => {
      if (this.isSettled) return;
      const adapted = data === undefined ? undefined : this.adapt(data);
      this.incoming.sendEvent({ ...event, data: adapted }, this.program, response);
    });
    response.once('end', () => {
      if (this.isSettled) return;
      this.isSettled = true;
      this.incoming.response.end();
    });
  }

  private leave(): void {
    if (this.isSettled) return;
    this.isSettled = true;
    this.received?.abandon();
  }
}

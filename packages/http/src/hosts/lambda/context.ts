import type { Principal } from '@decorum/core';

import type { RequestHead } from '../../auth/auth.js';
import type { Bodies, BodyReceiver } from '../../endpoint/body.js';
import { type AnswerHeaders, type Headers, JSON_TYPE, type Sink } from '../../endpoint/http-context.js';
import { HttpError } from '../../endpoint/http-error.js';
import { isAt } from '../../endpoint/paths.js';
import type { PipelineContext, PipelinedPost } from '../../endpoint/pipeline.js';
import type { SlowReaders } from '../../endpoint/slow-readers.js';
import { LambdaBody } from './body.js';
import type { LambdaEvent } from './event.js';
import type { EventOutput } from './output.js';
import type { EventRequest } from './request.js';

/** An event, and the means to answer it. */
export class EventContext implements PipelineContext<LambdaEvent> {
  /** Connections end at the gateway. */
  readonly localPort: undefined;
  readonly vary: undefined;
  readonly isPipelined = false;
  principal: Principal | undefined;
  routes: PipelineContext<LambdaEvent>['routes'];
  /** Unused: Lambda takes responses from the process as fast as it sends them. */
  readers: SlowReaders | undefined;
  private always: AnswerHeaders | undefined;
  private sink: Sink | undefined;
  private hasAnswered = false;
  private readonly onGone = new Set<() => void>();

  /** @param request the event, whose parts `found` has */
  constructor(
    readonly request: LambdaEvent,
    private readonly found: EventRequest,
    private readonly output: EventOutput,
  ) {}

  get isFromGateway(): boolean {
    return this.found.isFromGateway;
  }

  get method(): string {
    return this.found.method;
  }

  get url(): string {
    return this.found.url;
  }

  get headers(): Headers {
    return this.found.headers;
  }

  get remoteAddress(): string | undefined {
    return this.found.remoteAddress;
  }

  get head(): RequestHead {
    const { method, url, headers, authorizations, remoteAddress } = this.found;
    return { method, url, headers, authorizations, remoteAddress };
  }

  get hasBody(): boolean {
    return this.found.body !== undefined;
  }

  get gone(): boolean {
    return this.output.gone;
  }

  postpone({ begin }: PipelinedPost): void {
    begin();
  }

  isAt(path: string): boolean {
    return isAt(path, this.url);
  }

  onClose(callback: () => void): () => void {
    this.onGone.add(callback);
    return () => void this.onGone.delete(callback);
  }

  read(bodies: Bodies, receiver: BodyReceiver): void {
    new LambdaBody(bodies, this, receiver).take(this.found.body);
  }

  preset(headers: AnswerHeaders): void {
    this.always = { ...this.always, ...headers };
  }

  answer(status: number, body?: string, headers?: AnswerHeaders): void {
    if (this.hasAnswered) return;
    this.hasAnswered = true;
    const typed = body === undefined ? headers : { 'content-type': JSON_TYPE, ...headers };
    this.output.answer(status, this.described(typed), this.method === 'HEAD' ? '' : (body ?? ''));
  }

  open(headers: AnswerHeaders): Sink {
    this.hasAnswered = true;
    return (this.sink = this.output.open(this.described(headers), () => this.leave()));
  }

  drop(): void {
    this.hasAnswered = true;
    this.output.drop();
  }

  /** Nothing to do: Lambda keeps the event anyway. */
  forgetBody(): void {}

  /** Ends the response if nothing else has, because the time is over. */
  giveUp(): void {
    this.leave();
    if (this.sink?.closed === false) this.sink.end('');
    this.answer(503, new HttpError(503, 'The server ran out of time. Try again.').body());
  }

  private leave(): void {
    for (const callback of this.onGone) callback();
  }

  /** The gateway manages connections, so the `connection` header is removed. */
  private described(headers: AnswerHeaders | undefined): AnswerHeaders {
    const { connection: _connection, ...described } = { ...this.always, ...headers };
    return described;
  }
}

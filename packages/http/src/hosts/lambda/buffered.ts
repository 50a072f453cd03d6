import { Buffer } from 'node:buffer';

import { errorFrame } from '@decorum/core/transport';
import { FAILURES, readableId } from '@decorum/core/internal';

import type { AnswerHeaders, Sink } from '../../endpoint/http-context.js';
import { internalError } from '../../endpoint/answer.js';
import type { LambdaEvent } from './event.js';
import type { EventOutput } from './output.js';
import type { EventRequest } from './request.js';

/**
 * The response to an event, in the form that fits the event's format. It fits the types of `@types/aws-lambda`, too,
 * whose lists aren't `readonly`.
 */
export interface LambdaResult {
  readonly statusCode: number;
  readonly headers?: Record<string, string>;
  /** For load balancers that send several values of each header. */
  readonly multiValueHeaders?: Record<string, string[]>;
  /** Format 2.0: the values of `Set-Cookie`. */
  readonly cookies?: string[];
  readonly body: string;
  readonly isBase64Encoded: false;
}

const MIB = 1_048_576;

/** Bytes that a response can have, as JSON: the quotas of Lambda, and of load balancers. */
const LIMITS = { '1.0': 6 * MIB, '2.0': 6 * MIB, elb: MIB };

/** One character of text takes at most this many bytes in JSON. */
const MAX_BYTES_OF_CHARACTER = 6;

/** A response of this many characters has no room for more messages that clients can do without. */
const CROWDED = MIB / 4;

/** What the response to an event needs to know of it. */
export interface BufferedEvent {
  readonly event: LambdaEvent;
  readonly request: EventRequest;
  /** Tells the operator. */
  warn(message: string): void;
  resolve(result: LambdaResult): void;
}

/** Collects the response to an event, and returns it when it is complete. */
export class BufferedOutput implements EventOutput {
  /** The gateway does not tell. */
  readonly gone = false;
  private isStream = false;

  constructor(private readonly of: BufferedEvent) {}

  answer(status: number, headers: AnswerHeaders, body: string): void {
    const { event, request, resolve } = this.of;
    const result = resultOf(event, request, { status, headers, body });
    const limit = LIMITS[request.format];
    const mayExceed = body.length * MAX_BYTES_OF_CHARACTER > limit / 2;
    const bytes = mayExceed ? Buffer.byteLength(JSON.stringify(result)) : 0;
    resolve(bytes > limit ? this.tooLarge(headers, bytes, limit) : result);
  }

  open(headers: AnswerHeaders): Sink {
    this.isStream = true;
    return new CollectingSink((text) => {
      if (text === undefined) this.drop();
      else this.answer(200, headers, text);
    });
  }

  drop(): void {
    this.of.resolve({ statusCode: 500, body: internalError(), isBase64Encoded: false });
  }

  /** The error that replaces a response which Lambda would not send. */
  private tooLarge(headers: AnswerHeaders, bytes: number, limit: number): LambdaResult {
    const { event, request, warn } = this.of;
    const sizes = `${bytes.toLocaleString('en')} bytes, but Lambda sends at most ${limit.toLocaleString('en')}`;
    warn(`A response has ${sizes}. Return less, link to the data instead, or serve with \`streamingLambdaHandler\`.`);
    const id = idOf(request.body);
    const message = `The result is too large: it has ${sizes}. Ask for less.`;
    const text = errorFrame(id, { code: FAILURES['internal-error'].code, message });
    const body = this.isStream ? `event: message\ndata: ${text}\n\n` : text;
    return resultOf(event, request, { status: id === undefined ? 500 : 200, headers, body });
  }
}

/** The id of the request in a body; undefined for a batch, and if there is none. */
function idOf(body: Buffer | undefined) {
  try {
    return readableId(JSON.parse(String(body)));
  } catch {
    return undefined;
  }
}

interface Response {
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly body: string;
}

function resultOf(event: LambdaEvent, { format }: EventRequest, response: Response): LambdaResult {
  const { status: statusCode, headers, body } = response;
  const common = { statusCode, body, isBase64Encoded: false } as const;
  if (format === 'elb' && event.multiValueHeaders) {
    const lists = Object.entries(headers).map(([name, value]) => [name, [value]]);
    return { ...common, multiValueHeaders: Object.fromEntries(lists) as Record<string, string[]> };
  }
  const { 'set-cookie': cookie, ...others } = headers;
  if (format !== '2.0' || cookie === undefined) return { ...common, headers };
  return { ...common, headers: others, cookies: [cookie] };
}

/** A stream whose whole text is one response. */
class CollectingSink implements Sink {
  closed = false;
  readonly backlog = 0;
  private readonly texts: string[] = [];
  private size = 0;
  private looks = 0;
  private owner: Parameters<Sink['own']>[0] | undefined;

  /** @param finish called with the text, or with nothing if the stream has failed */
  constructor(private readonly finish: (text: string | undefined) => void) {}

  /** A crowded response leaves out progress and log messages. */
  get slow(): boolean {
    return this.size > CROWDED;
  }

  /** Changes with each look, because the end always takes everything: nothing is stuck. */
  get left(): number {
    return ++this.looks;
  }

  own(owner: Parameters<Sink['own']>[0]): void {
    this.owner = owner;
  }

  // headers are sent with the text
  start(): void {}

  write(text: string): boolean {
    if (this.closed) return false;
    this.texts.push(text);
    this.size += text.length;
    return !this.slow;
  }

  end(text: string): void {
    if (this.closed) return;
    this.texts.push(text);
    this.over(this.texts.join(''));
  }

  destroy(): void {
    if (!this.closed) this.over(undefined);
  }

  private over(text: string | undefined): void {
    this.closed = true;
    this.finish(text);
    this.owner?.closed(this);
  }
}

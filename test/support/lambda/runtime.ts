// What Lambda's runtime for Node.js does with a function whose response is streamed, as far as a function can tell:
// https://github.com/aws/aws-lambda-nodejs-runtime-interface-client
import { PassThrough } from 'node:stream';

import type { LambdaContext, LambdaEvent, LambdaResponseStream } from '@decorum/http/lambda';

const STREAMING = Symbol.for('aws.lambda.runtime.handler.streaming');
const HTTP_TYPE = 'application/vnd.awslambda.http-integration-response';
/** What the runtime calls before the first write. */
const BEFORE = '_onBeforeFirstWrite';
const DELIMITER = Buffer.alloc(8);

type StreamingFunction = (event: LambdaEvent, stream: LambdaResponseStream, context: LambdaContext) => Promise<void>;

/** The stream that functions get. It has only the members that the runtime's stream has. */
interface RuntimeStream extends LambdaResponseStream {
  setContentType(type: string): void;
  [BEFORE]?: (write: (chunk: Uint8Array | string) => void) => void;
}

const AWSLAMBDA = {
  streamifyResponse: <F extends object>(handler: F): F => Object.assign(handler, { [STREAMING]: 'response' }),
  HttpResponseStream: {
    from(stream: RuntimeStream, prelude: object): RuntimeStream {
      stream.setContentType(HTTP_TYPE);
      stream[BEFORE] = (write) => {
        write(JSON.stringify(prelude));
        write(DELIMITER);
      };
      return stream;
    },
  },
};

/** Adds the global of the runtime. Call it before the function is created. */
export function installRuntime(): () => void {
  Object.assign(globalThis, { awslambda: AWSLAMBDA });
  return () => void Reflect.deleteProperty(globalThis, 'awslambda');
}

/** A response as the caller of the function sees it. */
export interface Streamed {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies?: readonly string[];
  readonly body: AsyncIterable<Buffer>;
  /** Resolves when the runtime is ready for the next event. Rejects if the function has failed. */
  readonly done: Promise<void>;
  /** Loses the connection to the caller. */
  break(): void;
}

/** Runs a function for one event. Resolves when its status and headers have arrived. */
export async function invokeStreaming(
  handler: StreamingFunction,
  event: LambdaEvent,
  context: LambdaContext,
): Promise<Streamed> {
  if ((handler as unknown as Record<symbol, unknown>)[STREAMING] !== 'response') {
    throw new Error('The function is not marked with awslambda.streamifyResponse.');
  }
  const { pipe, stream, type } = responseStream();
  const waits: LambdaContext = { callbackWaitsForEmptyEventLoop: true, ...context };
  const run = async () => {
    await handler(event, stream, waits);
    if (!pipe.writableFinished) throw new Error('Response stream is not finished.');
    if (waits.callbackWaitsForEmptyEventLoop !== false) throw new Error('The next event waits for the event loop.');
  };
  const done = run();
  done.catch((error: Error) => pipe.destroy(error));
  const body = pipe[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let head = Buffer.alloc(0);
  while (!head.includes(DELIMITER)) {
    const { value, done: isOver } = await body.next();
    if (isOver) throw new Error('The response ended before its status and headers.');
    head = Buffer.concat([head, value]);
  }
  if (type() !== HTTP_TYPE) throw new Error(`The content type is ${type()}.`);
  const at = head.indexOf(DELIMITER);
  const prelude = JSON.parse(head.toString('utf8', 0, at)) as Omit<Streamed, 'body' | 'done' | 'break'>;
  async function* rest() {
    yield head.subarray(at + DELIMITER.length);
    yield* { [Symbol.asyncIterator]: () => body };
  }
  return { ...prelude, body: rest(), done, break: () => pipe.destroy() };
}

function responseStream() {
  const pipe = new PassThrough();
  let contentType = 'application/octet-stream';
  let isFirst = true;
  const write = (chunk: string | Uint8Array) => pipe.write(chunk);
  const stream: RuntimeStream = {
    setContentType: (type) => void (contentType = type),
    get writableLength() {
      return pipe.writableLength;
    },
    write(text) {
      if (isFirst) stream[BEFORE]?.(write);
      isFirst = false;
      return write(text);
    },
    // it takes no text, and sends no prelude
    end: () => pipe.end(),
    on: pipe.on.bind(pipe),
    once: pipe.once.bind(pipe),
  };
  return { pipe, stream, type: () => contentType };
}

/** The text of a response, once it is complete. */
export async function textOf({ body, done }: Streamed): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  await done;
  return Buffer.concat(chunks).toString();
}

/** An invocation that ends after some time, by the clock of the test. */
export const endingIn = (ms: number): LambdaContext => ({ getRemainingTimeInMillis: () => ms });

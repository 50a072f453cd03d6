import type { LambdaContext, LambdaEvent } from './event.js';

/** The stream that Lambda passes to functions with streamed responses: a subset of a Node.js stream. */
export interface LambdaResponseStream {
  readonly writableLength?: number;
  write(text: string): boolean;
  end(): unknown;
  on(event: 'drain', listener: () => void): unknown;
  once(event: 'finish' | 'close', listener: () => void): unknown;
  once(event: 'error', listener: (error: Error) => void): unknown;
}

/** Status and headers of a streamed response. */
interface Prelude {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies?: readonly string[];
}

/** A function with a streamed response. */
type StreamingFunction = (event: LambdaEvent, stream: LambdaResponseStream, context?: LambdaContext) => Promise<void>;

/** The global of Lambda's Node.js runtime. Its open source is the package `aws-lambda-ric`. */
interface Runtime {
  streamifyResponse<F extends StreamingFunction>(handler: F): F;
  readonly HttpResponseStream: { from(stream: LambdaResponseStream, prelude: Prelude): LambdaResponseStream };
}

const runtime = () => (globalThis as { readonly awslambda?: Runtime }).awslambda;

/**
 * Marks a function as one with a streamed response. Elsewhere than in Lambda, there is nothing to mark it with, but tools
 * load programs, too.
 */
export function streamified<F extends StreamingFunction>(handler: F): F {
  return runtime()?.streamifyResponse(handler) ?? handler;
}

/**
 * The stream of a response with a status and headers.
 * @throws {TypeError} elsewhere than in Lambda's runtime for Node.js
 */
export function httpStreamOf(stream: LambdaResponseStream, prelude: Prelude): LambdaResponseStream {
  return requireRuntime().HttpResponseStream.from(stream, prelude);
}

/** @throws {TypeError} elsewhere than in Lambda's runtime for Node.js */
export function requireRuntime(): Runtime {
  const found = runtime();
  if (found !== undefined) return found;
  throw new TypeError(
    'The handler of `streamingLambdaHandler` runs only in the Node.js runtime of AWS Lambda, which has the global ' +
      '`awslambda`. Use `lambdaHandler` for other runtimes and in tests.',
  );
}

import { clearTimeout, setImmediate, setTimeout } from 'node:timers';

import type { Host } from '@decorum/core/transport';

import { LateEndpoint, requireServer } from '../../endpoint/late-endpoint.js';
import { serving } from '../../endpoint/serving.js';
import { BufferedOutput, type LambdaResult } from './buffered.js';
import { EventContext } from './context.js';
import { formatOf, type LambdaContext, type LambdaEvent } from './event.js';
import {
  type LambdaHandlerOptions,
  type LambdaSettings,
  lambdaSettings,
  type StreamingLambdaHandlerOptions,
  type Where,
} from './options.js';
import type { EventOutput } from './output.js';
import { type EventRequest, readEvent } from './request.js';
import { type LambdaResponseStream, requireRuntime, streamified } from './runtime.js';
import { StreamedOutput } from './streamed.js';

/** What both kinds of handler have. */
interface Startable {
  /** Resolves when the server has started. Earlier events wait for it. */
  readonly ready: Promise<void>;
  /** Waits for requests in flight and answers new ones with 503. The server itself stays open. */
  close(): Promise<void>;
}

/** A function for AWS Lambda that returns its response. */
export interface LambdaHandler extends Startable {
  /** Resolves with the whole response. Rejects only if the event isn't an HTTP request. */
  (event: LambdaEvent<object>, context?: LambdaContext): Promise<LambdaResult>;
}

/** A function for AWS Lambda that streams its response. */
export interface StreamingLambdaHandler extends Startable {
  /** Resolves when the response has been sent. Rejects if it can't be sent, or if the event isn't an HTTP request. */
  (event: LambdaEvent<object>, stream: LambdaResponseStream, context?: LambdaContext): Promise<void>;
}

/**
 * Serves MCP on AWS Lambda, behind API Gateway (REST or HTTP), a function URL or an Application Load Balancer. Each
 * request is served on its own: clients get no sessions, no streams and no subscriptions. Progress and log messages
 * arrive together with the result.
 *
 * `Host` needs no check, because API Gateway and function URLs pass only requests for their own domains. Pass
 * `allowedHosts` to accept fewer of them. Behind a load balancer, `allowedHosts` is required.
 * @returns the handler. `ready` rejects with `DECORUM_SERVER_CLOSED` or with the error that one of the server's hooks has
 * thrown
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`, also for options that can't work on Lambda
 * @example
 * ```ts
 * import { lambdaHandler } from '@decorum/http/lambda';
 *
 * export const handler = lambdaHandler(server);
 * ```
 */
export function lambdaHandler(server: Host, options: LambdaHandlerOptions = {}): LambdaHandler {
  const { late, serve } = open('lambdaHandler', server, options);
  const handle = async (given: LambdaEvent<object>, context: LambdaContext = {}): Promise<LambdaResult> =>
    await serve(given, context, ({ event, request }, resolve: (result: LambdaResult) => void) => {
      return new BufferedOutput({ event, request, warn: (message) => late.warn(message), resolve });
    });
  return Object.assign(handle, { ready: late.ready, close: () => late.close() });
}

/**
 * Serves MCP on AWS Lambda with streamed responses: progress and log messages arrive at once, and a response may be larger
 * than 6 MB. For function URLs whose invoke mode is `RESPONSE_STREAM`, and REST APIs that stream. With `sessions` and
 * shared stores, clients of all revisions can be asked questions. Clients can open no other streams, and can't subscribe.
 * @returns the handler, see `lambdaHandler`. It runs only in Lambda's runtime for Node.js
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`, also for options that can't work on Lambda
 * @example
 * ```ts
 * import { streamingLambdaHandler } from '@decorum/http/lambda';
 *
 * export const handler = streamingLambdaHandler(server);
 * ```
 */
export function streamingLambdaHandler(
  server: Host,
  options: StreamingLambdaHandlerOptions = {},
): StreamingLambdaHandler {
  const { late, serve } = open('streamingLambdaHandler', server, options);
  const handle = async (event: LambdaEvent<object>, stream: LambdaResponseStream, context: LambdaContext = {}) => {
    requireRuntime();
    // otherwise open connections would delay the next event for ever
    context.callbackWaitsForEmptyEventLoop = false;
    await serve(event, context, ({ request: { format } }, finished: (nothing?: undefined) => void, failed) => {
      return new StreamedOutput({ stream, format, finished: () => finished(), failed });
    });
  };
  return Object.assign(streamified(handle), { ready: late.ready, close: () => late.close() });
}

/** Creates where the response goes. */
type Output<Result> = (
  arrived: { readonly event: LambdaEvent; readonly request: EventRequest },
  resolve: (result: Result) => void,
  reject: (error: Error) => void,
) => EventOutput;

function open(where: Where, server: Host, options: StreamingLambdaHandlerOptions) {
  // before the options, because Lambda calls a function with an event and a context
  requireServer(server, where);
  const settings = lambdaSettings(where, options, server);
  const late = new LateEndpoint<LambdaEvent>(server, settings.endpoint, { where, isBrief: true });
  const take = serving(late, where);
  const serve = async <Result>(given: object, context: LambdaContext, output: Output<Result>): Promise<Result> => {
    const event = given as LambdaEvent;
    const request = readEvent(event, formatOf(event, where), settings);
    let deadline: NodeJS.Timeout | undefined;
    try {
      return await new Promise<Result>((resolve, reject) => {
        const arrived = new EventContext(event, request, output({ event, request }, resolve, reject));
        deadline = endInTime(arrived, late, remainingMs(context, settings));
        take(arrived);
      });
    } finally {
      clearTimeout(deadline);
    }
  };
  return { late, serve };
}

/** Milliseconds that a request gets; undefined if there is no limit. */
function remainingMs(context: LambdaContext, { deadlineMarginMs }: LambdaSettings): number | undefined {
  const left = context.getRemainingTimeInMillis?.();
  return left === undefined ? undefined : Math.max(0, left - deadlineMarginMs);
}

/** Lambda ends an invocation without a word when its time is over, so the request ends before. */
function endInTime(
  context: EventContext,
  late: LateEndpoint<LambdaEvent>,
  ms: number | undefined,
): NodeJS.Timeout | undefined {
  if (ms === undefined) return undefined;
  return setTimeout(() => {
    late.cancelOverdue(context);
    // what has been cancelled answers first
    setImmediate(() => context.giveUp());
  }, ms);
}

import { attempt, isObject, requireFinite } from '@decorum/schema/internal';

import { FAILURES, McpError } from '../protocol/errors.js';
import type { Exchange } from '../protocol/exchange.js';
import { errorFrame, isUnanswered, readableId, resultFrame } from '../protocol/jsonrpc.js';
import type { Conversation } from '../protocol/peer.js';
import { McpLimitError } from '../protocol/limits.js';
import type { RequestId } from '../protocol/model.js';
import { type Cancellation, CANCELLATION_ERRORS, type Reply } from '../protocol/reply.js';
import type { Wire } from '../protocol/wire.js';
import { unreadableId } from './batch.js';
import type { InFlight } from './in-flight.js';
import type { MethodParts } from './methods/method.js';
import { signInResult } from './tool-sign-in.js';
import type { Unopened } from './unopened.js';

/** A message that is not JSON-RPC, or exceeds a limit. */
type Malformed = Pick<Unopened, 'wire' | 'conversation'> & { readonly message: unknown };

/** Creates the replies to messages that failed. */
export class Failures {
  constructor(
    private readonly parts: Pick<MethodParts, 'reporter' | 'results' | 'hit'>,
    private readonly inFlight: InFlight,
  ) {}

  /** The reply to a request that failed before its handler ran. */
  before(error: unknown, exchange: Exchange): Reply {
    return this.signIn(error, exchange) ?? this.reject(error, exchange.id, exchange.wire);
  }

  /** The reply to a request that failed while it ran. A client that cancelled the request gets none. */
  after(failure: Error | Cancellation | unknown, exchange: Exchange): Reply {
    const { id, revision, cancelled } = exchange;
    if (cancelled !== undefined) {
      const ended = CANCELLATION_ERRORS[cancelled];
      return { text: ended && errorFrame(id, ended), cancelled };
    }
    const signIn = this.signIn(failure, exchange);
    if (signIn) return signIn;
    const { reporter, hit } = this.parts;
    if (failure instanceof McpLimitError) hit(failure.hitBy(exchange.wire));
    const error = reporter.publicError(failure, exchange);
    const code = revision.errorCode(error) ?? FAILURES['internal-error'].code;
    try {
      const text = errorFrame(id, { code, message: error.message, data: error.data });
      requireFinite(error.data, text);
      return { text, failure: error, ran: true, code, thrown: failure };
    } catch (unwritable) {
      // the error's data is not JSON
      const masked = reporter.publicError(unwritable, exchange);
      return { text: errorFrame(id, masked), failure: masked, ran: true, thrown: unwritable };
    }
  }

  /** The reply to a denied tool call, if its client signs in by the result. */
  private signIn(failure: unknown, exchange: Exchange): Reply | undefined {
    if (!(failure instanceof McpError)) return undefined;
    const result = signInResult(failure, exchange, this.parts.results);
    return result === undefined ? undefined : { text: resultFrame(exchange.id, result), denied: failure };
  }

  /** The reply to a message that failed before anything ran. */
  reject(error: unknown, id: RequestId | null | undefined, wire?: Wire): Reply {
    if (error instanceof McpLimitError) this.parts.hit(error.hitBy(wire));
    const failure = error instanceof McpError ? error : new McpError('internal-error', 'Internal error');
    const text = errorFrame(id, failure);
    if (failure === error) return { text, failure, thrown: error };
    return { text, failure, thrown: error, reference: this.parts.reporter.report(error) };
  }

  /** Rejects a duplicate id without repeating it: the client would take the error for the first request's response. */
  duplicate({ revision }: Conversation): Reply {
    return this.reject(new McpError('invalid-request', 'Another request has this id.'), revision.unreadableId);
  }

  /** The reply to anything but a JSON-RPC message. */
  malformed(error: unknown, { message, wire, conversation }: Malformed): Reply {
    const id = readableId(message);
    const isTaken = conversation !== undefined && this.inFlight.find(conversation, id) !== undefined;
    const rejected = this.reject(error, (isTaken ? undefined : id) ?? unreadableId(message, conversation), wire);
    // a malformed response still settles its question
    if (isObject(message) && !('method' in message)) {
      // nothing waits for another process to take it
      attempt(
        () => conversation?.settle({ jsonrpc: '2.0', id: message['id'] as RequestId }),
        () => {},
      );
    }
    // never answer responses: two peers rejecting each other's errors would loop forever
    return isUnanswered(message) ? { ...rejected, text: undefined } : rejected;
  }
}

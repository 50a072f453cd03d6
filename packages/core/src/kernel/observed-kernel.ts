import type { Session } from '../protocol/eras/stateful.js';
import type { Conversation, Exchange } from '../protocol/exchange.js';
import type { JsonRpcNotification } from '../protocol/jsonrpc.js';
import { andThen } from '../protocol/maybe-promise.js';
import { beginsConversation } from '../protocol/methods.js';
import type { ObservedQuestion, ObservedRequest, QuestionOutcome } from '../protocol/observed.js';
import type { Reply } from '../protocol/reply.js';
import type { Wire } from '../protocol/wire.js';
import { Kernel } from './kernel.js';
import type { CallResult } from './interceptors.js';
import { type Invocation, Members, type Outcome as Ended } from './members.js';
import type { KernelParts } from './methods/method.js';
import { knownMethods, noteEnd, observedExchange, observedMessage, type Outcome, outcomeOf } from './observed.js';
import { askingOf } from './observed-questions.js';
import { ObservedSessions, type SessionObserver } from './observed-sessions.js';
import { type Observer, Observers } from './observers.js';
import type { Unopened } from './unopened.js';

/** Runs members, and notes how each has ended. */
class ObservedMembers extends Members {
  override run<R extends CallResult>(
    exchange: Exchange,
    invocation: Invocation<R>,
    mayRun?: boolean,
  ): Ended<R> | Promise<Ended<R>> {
    return andThen(super.run(exchange, invocation, mayRun), (ended) => {
      noteEnd(exchange, ended);
      return ended;
    });
  }
}

/** The functions of plugins that stand around messages. */
export interface Observing {
  readonly requests: readonly Observer<ObservedRequest, Outcome>[];
  readonly questions: readonly Observer<ObservedQuestion, QuestionOutcome>[];
  readonly sessions: readonly SessionObserver[];
}

/** A kernel with plugins around each message. */
class ObservedKernel extends Kernel {
  private readonly observers: Observers<ObservedRequest, Outcome>;
  private readonly sessions: ObservedSessions;
  private readonly knownMethods: ReadonlySet<string>;

  constructor(parts: KernelParts, observing: Observing) {
    const report = (error: unknown) => void parts.reporter.report(error);
    const asking = askingOf(observing.questions, report);
    super({ ...parts, asking }, new ObservedMembers(parts.reporter, parts.intercept));
    this.observers = new Observers(observing.requests, 'observe', report);
    this.sessions = new ObservedSessions(observing.sessions, report);
    this.knownMethods = knownMethods(parts.extensions.flatMap(({ methods = {} }) => Object.keys(methods)));
  }

  protected override begin(
    exchange: Exchange,
    conversation: Conversation | undefined,
    verdict?: Parameters<Kernel['begin']>[2],
  ): Reply | Promise<Reply> {
    let held: (() => Reply | undefined) | undefined;
    return this.observers.around(observedExchange(exchange, this.parts.registry), {
      start: () => held?.() ?? this.serve(exchange, conversation, verdict),
      end: (reply, milliseconds) => outcomeOf(reply, milliseconds, exchange),
      hold: (reply) =>
        new Promise((resolve) => {
          held = this.hold(exchange, conversation, resolve);
          void reply.then(resolve);
        }),
    });
  }

  override closeSession(session: Session): void {
    super.closeSession(session);
    this.sessions.end(session);
  }

  private serve(...[exchange, conversation, verdict]: Parameters<Kernel['begin']>): Reply | Promise<Reply> {
    this.sessions.see(exchange, true);
    const reply = super.begin(exchange, conversation, verdict);
    if (!beginsConversation(exchange)) return reply;
    return andThen(reply, (begun) => {
      if (begun.failure === undefined && begun.cancelled === undefined) this.sessions.see(exchange, false);
      return begun;
    });
  }

  protected override rejected(reply: Reply, request: Unopened): Reply | Promise<Reply> {
    return this.observers.around(observedMessage(request, this.knownMethods), {
      start: () => reply,
      end: outcomeOf,
    });
  }

  protected override take(
    message: JsonRpcNotification,
    wire: Wire,
    conversation: Conversation | undefined,
  ): Reply | Promise<Reply> {
    return this.observers.around(observedMessage({ message, wire, conversation }, this.knownMethods), {
      start: () => super.take(message, wire, conversation),
      end: outcomeOf,
    });
  }

  /**
   * Keeps a request in flight while a plugin waits, so that it can be cancelled, and counts.
   * @param answer answers before the request has begun
   * @returns lets go of it. Returns the reply if it has been answered
   */
  private hold(
    exchange: Exchange,
    conversation: Conversation | undefined,
    answer: (reply: Reply) => void,
  ): () => Reply | undefined {
    const { inFlight, failures } = this;
    let answered: Reply | undefined;
    const end = (reply: Reply) => {
      exchange.closed = true;
      answer((answered = reply));
    };
    try {
      if (conversation !== undefined) inFlight.requireRoom(exchange, conversation);
    } catch (error) {
      end(failures.reject(error, exchange.id, exchange.wire));
      return () => answered;
    }
    inFlight.enter(exchange, conversation);
    const release = () => {
      exchange.settle = undefined;
      inFlight.leave(exchange, conversation);
    };
    exchange.settle = (early) => {
      release();
      end(failures.after(early, exchange));
    };
    if (exchange.peer.endsWithConnection) exchange.wire.onDisconnect?.(() => exchange.cancel('gone'));
    return () => {
      if (answered === undefined) release();
      return answered;
    };
  }
}

/** Creates the kernel of a server. Without plugins that observe, nothing is added to a call. */
export function createKernel(parts: KernelParts, observing: Observing | undefined): Kernel {
  return observing ? new ObservedKernel(parts, observing) : new Kernel(parts);
}

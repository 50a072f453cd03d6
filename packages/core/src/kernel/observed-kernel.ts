import { andThen } from '@decorum/schema/internal';

import type { Session } from '../protocol/eras/stateful.js';
import type { Conversation, Exchange } from '../protocol/exchange.js';
import type { JsonRpcNotification } from '../protocol/jsonrpc.js';
import { beginsConversation, LISTEN } from '../protocol/methods.js';
import type { Observation, ObservedQuestion, ObservedRequest, QuestionOutcome } from '../protocol/observed.js';
import type { Reply } from '../protocol/reply.js';
import type { Wire } from '../protocol/wire.js';
import { Kernel } from './kernel.js';
import type { CallResult } from './interceptors.js';
import { type Invocation, Members, type Outcome } from './members.js';
import type { KernelParts } from './methods/method.js';
import { knownMethods, observedExchange, observedMessage, type RequestOutcome, outcomeOf } from './observed.js';
import { askingOf } from './observed-questions.js';
import { ObservedSessions, type SessionHook } from './observed-sessions.js';
import { type Hooks, Observers, Work } from './observers.js';
import type { Unopened } from './unopened.js';

/** Runs members, and records the outcome of each. */
class ObservedMembers extends Members {
  override run<R extends CallResult>(
    exchange: Exchange,
    invocation: Invocation<R>,
    mayRun?: boolean,
  ): Outcome<R> | Promise<Outcome<R>> {
    const ended = super.run(exchange, invocation, mayRun);
    return ended instanceof Promise ? ended.then((late) => note(exchange, late)) : note(exchange, ended);
  }
}

function note<R>(exchange: Exchange, ended: Outcome<R>): Outcome<R> {
  (exchange.observation as Observation).ended = ended;
  return ended;
}

/** The plugin functions for requests, questions and sessions. */
export interface Observing {
  readonly requests: Hooks<ObservedRequest, RequestOutcome>;
  readonly questions: Hooks<ObservedQuestion, QuestionOutcome>;
  readonly sessions: readonly SessionHook[];
}

/** The arguments of `begin`, besides the exchange. */
interface Beginning {
  readonly conversation: Conversation | undefined;
  readonly verdict: Parameters<Kernel['begin']>[2];
}

const UNANSWERED: Reply = { text: undefined };

/** Runs a request. */
class Running extends Work<Reply, RequestOutcome> implements Observation, Beginning {
  readonly conversation: Conversation | undefined;
  readonly verdict: Beginning['verdict'];
  readonly request: ObservedRequest;
  ended: Outcome<unknown> | undefined = undefined;
  isDenied = false;
  shown: Observation['shown'] = undefined;
  /** Releases a request that was held in flight. Returns the reply if the request has been answered. */
  private release: (() => Reply | undefined) | undefined = undefined;

  constructor(
    readonly exchange: Exchange,
    private readonly kernel: ObservedKernel,
    { conversation, verdict }: Beginning,
  ) {
    super();
    this.conversation = conversation;
    this.verdict = verdict;
    this.request = kernel.requestOf(exchange);
    exchange.observation = this;
  }

  override held(): Promise<Reply> {
    return new Promise((resolve) => {
      this.release = this.kernel.hold(this, resolve);
      void super.held().then(resolve);
    });
  }

  protected start(): Reply | Promise<Reply> {
    return this.release?.() ?? this.kernel.serve(this);
  }

  protected endOf(reply: Reply, milliseconds: number): RequestOutcome {
    // clients cancel a listen request when they no longer need it
    const isListen = this.exchange.method === LISTEN;
    return outcomeOf(isListen && reply.cancelled !== undefined ? UNANSWERED : reply, milliseconds, this);
  }
}

/** A message that runs no member. */
class Taking extends Work<Reply, RequestOutcome> {
  protected endOf(reply: Reply, milliseconds: number): RequestOutcome {
    return outcomeOf(reply, milliseconds);
  }

  constructor(protected readonly start: () => Reply | Promise<Reply>) {
    super();
  }
}

/** A kernel that runs plugins around each message. */
class ObservedKernel extends Kernel {
  private readonly observers: Observers<ObservedRequest, RequestOutcome>;
  private readonly sessions: ObservedSessions;
  private readonly knownMethods: ReadonlySet<string>;

  constructor(parts: KernelParts, observing: Observing) {
    const report = (error: unknown) => void parts.reporter.report(error);
    const asking = askingOf(observing.questions, report);
    super({ ...parts, asking }, new ObservedMembers(parts.reporter, parts.intercept));
    this.observers = new Observers(observing.requests, report);
    this.sessions = new ObservedSessions(observing.sessions, report);
    this.knownMethods = knownMethods(parts.extensions.flatMap(({ methods = {} }) => Object.keys(methods)));
  }

  protected override begin(
    exchange: Exchange,
    conversation: Conversation | undefined,
    verdict?: Parameters<Kernel['begin']>[2],
  ): Reply | Promise<Reply> {
    const running = new Running(exchange, this, { conversation, verdict });
    return this.observers.observe(running.request, running);
  }

  /** A request, as plugins see it. */
  requestOf(exchange: Exchange): ObservedRequest {
    return observedExchange(exchange, this.parts.registry);
  }

  override closeSession(session: Session): void {
    super.closeSession(session);
    this.sessions.end(session);
  }

  /** Runs a request inside the plugin functions. */
  serve({ exchange, conversation, verdict }: Running): Reply | Promise<Reply> {
    this.sessions.see(exchange, true);
    const reply = super.begin(exchange, conversation, verdict);
    if (!beginsConversation(exchange)) return reply;
    return andThen(reply, (begun) => {
      if (begun.failure === undefined && begun.cancelled === undefined) this.sessions.see(exchange, false);
      return begun;
    });
  }

  protected override rejected(reply: Reply, request: Unopened): Reply | Promise<Reply> {
    return this.observers.observe(observedMessage(request, this.knownMethods), new Taking(() => reply));
  }

  protected override take(
    message: JsonRpcNotification,
    wire: Wire,
    conversation: Conversation | undefined,
  ): Reply | Promise<Reply> {
    const notification = observedMessage({ message, wire, conversation }, this.knownMethods);
    return this.observers.observe(notification, new Taking(() => super.take(message, wire, conversation)));
  }

  /**
   * Holds a request in flight while a plugin waits: it can be cancelled, and it counts toward `maxOpenCalls`.
   * @param answer sends a reply before the request has begun
   * @returns a function that releases the request, and returns the reply if the request has been answered
   */
  hold({ exchange, conversation }: Running, answer: (reply: Reply) => void): () => Reply | undefined {
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

/** Creates the kernel of a server. Without plugins that observe, calls do no extra work. */
export function createKernel(parts: KernelParts, observing: Observing | undefined): Kernel {
  return observing ? new ObservedKernel(parts, observing) : new Kernel(parts);
}

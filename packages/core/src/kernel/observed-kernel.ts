import { andThen } from '@decorum/schema/internal';

import type { Effect } from '../protocol/effects.js';
import type { Session } from '../protocol/eras/stateful.js';
import type { Exchange } from '../protocol/exchange.js';
import type { Conversation } from '../protocol/peer.js';
import type { JsonRpcNotification } from '../protocol/jsonrpc.js';
import { beginsConversation, LISTEN } from '../protocol/methods.js';
import type { Observation, ObservedQuestion, ObservedRequest } from '../protocol/observed.js';
import { NOTHING, type Reply } from '../protocol/reply.js';
import type { Wire } from '../protocol/wire.js';
import type { Verdict } from './judge.js';
import { Kernel, type Steps } from './kernel.js';
import type { CallResult } from './interceptors.js';
import { type Invocation, type MemberRunner, Members, type Outcome } from './members.js';
import type { KernelParts } from './methods/method.js';
import { knownMethods, observedExchange, observedMessage, type RequestOutcome, outcomeOf } from './observed.js';
import { askingOf, type QuestionOutcome } from './observed-questions.js';
import { type DetachedHook, observingRuns } from './observed-runs.js';
import { ObservedSessions, type SessionHook } from './observed-sessions.js';
import { type Hooks, Observers, Task, Work } from './observers.js';
import type { Unopened } from './unopened.js';

/** The plugin functions for requests, questions and sessions. */
export interface Observing {
  readonly requests: Hooks<ObservedRequest, RequestOutcome>;
  readonly questions: Hooks<ObservedQuestion, QuestionOutcome>;
  readonly sessions: readonly SessionHook[];
  readonly detached: readonly DetachedHook[];
}

/** The arguments of `start`, besides the exchange. */
interface Start {
  readonly conversation: Conversation | undefined;
  readonly denial: Verdict;
}

/** Runs a request. */
class Running extends Work<Reply, RequestOutcome> implements Observation {
  readonly request: ObservedRequest;
  ended: Outcome<unknown> | undefined = undefined;
  isDenied = false;
  shown: Observation['shown'] = undefined;
  /** Releases a request that was held in flight. Returns the reply if the request has been answered. */
  private release: (() => Reply | undefined) | undefined = undefined;

  constructor(
    readonly exchange: Exchange,
    private readonly kernel: ObservedKernel,
    readonly args: Start,
  ) {
    super();
    this.request = kernel.requestOf(exchange);
    exchange.observe(this);
  }

  effects(): readonly Effect[] {
    return this.exchange.finishedEffects;
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
    return outcomeOf(isListen && reply.cancelled !== undefined ? NOTHING : reply, milliseconds, this);
  }
}

/** Runs plugins around each message of a kernel. */
class ObservedKernel implements Steps {
  private readonly observers: Observers<ObservedRequest, RequestOutcome>;
  private readonly sessions: ObservedSessions;
  private readonly knownMethods: ReadonlySet<string>;

  constructor(
    private readonly kernel: Kernel,
    private readonly parts: KernelParts,
    { requests, sessions }: Observing,
  ) {
    const report = (error: unknown) => void parts.reporter.report(error);
    this.observers = new Observers(requests, report);
    this.sessions = new ObservedSessions(sessions, report);
    this.knownMethods = knownMethods(parts.extensions.flatMap(({ methods = {} }) => Object.keys(methods)));
  }

  start(exchange: Exchange, conversation: Conversation | undefined, denial?: Verdict): Reply | Promise<Reply> {
    const running = new Running(exchange, this, { conversation, denial });
    return this.observers.observe(running.request, running);
  }

  take(message: JsonRpcNotification, conversation: Conversation | undefined, wire: Wire): Reply | Promise<Reply> {
    const notification = observedMessage({ message, wire, conversation }, this.knownMethods);
    return this.observers.observe(notification, new Task(() => this.kernel.take(message, conversation), outcomeOf));
  }

  rejected(reply: Reply, request: Unopened): Reply | Promise<Reply> {
    return this.observers.observe(observedMessage(request, this.knownMethods), new Task(() => reply, outcomeOf));
  }

  sessionClosed(session: Session): void {
    this.sessions.end(session);
  }

  /** A request, as plugins see it. */
  requestOf(exchange: Exchange): ObservedRequest {
    return observedExchange(exchange, this.parts.registry);
  }

  /** Runs a request inside the plugin functions. */
  serve({ exchange, args: { conversation, denial } }: Running): Reply | Promise<Reply> {
    this.sessions.see(exchange, true);
    const reply = this.kernel.start(exchange, conversation, denial);
    if (!beginsConversation(exchange)) return reply;
    return andThen(reply, (begun) => {
      if (begun.failure === undefined && begun.cancelled === undefined) this.sessions.see(exchange, false);
      return begun;
    });
  }

  /**
   * Holds a request in flight while a plugin waits: it can be cancelled, and it counts toward `maxOpenCalls`.
   * @param answer sends a reply before the request has begun
   * @returns a function that releases the request, and returns the reply if the request has been answered
   */
  hold({ exchange, args: { conversation } }: Running, answer: (reply: Reply) => void): () => Reply | undefined {
    const { inFlight, failures } = this.kernel;
    let answered: Reply | undefined;
    try {
      if (conversation !== undefined) inFlight.requireRoom(exchange, conversation);
    } catch (error) {
      exchange.finish();
      answer((answered = failures.reject(error, exchange.id, exchange.wire)));
      return () => answered;
    }
    inFlight.enter(exchange, conversation);
    exchange.begin((early) => {
      inFlight.leave(exchange, conversation);
      answer((answered = failures.after(early, exchange)));
    });
    return () => {
      if (answered === undefined) {
        exchange.resume();
        inFlight.leave(exchange, conversation);
      }
      return answered;
    };
  }
}

/** Runs members, and records the outcome of each. */
class ObservedMembers implements MemberRunner {
  constructor(private readonly members: MemberRunner) {}

  run<R extends CallResult>(exchange: Exchange, invocation: Invocation<R>): Outcome<R> | Promise<Outcome<R>> {
    return andThen(this.members.run(exchange, invocation), (ended) => {
      (exchange.observation as Observation).ended = ended;
      return ended;
    });
  }
}

/** Creates the kernel of a server. Without plugins that observe, calls do no extra work. */
export function createKernel(parts: KernelParts & { readonly observing: Observing | undefined }): Kernel {
  const { observing } = parts;
  if (observing === undefined) return new Kernel(parts);
  const report = (error: unknown) => void parts.reporter.report(error);
  const asking = askingOf(observing.questions, report);
  const observeRun = observingRuns(observing.detached, parts.registry, report);
  const members = new ObservedMembers(new Members(parts.reporter, parts.intercept));
  return new Kernel({ ...parts, asking, members, observeRun }, (plain) => new ObservedKernel(plain, parts, observing));
}

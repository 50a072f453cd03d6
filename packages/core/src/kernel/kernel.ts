import { andThen, excerpt, isPromise, type JsonObject } from '@decorum/schema/internal';

import { McpError } from '../protocol/errors.js';
import { TransientPeer } from '../protocol/eras/transient.js';
import type { SessionLink, SessionOrigin } from '../protocol/eras/session-record.js';
import { Session, type SessionMeans } from '../protocol/eras/stateful.js';
import { openStateless, type StatelessMeans } from '../protocol/eras/stateless.js';
import { belongsToSession, Exchange } from '../protocol/exchange.js';
import type { Conversation, Peer } from '../protocol/peer.js';
import { checkMessage, type JsonRpcNotification, type JsonRpcRequest, resultFrame } from '../protocol/jsonrpc.js';
import { beginsConversation, LISTEN } from '../protocol/methods.js';
import { NOTHING, type Reply, UNTAKEN } from '../protocol/reply.js';
import type { Revision } from '../protocol/revisions/revision.js';
import type { Wire } from '../protocol/wire.js';
import { Batches } from './batches.js';
import type { RunParts } from './extensions/detached-run.js';
import { tellingSessions } from './extensions/published.js';
import { Failures } from './failures.js';
import { InFlight } from './in-flight.js';
import { forgetSession, isRemembering } from './memory/forgetting.js';
import { Judge, runWhenAllowed, type Verdict } from './judge.js';
import { Members } from './members.js';
import { Adoptions } from './methods/adoptions.js';
import { ExtensionMethods } from './methods/extensions.js';
import type { KernelParts, Method } from './methods/method.js';
import { protocolMethods } from './methods/protocol.js';
import { Results } from './results.js';
import { tagsOfSessions } from './tags-of-sessions.js';
import { type Meant, meantBy } from './tool-catalog.js';
import type { Unopened } from './unopened.js';

/** The steps of a kernel that plugins wrap. */
export interface Steps {
  /** Runs an opened request. The request is in flight while its access functions run. */
  start(exchange: Exchange, conversation: Conversation | undefined, denial?: Verdict): Reply | Promise<Reply>;
  /** Handles a notification. */
  take(message: JsonRpcNotification, conversation: Conversation | undefined, wire: Wire): Reply | Promise<Reply>;
  /** Passes on the reply to a request that could not be opened. */
  rejected?(reply: Reply, request: Unopened): Reply | Promise<Reply>;
  /** Takes note of a session that was closed in this process. */
  sessionClosed?(session: Session): void;
}

/** Takes one message and returns at most one reply. Transports know nothing else about the protocol. */
export class Kernel implements Steps {
  /** Requests in flight over all transports. */
  readonly inFlight: InFlight;
  /** What handlers need that run apart from their request. */
  readonly runs: RunParts;
  /** What sessions need when a principal adopts them. */
  readonly adoptions: Adoptions;
  /** Cap on the values of a message. */
  readonly maxValues: number;
  private readonly methods: ReadonlyMap<string, Method>;
  private readonly extensions: ExtensionMethods;
  private readonly judge: Judge;
  /** Creates the replies to requests that failed. */
  readonly failures: Failures;
  private readonly sessionMeans: SessionMeans;
  private readonly statelessMeans: StatelessMeans;
  private readonly batches: Batches;
  private readonly meant: Meant | undefined;
  private readonly steps: Steps;

  constructor(
    private readonly parts: KernelParts,
    wrap?: (plain: Kernel) => Steps,
  ) {
    const { server, events, limits } = parts;
    this.inFlight = new InFlight(limits.maxOpenCalls);
    this.maxValues = limits.maxValues;
    this.meant = meantBy(parts.catalog);
    this.adoptions = new Adoptions(parts);
    this.judge = new Judge(parts);
    const results = new Results(server);
    this.failures = new Failures({ ...parts, results }, this.inFlight);
    const members = parts.members ?? new Members(parts.reporter, parts.intercept);
    this.runs = { ...parts, inFlight: this.inFlight, members: new Members(parts.reporter, parts.intercept) };
    const means = { ...parts, members, results, runs: this.runs };
    this.extensions = new ExtensionMethods(means);
    this.methods = protocolMethods(means);
    this.statelessMeans = {
      ...parts,
      meant: this.meant,
      subjectOf: (method, revision) => this.extensions.find(method, revision)?.subject,
    };
    const extended = tellingSessions(parts);
    const join = (session: Session) => events.join(session);
    this.sessionMeans = { ...parts, ...tagsOfSessions(parts), extended, join };
    this.steps = wrap?.(this) ?? this;
    const open = this.open.bind(this);
    this.batches = new Batches({ ...parts, open, kernel: this, judge: this.judge, steps: this.steps });
  }

  /** `Class.method` of a member that needs scopes, if there is one. Members may be added while the server runs. */
  get scopedMember(): string | undefined {
    return this.parts.registry.scoped?.where;
  }

  /** Whether some member is open to callers without credentials. Members may be added while the server runs. */
  get hasPublic(): boolean {
    return this.parts.registry.hasPublic;
  }

  /**
   * Handles one parsed message, synchronously if possible. Never throws or rejects. A cancelled request is answered at
   * once, even if its handler keeps running.
   * @param message any value that was parsed from JSON
   * @param wire the connection that the message came over
   * @param conversation the message's conversation; without one, only stateless requests are served
   */
  handle(message: unknown, wire: Wire, conversation?: Conversation): Reply | Promise<Reply> {
    if (Array.isArray(message) && conversation?.revision.batches)
      return this.batches.handle(message, wire, conversation);
    try {
      checkMessage(message, this.parts.limits);
    } catch (error) {
      return this.failures.malformed(error, { message, wire, conversation });
    }
    if (!('method' in message))
      return andThen(conversation?.settle(message), (taken) => (taken === false ? UNTAKEN : NOTHING));
    const { steps } = this;
    if (!('id' in message)) return steps.take(message, conversation, wire);
    const opened = this.open(message, wire, conversation);
    if (opened instanceof Exchange) return steps.start(opened, conversation);
    return steps.rejected?.(opened, { message, wire, conversation }) ?? opened;
  }

  /** Creates the session of a client that is about to send `initialize`, or has sent it to another process. */
  openSession({ id, principal, record }: SessionOrigin, link: SessionLink): Session {
    const now = Date.now();
    return new Session(this.sessionMeans, record ?? { id, principal, createdAt: now, usedAt: now }, link);
  }

  /**
   * Creates a stand-in for a session during one request, for servers without sessions.
   * @param revision the revision that was negotiated earlier; undefined for `initialize`
   */
  openTransient(revision?: Revision): TransientPeer {
    return new TransientPeer(this.parts, revision);
  }

  /** Closes a session in this process: cancels its requests and questions, and stops notifications. */
  closeSession(session: Session): void {
    this.parts.events.leave(session);
    this.inFlight.cancelAll(session, 'session');
    session.close();
    this.steps.sessionClosed?.(session);
  }

  /**
   * Deletes what handlers remember for a session that was closed and won't be opened again. Never rejects.
   * @param isShared whether other processes may have remembered something
   */
  async forgetSession(session: Session, isShared: boolean): Promise<void> {
    if (!isShared && !isRemembering(session)) return;
    // failures are reported already, and what is left expires
    await forgetSession(this.parts.records, session).catch(() => {});
  }

  /** Opens the exchange of a request with its peer, and finds its method. */
  private open(request: JsonRpcRequest, wire: Wire, conversation: Conversation | undefined): Exchange | Reply {
    const { inFlight, parts } = this;
    const isBusy = inFlight.busy > 0 && conversation !== undefined;
    if (isBusy && inFlight.find(conversation, request.id) !== undefined) return this.failures.duplicate(conversation);
    try {
      if (inFlight.stopping) inFlight.requireOpen(wire.owner);
      const sender = this.peerOf(request, wire, conversation);
      const exchange = new Exchange(this.meant?.(request) ?? request, sender, wire);
      const { method, revision, peer } = exchange;
      const traits = revision.methods.get(method);
      const handler = traits ? this.methods.get(method) : this.extensions.find(method, revision)?.handle;
      const isMissing = traits?.needs !== undefined && !parts.registry.offered.has(traits.needs);
      const isForgotten = traits?.remembers === true && peer.memory === undefined;
      const isEndless = method === LISTEN && wire.isBrief === true;
      if (handler === undefined || isMissing || isForgotten || isEndless)
        throw new McpError('method-not-found', 'Method not found');
      exchange.route(handler);
      return exchange;
    } catch (error) {
      return this.failures.reject(error, request.id, wire);
    }
  }

  start(exchange: Exchange, conversation: Conversation | undefined, denial?: Verdict): Reply | Promise<Reply> {
    const { inFlight, failures } = this;
    const { id, wire, peer } = exchange;
    const { scoped, live } = this.parts.registry;
    const isJudged = denial === undefined && (scoped || wire.authorization || live.length > 0);
    const verdict = isJudged ? this.judge.verdict(exchange) : denial;
    try {
      if (verdict !== undefined && !(verdict instanceof Promise)) throw verdict;
      if (inFlight.busy > 0 && conversation !== undefined) inFlight.requireRoom(exchange, conversation);
      if (verdict === undefined) peer.resume?.();
    } catch (error) {
      return failures.before(error, exchange);
    }
    if (peer.endsWithConnection && wire.gone) return { text: undefined, cancelled: 'gone' };
    // handlers may cause another message to be handled synchronously, so restore the previous request afterwards
    const { starting, startingIn } = inFlight;
    try {
      inFlight.starting = exchange;
      inFlight.startingIn = conversation;
      const result = verdict === undefined ? exchange.handler(exchange) : runWhenAllowed(exchange, verdict);
      if (typeof result !== 'string') return this.wait(result, exchange, conversation);
      exchange.finish();
      if (exchange.cancelled !== undefined) return failures.after(exchange.cancelled, exchange);
      return { text: resultFrame(id, result) };
    } catch (error) {
      exchange.finish();
      return failures.after(error, exchange);
    } finally {
      inFlight.starting = starting;
      inFlight.startingIn = startingIn;
    }
  }

  private peerOf(request: JsonRpcRequest, wire: Wire, conversation: Conversation | undefined): Peer {
    if (conversation === undefined || !belongsToSession(request, wire.declaredVersion)) {
      return openStateless(request, wire, this.statelessMeans);
    }
    if (!conversation.initialized && conversation.revision.methods.get(request.method)?.early !== true) {
      throw new McpError('invalid-request', 'The first request of a session is "initialize".');
    }
    return conversation;
  }

  private wait(running: Promise<string>, exchange: Exchange, conversation: Conversation | undefined): Promise<Reply> {
    const { inFlight } = this;
    inFlight.enter(exchange, conversation);
    return new Promise((resolve) => {
      const succeed = (result: string) => {
        inFlight.leave(exchange, conversation);
        if (exchange.finish()) resolve({ text: resultFrame(exchange.id, result) });
      };
      const fail = (error: unknown) => {
        inFlight.leave(exchange, conversation);
        if (exchange.finish()) resolve(this.failures.after(error, exchange));
      };
      running.then(succeed, fail);
      exchange.begin((early) => {
        inFlight.release(exchange, conversation);
        resolve(this.failures.after(early, exchange));
      });
    });
  }

  /**
   * Cancels a request in this process, as its client asked.
   * @param params of the cancellation
   * @returns whether this process has the request
   */
  cancelRequest(conversation: Conversation, { requestId, reason }: JsonObject = {}): boolean {
    const exchange = this.inFlight.find(conversation, requestId);
    if (exchange === undefined || beginsConversation(exchange)) return exchange !== undefined;
    const given = typeof reason === 'string' ? reason : undefined;
    const details = { requestId, method: exchange.method, ...(given !== undefined && { reason: excerpt(given) }) };
    this.parts.reporter.debug(details, 'the client cancelled a request');
    exchange.cancel('client', given);
    return true;
  }

  /** Tells the client of a session that it may have missed changes of anything that it follows. */
  catchUp(session: Session): void {
    if (session.record.joined) this.parts.events.catchUp(session);
  }

  take(message: JsonRpcNotification, conversation: Conversation | undefined): Reply | Promise<Reply> {
    if (conversation === undefined) return NOTHING;
    const { method, params } = message;
    if (method === 'notifications/cancelled') {
      if (!this.cancelRequest(conversation, params)) conversation.forward?.(message);
      return NOTHING;
    }
    // never answer notifications, even if they fail
    const rejected = (error: unknown): Reply => ({ ...this.failures.reject(error, undefined), text: undefined });
    try {
      const kept = conversation.take(method);
      return isPromise(kept) ? kept.then(() => NOTHING, rejected) : NOTHING;
    } catch (error) {
      return rejected(error);
    }
  }
}

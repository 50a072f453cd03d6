import { excerpt, type JsonObject, requireFinite } from '@decorum/schema/internal';

import type { TagVisibility } from '../../protocol/access-caller.js';
import { Effects } from '../../protocol/effects.js';
import { McpError, QuestionError } from '../../protocol/errors.js';
import { Exchange } from '../../protocol/exchange.js';
import { InputSignal } from '../../protocol/input.js';
import { CALL_TOOL } from '../../protocol/methods.js';
import type { CallToolResult, LogLevel } from '../../protocol/model.js';
import type { Client } from '../../protocol/client.js';
import type { Asker, Peer, PeerMeans, Tickets } from '../../protocol/peer.js';
import type { Records } from '../../protocol/records.js';
import { CANCELLATION_ERRORS, NOTHING, type Reply } from '../../protocol/reply.js';
import { revisionOf } from '../../protocol/revisions/index.js';
import type { Question, Revision } from '../../protocol/revisions/revision.js';
import type { ToolPlan } from '../../registry/tool-plan.js';
import { errorResult } from '../../registry/results.js';
import { toolBudget } from '../budgets/member-budgets.js';
import type { ErrorReporter } from '../error-reporter.js';
import type { InFlight } from '../in-flight.js';
import type { MemberRunner } from '../members.js';
import type { Run, RunHost, ToolCall } from './extension.js';

/** Tells plugins that a run begins apart from its request. Returns what tells them how it has ended, the first time. */
export type ObserveRun = (exchange: Exchange) => (reply: Reply) => void;

/** What detached runs need of their server. */
export interface RunParts extends PeerMeans {
  readonly reporter: ErrorReporter;
  readonly members: MemberRunner;
  readonly inFlight: InFlight;
  /** Characters of a result, unless a tool has its own maximum. */
  readonly maxResultChars: number | undefined;
  /** Undefined if no plugin listens. */
  readonly observeRun?: ObserveRun | undefined;
}

/** What a run has from its request; nothing if it runs apart from any request. */
export interface Origin {
  readonly effects: Effects;
  claim?: (() => Promise<void>) | undefined;
}

/** The peer of a run. Its host answers the questions. */
class HostPeer implements Peer {
  readonly revision: Revision;
  readonly client: Client;
  readonly tickets: Tickets;
  readonly records: Records;
  readonly sessionId: string | undefined;
  readonly visibility: TagVisibility | undefined;
  readonly logLevel: LogLevel = 'debug';
  readonly effects: Effects;
  readonly sleep: Peer['sleep'];
  isAsking = false;
  private readonly host: RunHost;
  private readonly origin: Origin | undefined;

  constructor({ call, host, origin }: Detached, { tickets, records }: PeerMeans) {
    this.tickets = tickets;
    this.records = records;
    this.host = host;
    this.origin = origin;
    this.revision = revisionOf(call.revision) as Revision;
    this.client = call.client;
    this.sessionId = call.sessionId;
    this.visibility = call.visibility;
    this.sleep = host.sleep?.bind(host);
    this.effects = origin?.effects ?? new Effects(host.effects);
    if (host.log) this.effects.listen(host.log);
    this.effects.id(() => host.id);
  }

  get replaying(): boolean {
    return this.host.replaying === true && !this.effects.begun;
  }

  async claim(): Promise<void> {
    await this.origin?.claim?.();
  }

  async ask(question: Question, asker: Asker): Promise<JsonObject> {
    if (asker.cancelled !== undefined) throw asker.signal.reason as Error;
    // the host may keep a question for days, and a later answer would tell nothing
    const isPossible = question.method !== 'ping' && this.revision.question(question) !== undefined;
    if (!isPossible) throw new QuestionError(`A handler apart from its request can't send "${question.method}".`);
    let forget = () => {};
    const cancelled = new Promise<never>((_resolve, reject) => (forget = asker.onCancel(reject)));
    // the host may never settle a question of a run that is cancelled
    try {
      return await Promise.race([this.host.ask(question), cancelled]);
    } catch (error) {
      this.isAsking ||= error instanceof InputSignal;
      throw error;
    } finally {
      forget();
    }
  }
}

/** The exchange of a run. Its messages go to the host. */
class DetachedExchange extends Exchange {
  constructor(
    call: ToolCall,
    private readonly host: RunHost,
    peer: Peer,
  ) {
    const { tool: name, args, meta, principal, transport } = call;
    const params = { name, arguments: args, ...(meta && { _meta: meta }) };
    const request = { jsonrpc: '2.0', id: host.id, method: CALL_TOOL, params } as const;
    // closing a transport doesn't end what was started over it
    super(request, peer, { principal, transport, owner: host, send: () => {} });
  }

  override get isDetached(): boolean {
    return true;
  }

  override async once<T>(key: string, effect: () => T | Promise<T>): Promise<T> {
    this.requireLife();
    return await super.once(key, () => {
      // while the log was told
      this.requireLife();
      return effect();
    });
  }

  /** Another process may have taken over a cancelled run. */
  private requireLife(): void {
    if (this.cancelled !== undefined) throw this.signal.reason as Error;
  }

  override notify(method: string, params: JsonObject): void {
    if (!this.over && !this.peer.replaying) this.host.notify?.(method, params);
  }

  override progress(progress: number, total: number | undefined, message: string | undefined): void {
    if (!this.over && this.increases(progress) && !this.peer.replaying) this.host.progress?.(progress, total, message);
  }
}

/**
 * Runs the handler of a tool apart from its request.
 * @param origin set if its request has just begun: its access was checked
 */
export function runDetached(plan: ToolPlan, detached: Detached, parts: RunParts): Run {
  const { call, host, origin } = detached;
  const { reporter, members, inFlight } = parts;
  const exchange = new DetachedExchange(call, host, new HostPeer(detached, parts));
  const tell = parts.observeRun?.(exchange);
  inFlight.enter(exchange, undefined);
  const cancelled = new Promise<never>((_resolve, reject) => {
    // whoever runs it has not cancelled it, and has to know that it must not run again
    exchange.onCancel((reason) => {
      reject(exchange.cancelled === 'revoked' ? CANCELLATION_ERRORS.revoked : reason);
      tell?.({ ...NOTHING, ...(exchange.cancelled && { cancelled: exchange.cancelled }) });
    });
  });
  const budget = toolBudget(plan, plan.maxResultChars ?? parts.maxResultChars);
  const outcome = members.run(exchange, {
    kind: 'tool',
    name: plan.key,
    args: call.args,
    access: origin === undefined ? plan.access : undefined,
    deny: () => ({ kind: 'failed', error: unknownTool(plan.key) }),
    budget,
    run: plan.run,
  });
  const end = async (): Promise<CallToolResult> => {
    try {
      const ended = await outcome;
      if (exchange.observation !== undefined) exchange.observation.ended = ended;
      if (ended.kind !== 'complete') throw ended.kind === 'failed' ? ended.error : new InputSignal();
      requireFinite(ended.result, JSON.stringify(ended.result));
      tell?.(NOTHING);
      return ended.result;
    } catch (error) {
      // the handler has ended its round, and runs again
      if (error instanceof InputSignal) throw error;
      const failure = failed(error, { exchange, reporter, tell });
      return budget?.limit(failure) ?? failure;
    } finally {
      exchange.finish();
      inFlight.leave(exchange, undefined);
    }
  };
  const ending = end();
  const result = Promise.race([ending, cancelled]);
  // whoever cancels a run may not wait for its result
  result.catch(() => {});
  const ended = Promise.allSettled([ending]).then(() => undefined);
  return { result, ended, cancel: (why, reason) => exchange.cancel(why, reason) };
}

interface Detached {
  readonly call: ToolCall;
  readonly host: RunHost;
  readonly origin: Origin | undefined;
}

interface Failing {
  readonly exchange: Exchange;
  readonly reporter: ErrorReporter;
  readonly tell: ReturnType<ObserveRun> | undefined;
}

/** The result of a run that has failed. */
function failed(error: unknown, { exchange, reporter, tell }: Failing): CallToolResult {
  const { observation } = exchange;
  // or its result can't be written
  if (observation !== undefined) observation.ended = { kind: 'failed', error };
  try {
    const result = shown(error, exchange, reporter);
    tell?.(NOTHING);
    return result;
  } catch (failure) {
    tell?.({ ...NOTHING, failure: failure as McpError, thrown: error });
    throw failure;
  }
}

/** Shows an error to the model as a result, unless the protocol has a code for it. */
export function shown(failure: unknown, exchange: Exchange, reporter: ErrorReporter): CallToolResult {
  // nobody reads the result of a call that was cancelled or has failed early, so don't report its error either
  if (exchange.cancelled !== undefined || (exchange.fault !== undefined && exchange.fault === failure))
    return errorResult('');
  const error = reporter.shown(failure, exchange);
  if (error instanceof McpError && exchange.revision.errorCode(error) !== undefined) throw error;
  return errorResult(error.message);
}

/** The error for a tool that doesn't exist, or that the caller may not know of. */
export const unknownTool = (name: string) => new McpError('unknown-tool', `Unknown tool: ${excerpt(name)}`);

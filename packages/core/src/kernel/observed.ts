import type { JsonObject } from '@decorum/schema/internal';

import { clientOf } from '../protocol/checks.js';
import { revisionFor } from '../protocol/eras/negotiation.js';
import type { Exchange } from '../protocol/exchange.js';
import type { FailureCause } from '../protocol/failure-cause.js';
import { beginsConversation } from '../protocol/methods.js';
import type { ClientCapabilities, Implementation } from '../protocol/model.js';
import type { Effect } from '../protocol/effects.js';
import {
  type AskedAnswer,
  type Observation,
  ObservedMessage,
  type ObservedRequest,
  type Sent,
} from '../protocol/observed.js';
import type { Reply } from '../protocol/reply.js';
import { REVISIONS, revisionOf } from '../protocol/revisions/index.js';
import type { Registry } from '../registry/registry.js';
import { failureCauseOf } from './failure-causes.js';
import { aliasOf, targetOf } from './judge.js';
import type { Outcome } from './members.js';
import type { Unopened } from './unopened.js';

/** The name and version that the client of a request reports. */
function clientInfo(sent: Sent): Implementation | undefined {
  const { params, peer } = sent as Exchange;
  return (beginsConversation(sent as Exchange) ? clientOf(params['clientInfo'], undefined) : peer.client).info;
}

/** The capabilities of a client that has said hello. */
function capabilitiesOf(sent: Sent): ClientCapabilities | undefined {
  const { peer } = sent as Exchange;
  return beginsConversation(sent as Exchange) ? undefined : peer.client.capabilities;
}

/** A request with an exchange, as plugins see it. */
export function observedExchange(exchange: Exchange, registry: Registry): ObservedRequest {
  const { peer, wire, params } = exchange;
  const target = targetOf(exchange, registry);
  return new ObservedMessage(exchange, wire, {
    revision: beginsConversation(exchange) ? revisionFor(params['protocolVersion']) : exchange.revision,
    session: peer.sessionId,
    known: true,
    target: target?.key,
    alias: aliasOf(exchange, target),
    targetHidden: target !== undefined && registry.hides(target),
    clientInfo,
    capabilities: capabilitiesOf,
  });
}

/** Another message, as plugins see it: a notification, or a request that was rejected. */
export function observedMessage(
  { message, wire, conversation }: Unopened,
  methods: ReadonlySet<string>,
): ObservedRequest {
  const negotiated = conversation?.initialized ? conversation.revision : undefined;
  return new ObservedMessage(message, wire, {
    revision: negotiated ?? revisionOf(wire.declaredVersion),
    session: conversation?.sessionId,
    known: methods.has(message.method),
    target: undefined,
    alias: undefined,
    targetHidden: false,
    clientInfo: () => conversation?.client.info,
  });
}

/** The notifications that clients may send. */
const NOTIFICATIONS = ['initialized', 'cancelled', 'progress', 'roots/list_changed'].map(
  (name) => `notifications/${name}`,
);

/** All methods that clients may send. */
export function knownMethods(extended: Iterable<string>): ReadonlySet<string> {
  return new Set([...REVISIONS.flatMap(({ methods }) => [...methods.keys()]), ...NOTIFICATIONS, ...extended]);
}

/** How a request ended. */
class Result {
  /**
   * `tool-error` is a result with `isError`, `error` a JSON-RPC error. `input-required` ends a round in which a handler
   * has asked the client.
   */
  readonly status: 'ok' | 'tool-error' | 'error' | 'cancelled' | 'input-required';
  /** The JSON-RPC error code that the client got. */
  readonly code: number | undefined;
  /** The message of the JSON-RPC error that the client got. */
  readonly message: string | undefined;
  /** Why the request failed. Undefined if `status` is `ok` or `input-required`. */
  readonly cause: FailureCause | undefined;
  /** The reference that the client and the log have in place of a masked error. Undefined for other errors. */
  readonly reference: string | undefined;
  /** The error that the handler threw, before masking. */
  readonly error: unknown;
  /** How long the server took, without the plugins. */
  readonly milliseconds: number;
  readonly #reply: Reply | undefined;
  readonly #observation: Observation | undefined;

  constructor(reply: Reply, milliseconds: number, observation: Observation | undefined) {
    const { cancelled, failure = reply.denied } = reply;
    const ended = observation?.ended as Outcome<unknown> | undefined;
    const status = cancelled === undefined ? (failure ? 'error' : statusOf(ended)) : 'cancelled';
    this.status = status;
    this.code = failure && (reply.code ?? failure.code);
    this.message = failure?.message;
    this.error = failure ? (reply.thrown ?? failure) : ended?.kind === 'failed' ? ended.error : undefined;
    const hasFailed = status !== 'ok' && status !== 'input-required';
    this.cause = hasFailed ? failureCauseOf({ reply, error: this.error, observation }) : undefined;
    this.reference = (hasFailed && (observation?.shown?.reference ?? reply.reference)) || undefined;
    this.milliseconds = milliseconds;
    this.#reply = failure || cancelled !== undefined ? undefined : reply;
    this.#observation = observation;
  }

  /**
   * A copy of the questions that the handler has asked, and of the client's answers, in order. Without a session, this
   * includes those of earlier rounds.
   */
  get asked(): readonly Readonly<AskedAnswer>[] {
    return structuredClone(this.#observation?.asked ?? []);
  }

  /** A copy of the results of `ctx.once` by key, in order. Without a session, this includes those of earlier rounds. */
  get effects(): readonly Effect[] {
    return structuredClone(this.#observation?.effects?.() ?? []);
  }

  /** The result, as sent. Each read parses it again, so reading isn't free, and changing the result has no effect. */
  get result(): JsonObject | undefined {
    const text = this.#reply?.text;
    return text === undefined ? undefined : (JSON.parse(text) as { result: JsonObject }).result;
  }
}

/** How a request ended, as plugins see it. Changing this object has no effect on the answer. */
export type RequestOutcome = Pick<Result, keyof Result>;

function statusOf(ended: Outcome<unknown> | undefined): RequestOutcome['status'] {
  if (ended === undefined) return 'ok';
  if (ended.kind === 'input-required') return 'input-required';
  const isError = ended.kind === 'failed' || (ended.result as { readonly isError?: unknown } | undefined)?.isError;
  return isError === true ? 'tool-error' : 'ok';
}

/** The outcome of a request, from its reply. */
export function outcomeOf(reply: Reply, milliseconds: number, observation?: Observation): RequestOutcome {
  return new Result(reply, milliseconds, observation);
}

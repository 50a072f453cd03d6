import { isObject, type JsonObject } from '@decorum/schema/internal';

import { type McpError, QuestionError, type ToolError } from './errors.js';
import type { Effect } from './effects.js';
import type { ClientCapabilities, Implementation, RequestId } from './model.js';
import type { Era, Revision } from './revisions/revision.js';
import type { Principal, RequestHeaders, TransportInfo, Wire } from './wire.js';

const NO_META: JsonObject = Object.freeze({});

/** A copy of a JSON object; undefined for anything else. */
export const copyOf = <T>(value: T): T | undefined =>
  isObject(value) ? (JSON.parse(JSON.stringify(value)) as T) : undefined;

/** A message, as it was sent. */
export interface Sent {
  readonly method: string;
  readonly id?: RequestId | undefined;
  readonly params?: JsonObject | undefined;
}

/** Known facts about a message, whether or not it could be opened. */
export interface Facts {
  readonly revision: Revision | undefined;
  readonly session: string | undefined;
  readonly known: boolean;
  readonly target: string | undefined;
  readonly alias: string | undefined;
  readonly targetHidden: boolean;
  /** Gets the message as an argument, so requests don't need a closure each. */
  clientInfo(sent: Sent): Implementation | undefined;
  /** Undefined if the client's capabilities are unknown. */
  capabilities?(sent: Sent): ClientCapabilities | undefined;
}

/** A request or notification, with everything that plugins may see of it. */
export class ObservedMessage {
  /** The MCP method, as sent. Clients may invent methods: see `known`. */
  readonly method: string;
  /** Whether the server knows the method. Don't use unknown methods in metric labels or span names. */
  readonly known: boolean;
  /** The registered name of the tool or prompt, or the registered URI or template. Undefined if there is none. */
  readonly target: string | undefined;
  /** The alias by which the client has named the target. Undefined if it has used its name. */
  readonly alias: string | undefined;
  /** Whether only some callers may know of the target, because of its `access`, for example. */
  readonly targetHidden: boolean;
  /** Undefined for notifications. */
  readonly id: RequestId | undefined;
  /** The revision of the protocol, if it is known. For `initialize`, the revision that the client gets. */
  readonly revision: string | undefined;
  readonly era: Era | undefined;
  /** The id of the session, if it has one. */
  readonly session: string | undefined;
  /** The caller: the same object that handlers get. */
  readonly principal: Principal | undefined;
  readonly transport: TransportInfo['kind'];
  readonly #sent: Sent;
  readonly #wire: Wire;
  readonly #facts: Facts;
  #meta: JsonObject | undefined;

  constructor(sent: Sent, wire: Wire, facts: Facts) {
    const { revision, session, known, target, alias, targetHidden } = facts;
    this.method = sent.method;
    this.known = known;
    this.target = target;
    this.alias = alias;
    this.targetHidden = targetHidden;
    this.id = sent.id;
    this.revision = revision?.id;
    this.era = revision?.era;
    this.session = session;
    this.principal = wire.principal;
    this.transport = wire.kind ?? wire.transport.kind;
    this.#sent = sent;
    this.#wire = wire;
    this.#facts = facts;
  }

  /** A copy of the request's `_meta`. */
  get meta(): Readonly<JsonObject> {
    return (this.#meta ??= copyOf(this.#sent.params?.['_meta'] as JsonObject | undefined) ?? NO_META);
  }

  /** A copy of the client's name and version, as the client reports them. */
  get client(): Implementation | undefined {
    return copyOf(this.#facts.clientInfo(this.#sent));
  }

  /** A copy of the client's capabilities. Undefined if they are unknown, as for notifications. */
  get capabilities(): ClientCapabilities | undefined {
    return copyOf(this.#facts.capabilities?.(this.#sent));
  }

  /** A copy of the arguments of a tool or prompt. Read it before you call `run`, which may release the arguments. */
  get arguments(): JsonObject | undefined {
    return copyOf(this.#sent.params?.['arguments'] as JsonObject | undefined);
  }

  /**
   * All params as JSON text, with `_meta`, as sent. It costs less than copies, for plugins that keep requests. Read it
   * before you call `run`, which may release the arguments.
   */
  get paramsText(): string {
    return JSON.stringify(this.#sent.params ?? NO_META);
  }

  /** The URI of the resource that the request names, as sent. Clients may invent URIs. */
  get uri(): string | undefined {
    const uri = this.#sent.params?.['uri'];
    return typeof uri === 'string' ? uri : undefined;
  }

  /** HTTP only: the headers, without those that hold credentials. */
  get headers(): RequestHeaders | undefined {
    return this.#wire.transport.headers;
  }

  /** HTTP only: the client's IP address. */
  get remoteAddress(): string | undefined {
    return this.#wire.transport.remoteAddress;
  }

  /** HTTP only: the client's port. Undefined if it is unknown, such as behind a proxy. */
  get remotePort(): number | undefined {
    return this.#wire.transport.remotePort;
  }

  /** HTTP only: the HTTP version, such as `1.1` or `2`. Undefined if the host doesn't report it. */
  get httpVersion(): string | undefined {
    return this.#wire.transport.httpVersion;
  }
}

/** A request or notification, as plugins see it. */
export type ObservedRequest = Pick<ObservedMessage, keyof ObservedMessage>;

/** A question that a handler has asked, and how the client has answered it. */
export interface AskedAnswer {
  /** The method of the request to the client, such as `elicitation/create`. */
  readonly method: string;
  /** What the client was asked. */
  readonly params: JsonObject;
  /** The client's answer, as sent. Undefined if there is none. */
  answer: JsonObject | undefined;
  /** The client's error; undefined if it has sent none. */
  error: { readonly code: number; readonly message: string } | undefined;
}

/** A request that is observed. */
export interface Observation {
  readonly request: ObservedRequest;
  /** The outcome of its member. */
  ended: unknown;
  /** Whether `access` has denied the request. */
  isDenied: boolean;
  /** The error that the client sees, and its reference if it hides the original one. */
  shown: { readonly error: McpError | ToolError; readonly reference: string | undefined } | undefined;
  /** The questions that its handler has asked, in order. */
  asked?: AskedAnswer[];
  /** The results of its effects so far. */
  effects?(): readonly Effect[];
}

/** Asks the client, and notes the question and the answer for plugins. */
export async function noted(
  observation: Observation,
  { method, params }: Pick<AskedAnswer, 'method' | 'params'>,
  ask: () => Promise<JsonObject>,
): Promise<JsonObject> {
  const asked: AskedAnswer = { method, params, answer: undefined, error: undefined };
  (observation.asked ??= []).push(asked);
  try {
    return (asked.answer = await ask());
  } catch (error) {
    if (error instanceof QuestionError && error.code !== undefined)
      asked.error = { code: error.code, message: error.message };
    throw error;
  }
}

/** A question to the client, as plugins see it. */
export interface ObservedQuestion {
  /** The method of the request to the client, such as `elicitation/create`. */
  readonly method: string;
  /** The id of the request to the client. Undefined in revisions without requests to the client. */
  readonly id: RequestId | undefined;
  /** The request whose handler asks. */
  readonly request: ObservedRequest;
  /**
   * The `_meta` to send with the question: set keys before you call `run`. Reserved and invalid keys are left out. If
   * the rest has more than 8,192 characters as JSON, no `_meta` is sent.
   */
  readonly meta: JsonObject;
}

/** A question that is about to be sent. */
export interface AskedQuestion {
  readonly method: string;
  readonly id: RequestId | undefined;
  /** The request that asks. */
  readonly exchange: object;
}

/**
 * Runs plugins around sending a question.
 * @param send sends the question, with this `_meta` if there is any
 */
export type Asking = (
  question: AskedQuestion,
  send: (meta: JsonObject | undefined) => Promise<JsonObject>,
) => Promise<JsonObject>;

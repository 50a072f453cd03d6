import { excerpt, isObject, type JsonObject } from '@decorum/schema/internal';

import { clientOf, optionalObject, requireOneOf } from '../checks.js';
import type { Effects } from '../effects.js';
import { McpError, QuestionError } from '../errors.js';
import { REVISION_KEY } from '../exchange.js';
import type { Client } from '../client.js';
import type { Asker, Peer, PeerMeans, Tickets } from '../peer.js';
import type { Records } from '../records.js';
import { InputSignal } from '../input.js';
import type { JsonRpcRequest } from '../jsonrpc.js';
import { INITIALIZE, type MethodTraits } from '../methods.js';
import { LOG_LEVELS, type LogLevel } from '../model.js';
import type { Asking } from '../observed.js';
import { ownerOf } from '../owner.js';
import { REVISION_BY_ID, REVISION_IDS } from '../revisions/index.js';
import type { Question, Revision } from '../revisions/revision.js';
import type { MirroredArgument, Wire } from '../wire.js';
import { type Journal, Round, type StateSeal } from './replay.js';

const PREFIX = 'io.modelcontextprotocol/';
const CAPABILITIES = `${PREFIX}clientCapabilities`;
const INFO = `${PREFIX}clientInfo`;
const LOG_LEVEL = `${PREFIX}logLevel`;

/** The request that a state is bound to. The state cannot be used for any other request. */
export interface StateBinding {
  /** The caller, as `ownerOf` names it; null if anonymous. */
  readonly principal: string | null;
  readonly method: string;
  /** The name or URI in the request. */
  readonly target: string;
  readonly args: unknown;
}

/** Lets the client hold the state of a request between its rounds. */
export interface RequestStates {
  bind(binding: StateBinding): StateSeal;
  /** @throws {McpError} `invalid-state` for a state that was altered, has expired, or belongs to another request */
  open(requestState: unknown, binding: StateBinding): Journal;
  /**
   * Marks a state as used, if states are single-use.
   * @throws {McpError} `invalid-state` if the state was used before
   */
  readonly claim: ((requestState: string) => Promise<void>) | undefined;
}

/** Dependencies for handling requests without a session. */
export interface StatelessMeans extends PeerMeans {
  readonly requestStates: RequestStates;
  /** The param that names the subject of a method of an extension, if it has one. */
  readonly subjectOf: (method: string, revision: Revision) => string | undefined;
  /** Runs plugins around questions; undefined without such plugins. */
  readonly asking?: Asking | undefined;
  /** The request that a call of a tool means that calls others; undefined for every other request. */
  readonly meant?: ((request: JsonRpcRequest) => JsonRpcRequest | undefined) | undefined;
}

/** The peer of a request without a session: everything known about the client comes from the request. */
class Envelope implements Peer {
  readonly endsWithConnection = true;
  readonly logLevel: LogLevel | undefined;
  readonly revision: Revision;
  readonly resume: (() => void) | undefined;
  private readonly meta: JsonObject;
  private readonly traits: MethodTraits | undefined;
  private current: Round | undefined = undefined;

  constructor(
    private readonly request: JsonRpcRequest,
    private readonly opened: { readonly revision: Revision; readonly wire: Wire },
    private readonly means: StatelessMeans,
  ) {
    const { _meta, requestState, inputResponses } = request.params as JsonObject;
    this.revision = opened.revision;
    this.meta = _meta as JsonObject;
    this.traits = opened.revision.methods.get(request.method);
    const level = this.meta[LOG_LEVEL];
    this.logLevel = level === undefined ? undefined : requireOneOf(level, LOG_LEVEL, LOG_LEVELS);
    const carriesState = requestState !== undefined || inputResponses !== undefined;
    this.resume = carriesState && this.traits?.asks === true ? () => void this.round() : undefined;
  }

  get client(): Client {
    return clientOf(this.meta[INFO], this.meta[CAPABILITIES]);
  }

  get tickets(): Tickets {
    return this.means.tickets;
  }

  get records(): Records {
    return this.means.records;
  }

  get replaying(): boolean {
    return this.current?.replaying === true;
  }

  get isAsking(): boolean {
    return this.current?.asking === true;
  }

  async ask(question: Question, exchange: Asker): Promise<JsonObject> {
    const encoded = this.revision.question(question);
    if (encoded === undefined) {
      // not missing-capability: no capability that the client could declare would help
      throw new QuestionError(`The protocol revision of the client has no "${question.method}".`);
    }
    const round = this.round();
    try {
      return round.ask(question, encoded.params);
    } catch (signal) {
      if (this.means.asking && signal instanceof InputSignal) this.tell(round, exchange, signal);
      throw signal;
    } finally {
      // a handler that keeps asking the same question may never end
      if (round.fault) exchange.fail(round.fault);
    }
  }

  /** Tells plugins about a question that ends the round. The round doesn't wait for them. */
  private tell({ last: asked = {} }: Round, exchange: Asker, signal: InputSignal): void {
    const { method, params } = asked;
    const send = async (_meta: JsonObject | undefined) => {
      if (_meta) asked['params'] = { ...(params as JsonObject), _meta };
      throw signal;
    };
    this.means.asking?.({ method: method as string, id: undefined, exchange }, send).catch(() => {});
  }

  get effects(): Effects | undefined {
    return this.traits?.asks ? this.round().effects : undefined;
  }

  async claim(): Promise<void> {
    const requestState = this.request.params?.['requestState'];
    // methods that cannot ask ignore the state, so don't claim it
    if (typeof requestState === 'string' && this.traits?.asks) await this.means.requestStates.claim?.(requestState);
  }

  checkArguments(mirrored: readonly MirroredArgument[], args: JsonObject): void {
    const { wire } = this.opened;
    const { headers = {} } = wire.transport;
    // clients mirror what the schema of the tool asks for that they name, which may not be the tool that they mean
    const isMeant = mirrored.length > 0 && this.means.meant?.(this.request) !== undefined;
    wire.checkArguments?.(isMeant ? mirrored.filter(({ header }) => headers[header] !== undefined) : mirrored, args);
  }

  endRound(exchange: Asker): Promise<JsonObject> | undefined {
    const { current } = this;
    return current?.asking ? this.interim(current, exchange) : undefined;
  }

  /** Waits for running effects to record their results, unless the client disconnects. */
  private async interim(round: Round, exchange: Asker): Promise<JsonObject> {
    if (round.fault) throw round.fault;
    const gone = new Promise<void>((resolve) => void exchange.onCancel(() => resolve()));
    await Promise.race([round.effects.settle(), gone]);
    exchange.endRound();
    return round.interim();
  }

  /** Created only for requests that ask the client, run effects, or carry state or answers from earlier rounds. */
  private round(): Round {
    if (this.current) return this.current;
    const { method, params = {} } = this.request;
    if (!this.traits?.asks) throw new QuestionError(`Handlers of "${method}" cannot ask the client.`);
    const { wire } = this.opened;
    const { requestStates } = this.means;
    const { arguments: args = {}, requestState } = params;
    const target = String(params[this.traits.subject ?? 'name']);
    const binding = { principal: ownerOf(wire.principal) ?? null, method, target, args };
    const journal = requestState === undefined ? undefined : requestStates.open(requestState, binding);
    this.current = new Round(requestStates.bind(binding), optionalObject(params, 'inputResponses') ?? {}, journal);
    return this.current;
  }
}

function requireEnvelope({ method, params }: JsonRpcRequest): string {
  // a client that wants a session needs the list of supported revisions, not an error about its envelope
  if (method === INITIALIZE) {
    const data = { supported: REVISION_IDS };
    throw new McpError('method-not-found', 'There is no "initialize" in this revision.', data);
  }
  const meta = params?.['_meta'];
  if (!isObject(meta)) throw new McpError('invalid-params', 'The request has no "_meta" object in its params.');
  const version = meta[REVISION_KEY];
  if (typeof version !== 'string') throw new McpError('invalid-params', `"_meta" has no string "${REVISION_KEY}".`);
  if (!isObject(meta[CAPABILITIES])) throw new McpError('invalid-params', `"_meta" has no object "${CAPABILITIES}".`);
  return version;
}

/**
 * Reads the envelope of a request. Clients can observe the order of the checks: the envelope, the mirrored version, the
 * version itself, then the other mirrored headers.
 * @throws {McpError} `invalid-params`, `header-mismatch` or `unsupported-version`
 */
export function openStateless(request: JsonRpcRequest, wire: Wire, means: StatelessMeans): Peer {
  const version = requireEnvelope(request);
  wire.checkVersion?.(version);
  const revision = REVISION_BY_ID.get(version);
  if (revision?.sessions !== false) {
    const data = { supported: REVISION_IDS, requested: excerpt(version) };
    throw new McpError('unsupported-version', `Unsupported protocol version: ${excerpt(version)}`, data);
  }
  if (wire.checkRouting) {
    const param = revision.methods.get(request.method)?.subject ?? means.subjectOf(request.method, revision);
    wire.checkRouting(
      request.method,
      param === undefined ? undefined : { param, value: (request.params as JsonObject)[param] },
    );
  }
  return new Envelope(request, { revision, wire }, means);
}

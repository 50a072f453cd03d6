import { clientOf, optionalObject, requireOneOf } from '../checks.js';
import type { Effects } from '../effects.js';
import { ClientError, excerpt, McpError } from '../errors.js';
import { type Client, type Exchange, type Peer, REVISION_KEY, type Tickets } from '../exchange.js';
import { isObject, type JsonRpcRequest } from '../jsonrpc.js';
import { INITIALIZE, type MethodTraits } from '../methods.js';
import { type JsonObject, LOG_LEVELS, type LogLevel } from '../model.js';
import { REVISION_BY_ID, REVISION_IDS } from '../revisions/index.js';
import type { Question, Revision } from '../revisions/revision.js';
import type { MirroredArgument, Wire } from '../wire.js';
import { type FlowSeal, type Journal, Round } from './replay.js';

const PREFIX = 'io.modelcontextprotocol/';
const CAPABILITIES = `${PREFIX}clientCapabilities`;
const INFO = `${PREFIX}clientInfo`;
const LOG_LEVEL = `${PREFIX}logLevel`;

/** What a sealed state belongs to: nothing else can make use of it. */
export interface FlowBinding {
  readonly principal: string;
  readonly method: string;
  /** The name or URI that the request names. */
  readonly target: string;
  readonly args: unknown;
}

/** Keeps what a request knows between its rounds in the hands of the client. */
export interface Flows {
  bind(binding: FlowBinding): FlowSeal;
  /** @throws {McpError} `invalid-state` for a state that was changed, has expired, or belongs to another request */
  open(requestState: unknown, binding: FlowBinding): Journal;
  /**
   * Uses a state up, where each is for one use only.
   * @throws {McpError} `invalid-state` when it was used before
   */
  readonly claim: ((requestState: string) => Promise<void>) | undefined;
}

/** What requests without a session are handled with. */
export interface StatelessMeans {
  readonly flows: Flows;
  readonly tickets: Tickets;
}

/** What a request says of itself; nothing is remembered. */
class Envelope implements Peer {
  readonly endsWithConnection = true;
  readonly logLevel: LogLevel | undefined;
  readonly revision: Revision;
  readonly resume: (() => void) | undefined;
  private readonly meta: JsonObject;
  private readonly traits: MethodTraits | undefined;
  private begun: Round | undefined = undefined;

  constructor(
    private readonly request: JsonRpcRequest,
    private readonly means: StatelessMeans & { readonly revision: Revision; readonly wire: Wire },
  ) {
    const { _meta, requestState, inputResponses } = request.params as JsonObject;
    this.revision = means.revision;
    this.meta = _meta as JsonObject;
    this.traits = means.revision.methods.get(request.method);
    const level = this.meta[LOG_LEVEL];
    this.logLevel = level === undefined ? undefined : requireOneOf(level, LOG_LEVEL, LOG_LEVELS);
    const brings = requestState !== undefined || inputResponses !== undefined;
    this.resume = brings && this.traits?.asks === true ? () => void this.round() : undefined;
  }

  get client(): Client {
    return clientOf(this.meta[INFO], this.meta[CAPABILITIES]);
  }

  get tickets(): Tickets {
    return this.means.tickets;
  }

  get replaying(): boolean {
    return this.begun?.replaying === true;
  }

  async ask(question: Question, exchange: Exchange): Promise<JsonObject> {
    const encoded = this.revision.question(question);
    if (encoded === undefined) {
      // no capability that a client could declare would change it
      throw new ClientError(`The protocol revision of the client has no "${question.method}".`);
    }
    const round = this.round();
    try {
      return round.ask(question, encoded.params);
    } finally {
      // a handler that has asked again may do so for ever
      if (round.fault) exchange.fail(round.fault);
    }
  }

  get effects(): Effects | undefined {
    return this.traits?.asks ? this.round().effects : undefined;
  }

  async claim(): Promise<void> {
    const requestState = this.request.params?.['requestState'];
    // where nothing can be asked, nothing was given, and what comes is not even looked at
    if (typeof requestState === 'string' && this.traits?.asks) await this.means.flows.claim?.(requestState);
  }

  checkArguments(mirrored: readonly MirroredArgument[], args: JsonObject): void {
    this.means.wire.checkArguments?.(mirrored, args);
  }

  endRound(exchange: Exchange): Promise<JsonObject> | undefined {
    const { begun } = this;
    return begun?.asking ? this.interim(begun, exchange) : undefined;
  }

  /** Waits for what is to be remembered, as long as the client is there. */
  private async interim(round: Round, exchange: Exchange): Promise<JsonObject> {
    if (round.fault) throw round.fault;
    const gone = new Promise<void>((resolve) => void exchange.onCancel(() => resolve()));
    await Promise.race([round.effects.settle(), gone]);
    exchange.endRound();
    return round.interim();
  }

  /** Begun only by requests that ask something, or that bring something from earlier rounds. */
  private round(): Round {
    if (this.begun) return this.begun;
    const { method, params = {} } = this.request;
    if (!this.traits?.asks) throw new ClientError(`"${method}" cannot ask the client anything.`);
    const { wire, flows } = this.means;
    const { arguments: args = {}, requestState } = params;
    const target = String(params[this.traits.subject ?? 'name']);
    const binding = { principal: wire.principal?.subject ?? '', method, target, args };
    const journal = requestState === undefined ? undefined : flows.open(requestState, binding);
    this.begun = new Round(flows.bind(binding), optionalObject(params, 'inputResponses') ?? {}, journal);
    return this.begun;
  }
}

function requireEnvelope({ method, params }: JsonRpcRequest): string {
  // a client that begins a session has no use for a complaint about its envelope
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
 * Reads what a request says of itself. The order of the checks is what clients can observe: first
 * the envelope, then the carriage's copy of the version, then the version, then the carriage's copy of the rest.
 * @throws {McpError} `invalid-params`, `header-mismatch` or `unsupported-version`
 */
export function openStateless(request: JsonRpcRequest, wire: Wire, { flows, tickets }: StatelessMeans): Peer {
  const version = requireEnvelope(request);
  wire.checkVersion?.(version);
  const revision = REVISION_BY_ID.get(version);
  if (revision?.sessions !== false) {
    const data = { supported: REVISION_IDS, requested: excerpt(version) };
    throw new McpError('unsupported-version', `Unsupported protocol version: ${excerpt(version)}`, data);
  }
  if (wire.checkRouting) {
    const param = revision.methods.get(request.method)?.subject;
    wire.checkRouting(request.method, param && { param, value: (request.params as JsonObject)[param] });
  }
  return new Envelope(request, { revision, wire, flows, tickets });
}

import { isObject, requireOneOf } from '../checks.js';
import { excerpt, McpError } from '../errors.js';
import { type Client, Exchange } from '../exchange.js';
import type { JsonRpcMessage, JsonRpcRequest } from '../jsonrpc.js';
import { type ClientCapabilities, type Implementation, type JsonObject, LOG_LEVELS, type LogLevel } from '../model.js';
import { REVISION_IDS, revisionOf } from '../revisions/index.js';
import type { Revision } from '../revisions/revision.js';
import type { Wire } from '../wire.js';

const PREFIX = 'io.modelcontextprotocol/';
const VERSION = `${PREFIX}protocolVersion`;
const CAPABILITIES = `${PREFIX}clientCapabilities`;
const INFO = `${PREFIX}clientInfo`;
const LOG_LEVEL = `${PREFIX}logLevel`;

/**
 * Whether a message belongs to the stateless era. The body decides: it names its revision in `_meta`. Where it names
 * none, a stateless revision declared by the carriage still claims it, so that it is refused and not misunderstood.
 */
export function isStateless(message: JsonRpcMessage, declaredVersion?: string): boolean {
  const meta = 'params' in message ? message.params?.['_meta'] : undefined;
  return (isObject(meta) && VERSION in meta) || revisionOf(declaredVersion)?.era === 'stateless';
}

/** A request that says all about itself; nothing is remembered. */
class StatelessExchange extends Exchange {
  readonly sessionId = undefined;
  readonly logLevel: LogLevel | undefined;

  constructor(request: JsonRpcRequest, revision: Revision, wire: Wire) {
    super(request, revision, wire);
    const level = this.meta?.[LOG_LEVEL];
    this.logLevel = level === undefined ? undefined : requireOneOf(level, LOG_LEVEL, LOG_LEVELS);
  }

  override get client(): Client {
    const info = this.meta?.[INFO];
    return {
      info: isObject(info) ? (info as unknown as Implementation) : undefined,
      capabilities: this.meta?.[CAPABILITIES] as ClientCapabilities,
    };
  }

  override async ask(): Promise<JsonObject> {
    throw new McpError('internal-error', 'Questions to the client are not served in this revision.');
  }
}

function requireEnvelope({ method, params }: JsonRpcRequest): string {
  // a client that begins a session has no use for a complaint about its envelope
  if (method === 'initialize') throw new McpError('method-not-found', 'There is no "initialize" in this revision.');
  const meta = params?.['_meta'];
  if (!isObject(meta)) throw new McpError('invalid-params', 'The request has no "_meta" object in its params.');
  const version = meta[VERSION];
  if (typeof version !== 'string') throw new McpError('invalid-params', `"_meta" has no string "${VERSION}".`);
  if (!isObject(meta[CAPABILITIES])) throw new McpError('invalid-params', `"_meta" has no object "${CAPABILITIES}".`);
  return version;
}

/**
 * Opens the exchange of a request that describes itself. The order of the checks is what clients can observe: first
 * the envelope, then the carriage's copy of the version, then the version, then the carriage's copy of the rest.
 * @throws {McpError} `invalid-params`, `header-mismatch` or `unsupported-version`
 */
export function openStateless(request: JsonRpcRequest, wire: Wire): Exchange {
  const version = requireEnvelope(request);
  wire.checkVersion?.(version);
  const revision = revisionOf(version);
  if (revision?.era !== 'stateless') {
    const data = { supported: REVISION_IDS, requested: excerpt(version) };
    throw new McpError('unsupported-version', `Unsupported protocol version: ${excerpt(version)}`, data);
  }
  wire.checkRouting?.(request.method, request.params as JsonObject);
  return new StatelessExchange(request, revision, wire);
}

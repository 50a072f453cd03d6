import { requireOneOf } from '../checks.js';
import { excerpt, McpError } from '../errors.js';
import { type Client, type Peer, REVISION_KEY } from '../exchange.js';
import { isObject, type JsonRpcRequest } from '../jsonrpc.js';
import { type ClientCapabilities, type Implementation, type JsonObject, LOG_LEVELS, type LogLevel } from '../model.js';
import { REVISION_BY_ID, REVISION_IDS } from '../revisions/index.js';
import type { Revision } from '../revisions/revision.js';
import type { Wire } from '../wire.js';

const PREFIX = 'io.modelcontextprotocol/';
const CAPABILITIES = `${PREFIX}clientCapabilities`;
const INFO = `${PREFIX}clientInfo`;
const LOG_LEVEL = `${PREFIX}logLevel`;

/** What a request says of itself; nothing is remembered. */
class Envelope implements Peer {
  readonly sessionId = undefined;
  readonly logLevel: LogLevel | undefined;
  readonly replaying = false;

  constructor(
    readonly revision: Revision,
    private readonly meta: JsonObject,
  ) {
    const level = meta[LOG_LEVEL];
    this.logLevel = level === undefined ? undefined : requireOneOf(level, LOG_LEVEL, LOG_LEVELS);
  }

  get client(): Client {
    const info = this.meta[INFO];
    return {
      info: isObject(info) ? (info as unknown as Implementation) : undefined,
      capabilities: this.meta[CAPABILITIES] as ClientCapabilities,
    };
  }

  async ask(): Promise<JsonObject> {
    throw new McpError('internal-error', 'Questions to the client are not served in this revision.');
  }

  async once<T>(_key: string, effect: () => T | Promise<T>): Promise<T> {
    return await effect();
  }

  interim(): undefined {
    return undefined;
  }
}

function requireEnvelope({ method, params }: JsonRpcRequest): string {
  // a client that begins a session has no use for a complaint about its envelope
  if (method === 'initialize') throw new McpError('method-not-found', 'There is no "initialize" in this revision.');
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
export function openStateless(request: JsonRpcRequest, wire: Wire): Peer {
  const version = requireEnvelope(request);
  wire.checkVersion?.(version);
  const revision = REVISION_BY_ID.get(version);
  if (revision?.era !== 'stateless') {
    const data = { supported: REVISION_IDS, requested: excerpt(version) };
    throw new McpError('unsupported-version', `Unsupported protocol version: ${excerpt(version)}`, data);
  }
  wire.checkRouting?.(request.method, request.params as JsonObject);
  return new Envelope(revision, request.params?.['_meta'] as JsonObject);
}

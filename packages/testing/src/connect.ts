import { type ClientCapabilities, type Implementation, McpError, type Principal } from '@decorum/core';
import { type Era, newestOf, revisionOf, REVISIONS } from '@decorum/core/internal';
import { type OptionTypes, requireOptions } from '@decorum/core/plugin';

import { TestClient } from './client.js';
import { Connection } from './connection.js';
import { restarted } from './elicits.js';
import { capabilitiesOf } from '@decorum/client/internal';
import type { ServerRequestHandlers } from './questions.js';
import { type ConnectTarget, type Via, wayTo } from './target.js';

/** Options of `connect`. */
export interface ConnectOptions extends ServerRequestHandlers {
  /** How to reach a server in this process: `memory` (default), `stdio` over two streams, or `http` on a free port. */
  readonly via?: Via;
  /** Headers to send with each request to a URL, such as `authorization`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The revision to request, such as `2025-11-25`. Defaults to the newest of the era. */
  readonly revision?: string;
  /** `stateful` starts a session; `stateless` sends the client info in each request. Defaults to that of `revision`. */
  readonly era?: Era;
  /** Capabilities to declare in addition to those that the handlers imply. */
  readonly capabilities?: ClientCapabilities;
  /** The client's name and version. */
  readonly clientInfo?: Implementation;
  /** The authenticated caller, available to handlers as `ctx.principal`. Only for a server in this process. */
  readonly principal?: Principal;
}

const OPTIONS: OptionTypes<ConnectOptions> = {
  via: 'string',
  headers: 'object',
  revision: 'string',
  era: true,
  capabilities: 'object',
  clientInfo: 'object',
  principal: 'object',
  onElicit: 'function',
  onSample: 'function',
  onRoots: 'function',
};

const CLIENT_INFO: Implementation = { name: '@decorum/testing', version: '0.0.0' };

/** All revisions of the protocol, oldest first, for `describe.each(revisions)`. */
export const revisions: readonly string[] = REVISIONS.map(({ id }) => id);

/**
 * Connects a client and, in the stateful era, starts the session.
 * @param target a server in this process, the URL of an endpoint, or `{ command, args, env, cwd }` to start a program
 * @throws {McpError} if the server rejects `initialize`
 * @throws {Error} if the target can't be reached, or isn't an MCP server
 * @throws {DecorumError} `DECORUM_SERVER_CLOSED`, `DECORUM_INVALID_OPTION`, `DECORUM_MISSING_LIBRARY`
 * @example
 * ```ts
 * import { connect } from '@decorum/testing';
 *
 * const client = await connect(server);
 * const { content } = await client.callTool('forecast', { city: 'Oslo' });
 * await client.close();
 * ```
 */
export async function connect(target: ConnectTarget, options: ConnectOptions = {}): Promise<TestClient> {
  requireOptions('connect', options, OPTIONS);
  return new TestClient(await connectionTo(target, options));
}

/** The connection behind a client. */
export async function connectionTo(target: ConnectTarget, options: ConnectOptions): Promise<Connection> {
  const { open, server } = wayTo(target, options);
  const { era = revisionOf(options.revision)?.era ?? 'stateful', clientInfo = CLIENT_INFO } = options;
  const revision = options.revision ?? newestOf(era).id;
  const capabilities = capabilitiesOf(options, options.capabilities);
  const identity = {
    era,
    revision,
    capabilities,
    clientInfo,
    handlers: restarted(options),
    server,
    principal: options.principal,
  };
  const connection = await Connection.open(identity, open);
  try {
    if (era === 'stateful') await connection.initialize();
    // a server in this process can always be reached
    else if (server === undefined) await connection.request('server/discover', {}).catch(requireAnswer);
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** Ignores MCP errors, because they prove that a server is there. */
function requireAnswer(error: unknown): void {
  if (!(error instanceof McpError)) throw error;
}

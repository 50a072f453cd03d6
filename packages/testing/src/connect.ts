import type { ClientCapabilities, Host, Implementation, Principal } from '@decorum/core';
import { type Era, hostOf, newestOf, type OptionTypes, requireKnown, revisionOf } from '@decorum/core/transport';

import { type InitializeResult, TestClient } from './client.js';
import { Connection } from './connection.js';
import { capabilitiesOf, type ServerRequestHandlers } from './questions.js';

/** Options of `connect`. */
export interface ConnectOptions extends ServerRequestHandlers {
  /** The revision to request, such as `2025-11-25`. By default the newest of the era. */
  readonly revision?: string;
  /** `stateful` starts a session; `stateless` sends the client info in each request. By default that of `revision`. */
  readonly era?: Era;
  /** Capabilities to declare in addition to those that the handlers imply. */
  readonly capabilities?: ClientCapabilities;
  /** The client's name and version. */
  readonly clientInfo?: Implementation;
  /** The authenticated caller, available to handlers as `ctx.principal`. */
  readonly principal?: Principal;
}

const OPTIONS: OptionTypes<ConnectOptions> = {
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

/**
 * Connects a client to a server in the same process. In the stateful era, it also starts the session.
 * @throws {McpError} if the server rejects `initialize`
 * @throws {DecorumError} `DECORUM_SERVER_CLOSED`, `DECORUM_INVALID_OPTION`
 * @example
 * ```ts
 * import { connect } from '@decorum/testing';
 *
 * const client = await connect(server);
 * const { content } = await client.callTool('forecast', { city: 'Oslo' });
 * await client.close();
 * ```
 */
export async function connect(server: Host, options: ConnectOptions = {}): Promise<TestClient> {
  hostOf(server, 'connect');
  requireKnown('connect', options, OPTIONS);
  const { era = revisionOf(options.revision)?.era ?? 'stateful', clientInfo = CLIENT_INFO, principal } = options;
  const revision = options.revision ?? newestOf(era).id;
  const capabilities = capabilitiesOf(options, options.capabilities);
  const connection = new Connection({ era, revision, capabilities, clientInfo, principal, handlers: options });
  await connection.open(server);
  if (era === 'stateless') return new TestClient(connection, undefined);
  try {
    const hello = { protocolVersion: revision, capabilities, clientInfo };
    const initialized = (await connection.request('initialize', hello, {})) as unknown as InitializeResult;
    await connection.notify('notifications/initialized');
    return new TestClient(connection, initialized);
  } catch (error) {
    connection.close();
    throw error;
  }
}

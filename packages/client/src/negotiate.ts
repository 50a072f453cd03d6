import { type Implementation, type JsonObject, McpError, type ServerCapabilities } from '@decorum/core';
import { isObject, newestOf, revisionOf } from '@decorum/core/internal';

import type { OpenCarrier } from './carriers/carrier.js';
import { Connection } from './connection.js';
import type { Identity, Listener } from './listener.js';
import { ConnectionError } from './connection-error.js';
import type { Way } from './target.js';

/** What a server says of itself. */
export interface Introduction {
  readonly serverInfo: Implementation | undefined;
  readonly capabilities: ServerCapabilities;
  readonly instructions: string | undefined;
}

/** How to connect. */
export interface Plan {
  readonly way: Way;
  /** The only revision to speak; undefined to negotiate. */
  readonly revision: string | undefined;
  readonly client: Pick<Identity, 'capabilities' | 'clientInfo'>;
  readonly listener: Listener;
  /** Gives up when it aborts. */
  readonly signal?: AbortSignal | undefined;
}

/** An open connection, and what the server has said of itself. */
export interface Negotiated {
  readonly connection: Connection;
  readonly introduction: Introduction;
}

/** Milliseconds to wait for a program's answer to `server/discover`: servers of sessions may ignore it. */
const PROBE_MS = 10_000;

const SERVER_INFO = 'io.modelcontextprotocol/serverInfo';

/**
 * Connects, and agrees on a revision: on a stateless one if the server knows `server/discover`, else on the newest that
 * it answers to `initialize`.
 * @throws {ConnectionError} if the server can't be reached, denies access, or speaks no revision of the client
 */
export async function negotiate(plan: Plan): Promise<Negotiated> {
  const { revision } = plan;
  if (revisionOf(revision)?.era === 'stateful') return await inSession(plan, await openWith(plan, plan.way.open));
  const connection = await openWith(plan, plan.way.open);
  try {
    const discovered = await discover(connection, plan);
    if (discovered !== undefined) return { connection, introduction: discovered };
    if (revision !== undefined) throw unsupported(revision);
    if (connection.isOpen) return await inSession(plan, connection);
  } catch (error) {
    await connection.close();
    throw error;
  }
  // some programs exit at the first message that is not `initialize`
  await connection.close();
  return await inSession(plan, await openWith(plan, plan.way.open));
}

async function openWith({ client, listener, revision, signal }: Plan, open: OpenCarrier): Promise<Connection> {
  signal?.throwIfAborted();
  const spoken = revision ?? newestOf('stateless').id;
  const era = revisionOf(spoken)?.era ?? 'stateless';
  const connection = await new Connection({ era, revision: spoken, ...client }, listener).start(open);
  // a server that never answers must not delay whoever gives up
  if (signal?.aborted) await connection.close();
  else signal?.addEventListener('abort', () => void connection.close(), { once: true });
  return connection;
}

/** @returns undefined if the server speaks no stateless revision */
async function discover(connection: Connection, { way, revision, listener }: Plan): Promise<Introduction | undefined> {
  const isProgram = way.kind === 'program';
  const patience = isProgram && revision === undefined ? { timeoutMs: shorter(PROBE_MS, listener.timeoutMs) } : {};
  try {
    const result = await connection.request('server/discover', {}, patience);
    const { supportedVersions, capabilities, instructions, _meta: meta } = result;
    if (!Array.isArray(supportedVersions) || !supportedVersions.includes(connection.revision)) return undefined;
    const named = (isObject(meta) ? meta[SERVER_INFO] : undefined) ?? result['serverInfo'];
    return introductionOf({ capabilities, instructions, serverInfo: named });
  } catch (error) {
    if (error instanceof McpError) return undefined;
    if (!(error instanceof ConnectionError)) throw error;
    const isSilent = isProgram && (error.code === 'timeout' || error.code === 'closed');
    // of the statuses, only a refusal of the message itself says something of the revisions
    const isRefused = error.code === 'protocol' && (error.status ?? 500) < 500;
    if (isSilent || isRefused) return undefined;
    throw error;
  }
}

const shorter = (one: number, other: number) => (other === 0 ? one : Math.min(one, other));

async function inSession(plan: Plan, connection: Connection): Promise<Negotiated> {
  const { openLegacy } = plan.way;
  try {
    return await started(plan, connection);
  } catch (error) {
    if (openLegacy === undefined || !isUnknownHere(error)) throw error;
    const legacy = await openWith(plan, openLegacy).catch(() => undefined);
    if (legacy === undefined) throw error;
    return await started(plan, legacy);
  }
}

/** Whether an endpoint doesn't take `initialize`, as those of the oldest revision (MCP, "Transports"). */
const isUnknownHere = (error: unknown): boolean =>
  error instanceof ConnectionError && [400, 404, 405].includes(error.status ?? 0);

/** Starts a session. Closes the connection if that fails. */
async function started({ revision }: Plan, connection: Connection): Promise<Negotiated> {
  const asked = revision ?? newestOf('stateful').id;
  connection.identity = { ...connection.identity, era: 'stateful', revision: asked };
  try {
    const initialized = await initialize(connection, revision === undefined);
    const agreed = initialized['protocolVersion'];
    const isKnown = revisionOf(agreed)?.era === 'stateful';
    if (!isKnown || (revision !== undefined && agreed !== revision)) throw unsupported(asked, [agreed]);
    return { connection, introduction: introductionOf(initialized) };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** Starts a session. If the server refuses the revision and names others, asks for the newest of these. */
async function initialize(connection: Connection, mayChange: boolean): Promise<JsonObject> {
  try {
    return (await connection.initialize()) as unknown as JsonObject;
  } catch (error) {
    const supported = error instanceof McpError && isObject(error.data) ? error.data['supported'] : undefined;
    if (!(error instanceof McpError) || !Array.isArray(supported)) throw error;
    const [newest] = supported
      .filter((each) => revisionOf(each)?.era === 'stateful')
      .toSorted()
      .toReversed() as string[];
    if (newest === undefined || !mayChange) throw unsupported(connection.identity.revision, supported, error);
    connection.identity = { ...connection.identity, revision: newest };
    return (await connection.initialize()) as unknown as JsonObject;
  }
}

function unsupported(revision: string, others: readonly unknown[] = [], cause?: unknown): ConnectionError {
  const offers = others.length > 0 ? ` It offers ${others.map((each) => JSON.stringify(each)).join(', ')}.` : '';
  return new ConnectionError('unsupported-revision', `The server does not speak ${revision}.${offers}`, { cause });
}

function introductionOf({ capabilities, serverInfo, instructions }: JsonObject): Introduction {
  return {
    capabilities: (isObject(capabilities) ? capabilities : {}) as ServerCapabilities,
    serverInfo: isObject(serverInfo) ? (serverInfo as unknown as Implementation) : undefined,
    instructions: typeof instructions === 'string' ? instructions : undefined,
  };
}

import { type Implementation, McpError } from '@decorum/core';

import { Client } from './client.js';
import { type Callbacks, callbacksOf } from './callbacks.js';
import { headersOf } from './client-headers.js';
import type { Connection } from './connection.js';
import type { Listener } from './listener.js';
import { Subscriptions } from './listening.js';
import { negotiate } from './negotiate.js';
import { type ClientOptions, requireClientOptions } from './options.js';
import { onAbort } from './on-abort.js';
import { answer, capabilitiesOf } from './questions.js';
import { type ConnectTarget, wayTo } from './target.js';

const CLIENT_INFO: Implementation = { name: '@decorum/client', version: '0.0.0' };

const TIMEOUT_MS = 60_000;
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

/**
 * Connects to a server, and agrees with it on a revision.
 * @param target a server in this process, the URL of an endpoint, or `{ command, args, env, cwd }` to start a program
 * @throws {ConnectionError} if the server can't be reached, denies access, or speaks no revision that the client may speak
 * @throws {McpError} if the server answers `initialize` with an error
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`, `DECORUM_SERVER_CLOSED`
 * @example
 * ```ts
 * import { connectClient } from '@decorum/client';
 *
 * const client = await connectClient('https://mcp.example.com/mcp', { headers: { 'x-api-key': 'secret' } });
 * const { content } = await client.callTool('forecast', { city: 'Oslo' }, { timeoutMs: 5000 });
 * await client.close();
 * ```
 */
export async function connectClient(target: ConnectTarget, options: ClientOptions = {}): Promise<Client> {
  return await connectUntil(undefined, target, options);
}

/**
 * Connects, unless a signal aborts before the server has answered.
 * @throws {unknown} as `connectClient`, or the reason of the signal
 */
export async function connectUntil(
  signal: AbortSignal | undefined,
  target: ConnectTarget,
  options: ClientOptions,
): Promise<Client> {
  signal?.throwIfAborted();
  const where = 'connectClient';
  requireClientOptions(where, options);
  const { maxMessageBytes = MAX_MESSAGE_BYTES, clientInfo = CLIENT_INFO, principal } = options;
  const callbacks = callbacksOf(options);
  const { onStderr, onClose } = callbacks;
  const credentials = headersOf(options, target);
  const way = wayTo(target, { principal, credentials, maxMessageBytes, onStderr }, { where, given: options });
  const subscriptions = new Subscriptions();
  const ending = new Ending(subscriptions, onClose);
  const listener = listenerOf(options, callbacks, { subscriptions, ending });
  const client = { clientInfo, capabilities: capabilitiesOf(options, options.capabilities) };
  // ends with the negotiation: the signal may outlive many connections
  const attempt = new AbortController();
  const off = onAbort(signal, () => attempt.abort(signal?.reason));
  const plan = { way, revision: options.revision, client, listener, signal: attempt.signal };
  const negotiated = await negotiate(plan).finally(off);
  subscriptions.attach(negotiated.connection);
  ending.matters(negotiated.connection);
  return new Client({ ...negotiated, subscriptions, closed: ending.closed });
}

/** Tells of the end of a connection. While the revision is negotiated, connections may come and go. */
class Ending {
  readonly closed: Promise<Error | undefined>;
  private resolve!: (reason: Error | undefined) => void;
  private reason: Error | undefined;
  private isConnected = false;

  constructor(
    private readonly subscriptions: Subscriptions,
    private readonly onClose: ClientOptions['onClose'],
  ) {
    this.closed = new Promise((resolve) => {
      this.resolve = resolve;
    });
  }

  /** From now on, an end matters. Those of connections that others have replaced don't. */
  matters({ isOpen }: Connection): void {
    this.isConnected = true;
    if (!isOpen) this.ended(this.reason);
  }

  ended(reason: Error | undefined): void {
    this.reason = reason;
    if (!this.isConnected) return;
    this.subscriptions.end(reason);
    this.resolve(reason);
    this.onClose?.(reason);
  }
}

function listenerOf(
  options: ClientOptions,
  { puzzled, failed, onNotification }: Callbacks,
  { subscriptions, ending }: { readonly subscriptions: Subscriptions; readonly ending: Ending },
): Listener {
  const { timeoutMs = TIMEOUT_MS } = options;
  return {
    timeoutMs,
    async ask(question, call, signal) {
      const answered = await answer(options, question, { call, signal });
      if (answered !== undefined) return answered;
      throw new McpError('method-not-found', `This client has no handler for "${question.method}".`);
    },
    puzzled,
    failed,
    notified(notification, call) {
      subscriptions.heard(notification);
      onNotification?.(notification, call);
    },
    missed: () => subscriptions.missed(),
    renewed: async () => await subscriptions.renew(),
    ended: (reason) => ending.ended(reason),
  };
}

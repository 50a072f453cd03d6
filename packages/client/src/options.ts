import type { ClientCapabilities, Implementation, Principal } from '@decorum/core';
import { isObject, revisionOf, REVISIONS } from '@decorum/core/internal';
import { type OptionTypes, requireOptions, startupError } from '@decorum/core/plugin';

import type { Challenge } from './carriers/credentials.js';
import type { OAuthProvider } from './oauth/provider.js';
import type { QuestionHandlers } from './questions.js';
import type { AskingCall, Notification } from './request.js';

/** Options of `connectClient`. */
export interface ClientOptions extends QuestionHandlers {
  /** The only revision to speak, such as `2025-11-25`. By default, the newest that the server speaks. */
  readonly revision?: string | undefined;
  /** Headers to send with each request to a URL, or a function that returns them for the next request. */
  readonly headers?:
    | Readonly<Record<string, string>>
    | (() => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>)
    | undefined;
  /**
   * Returns the access token for a URL; undefined for none. It is called before the first request, and once more after
   * each refusal, with what the server demands. If it then returns another token, the request is sent again.
   */
  readonly authorization?:
    | ((challenge: Challenge | undefined) => string | undefined | Promise<string | undefined>)
    | undefined;
  /** Signs in to a protected URL. It has the shape of the official SDK's `OAuthClientProvider`. */
  readonly authProvider?: OAuthProvider | undefined;
  /** Capabilities to declare in addition to those that the handlers imply. */
  readonly capabilities?: ClientCapabilities | undefined;
  /** The client's name and version. */
  readonly clientInfo?: Implementation | undefined;
  /** The authenticated caller, available to handlers as `ctx.principal`. Only for a server in this process. */
  readonly principal?: Principal | undefined;
  /** Milliseconds that each request waits for the server. Defaults to 60,000; 0 waits without an end. */
  readonly timeoutMs?: number | undefined;
  /** Cap on one message of the server, in bytes. Defaults to 4 MiB. */
  readonly maxMessageBytes?: number | undefined;
  /** Receives all notifications, and the call they belong to, if that is known. */
  readonly onNotification?: ((notification: Notification, call: AskingCall | undefined) => void) | undefined;
  /** Called once the connection has ended: with the reason, or with undefined after `close`. */
  readonly onClose?: ((reason: Error | undefined) => void) | undefined;
  /** Told of what the client survives, such as a line of a program that is no message. */
  readonly onError?: ((error: Error) => void) | undefined;
  /** Receives what a program writes to stderr. */
  readonly onStderr?: ((chunk: string) => void) | undefined;
}

const OPTIONS: OptionTypes<ClientOptions> = {
  revision: 'string',
  headers: true,
  authorization: 'function',
  authProvider: 'object',
  capabilities: 'object',
  clientInfo: 'object',
  principal: 'object',
  timeoutMs: [0, 2 ** 31 - 1],
  maxMessageBytes: [1024, 2 ** 30],
  onNotification: 'function',
  onClose: 'function',
  onError: 'function',
  onStderr: 'function',
  onElicit: 'function',
  onSample: 'function',
  onRoots: 'function',
};

/**
 * Checks the options of a client.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function requireClientOptions(where: string, options: ClientOptions): void {
  requireOptions(where, options, OPTIONS);
  const { revision, authorization, authProvider, headers } = options;
  if (headers !== undefined && typeof headers !== 'function' && !isObject(headers)) {
    const problem = 'is neither an object nor a function. Write `headers: { name: value }`';
    throw startupError('DECORUM_INVALID_OPTION', where, 'headers', problem);
  }
  if (authorization !== undefined && authProvider !== undefined) {
    const problem = 'is set together with `authorization`. Set one of them';
    throw startupError('DECORUM_INVALID_OPTION', where, 'authProvider', problem);
  }
  if (revision === undefined || revisionOf(revision) !== undefined) return;
  const known = REVISIONS.map(({ id }) => `'${id}'`).join(', ');
  throw startupError('DECORUM_INVALID_OPTION', where, 'revision', `is '${revision}'. Pass one of ${known}`);
}

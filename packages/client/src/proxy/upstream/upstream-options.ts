import type { Context } from '@decorum/core';

import type { ConnectTarget } from '../../target.js';
import type { UpstreamClock } from './clock.js';
import type { Forward } from './forwarding.js';

/** What a proxy tells about its upstream. */
export interface UpstreamOptions {
  readonly target: ConnectTarget;
  /** How callers know the upstream, in errors and questions. */
  readonly name: string;
  /** Returns the headers of a call, or those of the server's own connection if there is no call. Only for URLs. */
  readonly headers?:
    | ((ctx: Context | undefined) => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>)
    | undefined;
  /** Whether all callers share a program, or each has its own. Defaults to `shared`. */
  readonly process?: 'shared' | 'session' | undefined;
  readonly forward?: Forward | undefined;
  /** The only revision to speak upstream. */
  readonly revision?: string | undefined;
  /** Milliseconds that a request waits for the upstream. Progress starts the time again. Defaults to 60,000. */
  readonly timeoutMs?: number | undefined;
  /** Cap on one message of the upstream, in bytes. */
  readonly maxMessageBytes?: number | undefined;
  /** Sessions upstream at a time. Defaults to 100, and to 10 for programs. */
  readonly maxSessions?: number | undefined;
  /** Calls under way at a time in one session upstream. Defaults to 100. */
  readonly maxCalls?: number | undefined;
  /** Milliseconds after which a session without calls is closed. Defaults to 5 minutes. */
  readonly idleMs?: number | undefined;
  /** Milliseconds that a call waits for the next round of a client without a session. Defaults to 10 minutes. */
  readonly holdMs?: number | undefined;
  /** Calls that wait for such rounds at a time. Defaults to 1000. */
  readonly maxHeld?: number | undefined;
  /** Receives what a program writes to stderr. */
  readonly onStderr?: ((chunk: string) => void) | undefined;
  /** The time, for tests. */
  readonly clock?: UpstreamClock | undefined;
}

/** Whether the target is a program. */
export const isProgram = (target: ConnectTarget): boolean =>
  typeof target === 'object' && 'command' in target && typeof target.command === 'string';

/** Whether the target is the URL of an endpoint. */
export const isUrl = (target: ConnectTarget): boolean => typeof target === 'string' || target instanceof URL;
